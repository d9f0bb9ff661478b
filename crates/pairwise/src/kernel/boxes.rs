//! Logistic: charges from moments in narrow boxes.
//!
//! Legend: s is the score of a positive, t of a negative; σ(t − s) is the steepness of their pair.
//!
//! The score axis is cut into boxes of width 1/8. On a pair of boxes σ(t − s) is a polynomial of degree 7 in each
//! variable, to 2·10⁻¹⁴: its nearest pole is π away, fifty half-widths. So a class is represented in a box by eight
//! *moments* Σ T_k(u), T_k the Chebyshev polynomials and u the place within the box, and the sum over the other class is, in
//! each box, a polynomial of degree 7 in the score. Two dozen operations a record, whatever the number of pairs. Pairs of
//! boxes further apart than 40 are saturated: their steepness is 1 or 0 to the last bit.
//!
//! Why Chebyshev moments in many narrow boxes rather than charges on nodes in few wide ones: no divisions, a small fixed
//! degree, and the tables depend on the distance of two boxes alone, so they are made once and kept.

use super::blocks::{self, Par};
use super::charges::Charges;
use super::exact::{self, FEW, Grid};
use super::lanes::{self, LANES, Registers, Work};
use crate::strata;
use crate::{MarginLoss, Strata};
use pulp::{Arch, NullaryFnOnce};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::OnceLock;

/// Moments a box keeps: polynomials of degree 7, as many coefficients as a register holds.
const ORDER: usize = LANES;
/// Boxes a unit of score.
const PER_UNIT: f64 = 8.0;
/// Boxes beyond which σ is 0 or 1 in double precision: 40 units.
const NEAR: usize = 320;
/// Up to this many boxes every box has its place; beyond, only occupied ones.
const MOST_DENSE: f64 = 2048.0;
/// 2⁵²: numbers from here to its double are one apart.
const TWO_52: f64 = (1_u64 << 52) as f64;

type Coefficients = [f64; ORDER];
/// `a[k][l]`: the coefficient of T_k(place of s)·T_l(place of t).
type Square = [Coefficients; ORDER];

/// The kernel on two boxes, by rows of either variable, so that both sums run along rows.
struct Table {
    by_positive: Square,
    by_negative: Square,
}

/// Which box a score falls into, and which boxes exist.
#[derive(Clone, Serialize, Deserialize)]
struct Axis {
    low: f64,
    /// Sorted numbers of the occupied boxes, when there are too many to have them all.
    sparse: Option<Vec<i64>>,
    boxes: usize,
}

impl Axis {
    /// All boxes of scores within a bound, or the ones with these numbers.
    fn new(bound: f64, occupied: impl Iterator<Item = i64>) -> Self {
        let low = -bound;
        let count = (2.0 * bound * PER_UNIT).floor() + 1.0;
        if count <= MOST_DENSE {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2048")]
            return Self { low, sparse: None, boxes: count as usize };
        }
        let mut numbers: Vec<i64> = occupied.collect();
        numbers.sort_unstable();
        numbers.dedup();
        Self { low, boxes: numbers.len(), sparse: Some(numbers) }
    }

    fn of_scores(scores: &[f64], bound: f64) -> Self {
        Self::new(bound, scores.iter().map(|score| Self::number(-bound, *score)))
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "saturates, which puts absurd scores into one box")]
    fn number(low: f64, score: f64) -> i64 {
        ((score - low) * PER_UNIT) as i64
    }

    /// 2·(the index of the box) + class of eight scores, and the scores' places in their boxes, in [−1, 1].
    #[inline(always)]
    fn locate<R: Registers>(&self, r: R, scores: R::Lanes, targets: R::Lanes) -> ([usize; LANES], R::Lanes) {
        let at = r.times(r.less(scores, r.all(self.low)), r.all(PER_UNIT));
        let number = r.floor(at);
        let place = r.less(r.times(r.all(2.0), r.less(at, number)), r.all(1.0));
        let index = match &self.sparse {
            None => r.smaller(number, r.all((self.boxes - 1) as f64)),
            #[expect(clippy::cast_possible_truncation, reason = "the number of a box")]
            Some(_) => r.load(r.store(number).map(|number| self.index(number as i64) as f64)),
        };
        let class = r.if_positive(targets, r.all(1.0), r.all(0.0));
        let slots = r.store(r.add(r.add(r.add(index, index), class), r.all(TWO_52)));
        let mut indices = [0; LANES];
        #[expect(clippy::cast_possible_truncation, reason = "the last 32 bits")]
        for k in 0..LANES {
            // The last bits of a whole number next to 2⁵² are that number.
            indices[k] = (slots[k].to_bits() & u64::from(u32::MAX)) as usize;
        }
        (indices, place)
    }

    /// The index of a box.
    #[inline(always)]
    fn index(&self, number: i64) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "scores are at least low"
        )]
        match &self.sparse {
            None => (number as usize).min(self.boxes - 1),
            Some(numbers) => numbers.partition_point(|n| *n < number).min(self.boxes - 1),
        }
    }

    /// The number of the box with this index.
    fn number_of(&self, index: usize) -> i64 {
        match &self.sparse {
            None => i64::try_from(index).unwrap_or(i64::MAX),
            Some(numbers) => numbers[index],
        }
    }
}

/// T_1(u) … T_7(u) of eight places.
#[inline(always)]
fn chebyshev_of_eight<R: Registers>(r: R, u: R::Lanes) -> [R::Lanes; ORDER - 1] {
    let one = r.all(1.0);
    let t2 = r.less(r.times(r.add(u, u), u), one);
    let t3 = r.less(r.times(r.add(u, u), t2), u);
    let t4 = r.less(r.times(r.add(t2, t2), t2), one);
    let t5 = r.less(r.times(r.add(t2, t2), t3), u);
    let t6 = r.less(r.times(r.add(t3, t3), t3), one);
    let t7 = r.less(r.times(r.add(t3, t3), t4), u);
    [u, t2, t3, t4, t5, t6, t7]
}

/// T_0(u) … T_7(u).
fn chebyshev(u: f64) -> Coefficients {
    let t2 = 2.0 * u * u - 1.0;
    let t3 = 2.0 * u * t2 - u;
    let t4 = 2.0 * t2 * t2 - 1.0;
    [1.0, u, t2, t3, t4, 2.0 * t2 * t3 - u, 2.0 * t3 * t3 - 1.0, 2.0 * t3 * t4 - u]
}

/// The moments of both classes in every box: [negatives, positives].
type Moments = Vec<[Coefficients; 2]>;

/// The same in whole numbers, for the occupied boxes by their numbers. Parts of a table merge by addition.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct BoxMoments(Vec<(i64, [[i128; ORDER]; 2])>);

impl BoxMoments {
    /// Of some records' scores within a bound.
    pub(super) fn new(scores: &[f64], targets: &[f64], strata: &Strata, bound: f64, par: Par) -> Self {
        let axis = Axis::of_scores(scores, bound);
        let axis = &axis;
        let parts = blocks::map(scores.len(), par, |range| {
            let mut total = vec![[0; ORDER]; 2 * axis.boxes];
            let mut moments = vec![[0; ORDER]; 2 * axis.boxes];
            for (piece, counts) in strata.pieces(range, FEW) {
                let (scores, targets) = (&scores[piece.clone()], &targets[piece]);
                lanes::dispatch(AddMoments { axis, scores, targets, moments: &mut moments });
                for (total, moments) in total.iter_mut().zip(&mut moments).filter(|(_, m)| m[0] > 0) {
                    whole_moments(moments);
                    exact::flush(total, moments, counts);
                }
            }
            total
        });
        let mut total = vec![[0; ORDER]; 2 * axis.boxes];
        for part in &parts {
            exact::add(total.as_flattened_mut(), part.as_flattened());
        }
        let both = total.as_chunks().0;
        let numbered = (0..).zip(both).map(|(index, moments)| (axis.number_of(index), *moments));
        // The first moments are the counts.
        Self(numbered.filter(|(_, [negatives, positives])| negatives[0] + positives[0] > 0).collect())
    }

    /// Adds another part's.
    pub(super) fn merge(&mut self, other: Self) {
        let mut others = other.0.into_iter().peekable();
        let mut merged = Vec::with_capacity(self.0.len());
        for (number, mut moments) in self.0.drain(..) {
            while let Some(before) = others.next_if(|(other, _)| *other < number) {
                merged.push(before);
            }
            if let Some((_, same)) = others.next_if(|(other, _)| *other == number) {
                moments.iter_mut().zip(&same).for_each(|(total, more)| exact::add(total, more));
            }
            merged.push((number, moments));
        }
        merged.extend(others);
        self.0 = merged;
    }

    /// In every box of an axis, as numbers.
    fn spread(&self, bound: f64) -> (Axis, Moments) {
        let axis = Axis::new(bound, self.0.iter().map(|(number, _)| *number));
        let mut moments = vec![[[0.0; ORDER]; 2]; axis.boxes];
        for (number, [negatives, positives]) in &self.0 {
            let values = |class: &[i128; ORDER]| class.map(|moment| grid().weighed(moment));
            if let Some(moment) = moments.get_mut(axis.index(*number)) {
                *moment = [values(negatives), values(positives)];
            }
        }
        (axis, moments)
    }
}

/// Chebyshev polynomials are within ±1.
fn grid() -> Grid {
    Grid::for_terms(1.0)
}

/// Adds the scores of some records to the moments of their class and box, which have the index 2·box + class. The first of each
/// counts records, and the others are off by that many offsets of the grid.
struct AddMoments<'a> {
    axis: &'a Axis,
    scores: &'a [f64],
    targets: &'a [f64],
    moments: &'a mut [[i64; ORDER]],
}

impl Work for AddMoments<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: Registers>(self, registers: R) {
        let Self { axis, scores, targets, moments } = self;
        let magic = grid().magic();
        let (eights, few) = scores.as_chunks();
        let (targets, last) = targets.as_chunks();
        for (scores, targets) in eights.iter().zip(targets) {
            let (scores, targets) = (registers.load(*scores), registers.load(*targets));
            add_moments(axis, registers, magic, (scores, targets, LANES), moments);
        }
        let (scores, targets) = (registers.partial(few), registers.partial(last));
        add_moments(axis, registers, magic, (scores, targets, few.len()), moments);
    }
}

/// Adds one, and terms next to the magic number of the grid, to the moments of the first few of eight records.
#[inline(always)]
fn add_moments<R: Registers>(
    axis: &Axis,
    r: R,
    magic: f64,
    (scores, targets, records): (R::Lanes, R::Lanes, usize),
    moments: &mut [[i64; ORDER]],
) {
    let (at, place) = axis.locate(r, scores, targets);
    let [t1, t2, t3, t4, t5, t6, t7] = chebyshev_of_eight(r, place);
    let (one, magic) = (r.all(f64::from_bits(1)), r.all(magic));
    let terms = r.transposed([
        one,
        r.add(t1, magic),
        r.add(t2, magic),
        r.add(t3, magic),
        r.add(t4, magic),
        r.add(t5, magic),
        r.add(t6, magic),
        r.add(t7, magic),
    ]);
    for k in 0..records {
        let sums = &mut moments[at[k]];
        *sums = r.store_whole(r.add_bits(r.load_whole(*sums), terms[k]));
    }
}

/// Counts and shifted sums as sums of whole numbers of steps.
fn whole_moments(sums: &mut [i64; ORDER]) {
    let (count, grid) = (sums[0], grid());
    let offsets = grid.offset().wrapping_mul(count);
    sums[0] = count * grid.whole(1.0);
    sums[1..].iter_mut().for_each(|sum| *sum = sum.wrapping_sub(offsets));
}

/// What the sum over the other class is, as a polynomial in each box.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Boxes {
    axis: Axis,
    /// For targets that are negative (a sum over positives), then positive; coefficients of powers of the place. Zeros where
    /// there is nobody to ask.
    polynomials: Vec<Coefficients>,
    /// The largest charge of a negative (n₊), then of a positive (n₋).
    most: [f64; 2],
}

impl Boxes {
    /// Sums of steepness.
    pub(super) fn slopes(moments: &BoxMoments, bound: f64, par: Par) -> Self {
        static TABLES: OnceLock<Vec<Table>> = OnceLock::new();
        let tables = TABLES.get_or_init(|| tables(|margin| MarginLoss::Logistic.steepness(margin)));
        let (axis, moments) = moments.spread(bound);
        let counts = [0, 1].map(|class| as_number(moments.iter().map(|m| whole(m[class][0])).sum()));
        let fields = fields(&axis, &moments, tables, par);
        let polynomials = fields
            .into_iter()
            .flat_map(|mut field| {
                // Saturated pairs: every negative far above a positive counts whole, and so for the mirror image.
                field.sums[0][0] += field.far_positives_below;
                field.sums[1][0] += field.far_negatives_above;
                [powers(&field.sums[0]), powers(&field.sums[1])]
            })
            .collect();
        Self { axis, polynomials, most: [counts[1], counts[0]] }
    }

    /// Σ log(1 + e^{t − s}) over all pairs.
    pub(super) fn values(scores: &[f64], targets: &[f64], bound: f64, par: Par) -> f64 {
        static TABLES: OnceLock<Vec<Table>> = OnceLock::new();
        let tables = TABLES.get_or_init(|| tables(|margin| MarginLoss::Logistic.value(margin)));
        let (axis, moments) =
            BoxMoments::new(scores, targets, &Strata::plain(scores.len()), bound, par).spread(bound);
        let fields = fields(&axis, &moments, tables, par);
        // Far above, log(1 + e^{t−s}) is t − s: counts and sums of the far negatives suffice.
        let centre = |index: usize| axis.low + (axis.number_of(index) as f64 + 0.5) / PER_UNIT;
        let mut total = 0.0;
        for (index, field) in fields.iter().enumerate() {
            let positives = &moments[index][1];
            total += positives.iter().zip(&field.sums[1]).map(|(m, g)| m * g).sum::<f64>();
            let sum_of_places = positives[1] / (2.0 * PER_UNIT);
            let sum_of_scores = positives[0] * centre(index) + sum_of_places;
            total += positives[0] * field.far_sum_of_negatives - sum_of_scores * field.far_negatives_above;
        }
        total
    }
}

impl Charges for Boxes {
    #[inline(always)]
    fn charges<R: Registers>(&self, registers: R, scores: &[f64], targets: &[f64], out: &mut [f64]) {
        let (scores, few) = scores.as_chunks();
        let (targets, last) = targets.as_chunks();
        let (out, rest) = out.as_chunks_mut();
        for ((charges, scores), targets) in out.iter_mut().zip(scores).zip(targets) {
            let charged = self.of_eight(registers, registers.load(*scores), registers.load(*targets));
            *charges = registers.store(charged);
        }
        if !rest.is_empty() {
            let charged = self.of_eight(registers, registers.partial(few), registers.partial(last));
            rest.copy_from_slice(&registers.store(charged)[..rest.len()]);
        }
    }
}

impl Boxes {
    #[inline(always)]
    fn of_eight<R: Registers>(&self, r: R, scores: R::Lanes, targets: R::Lanes) -> R::Lanes {
        let (at, place) = self.axis.locate(r, scores, targets);
        let mut rows = [place; LANES];
        for k in 0..LANES {
            rows[k] = r.load(self.polynomials[at[k]]);
        }
        let sum = evaluate(r, r.transposed(rows), place);
        let [of_negatives, of_positives] = self.most.map(|most| r.all(most));
        let zero = r.all(0.0);
        let most = r.if_positive(targets, of_positives, of_negatives);
        let charge = r.larger(r.smaller(sum, most), zero);
        r.if_positive(targets, charge, r.less(zero, charge))
    }
}

/// The sum over the other class, seen from one box.
struct Seen {
    /// For negative targets (a sum over positives), then positive; Chebyshev coefficients.
    sums: [Coefficients; 2],
    far_negatives_above: f64,
    far_sum_of_negatives: f64,
    far_positives_below: f64,
}

/// The sums over the near boxes, seen from box `number`.
struct SumNear<'a> {
    axis: &'a Axis,
    moments: &'a Moments,
    tables: &'a [Table],
    number: i64,
    /// Whether there are negatives here, and positives, who want to know.
    asked: [bool; 2],
    range: Range<usize>,
}

impl NullaryFnOnce for SumNear<'_> {
    type Output = [Coefficients; 2];

    #[inline(always)]
    fn call(self) -> [Coefficients; 2] {
        let near = i64::try_from(NEAR).unwrap_or(i64::MAX);
        let mut sums = [[0.0; ORDER]; 2];
        for other in self.range {
            let [negatives, positives] = &self.moments[other];
            let distance = self.axis.number_of(other) - self.number;
            if negatives[0] > 0.0 && self.asked[1] {
                // Positive target here, negatives there.
                let table = &self.tables[usize::try_from(distance + near).unwrap_or(0)];
                contract(&mut sums[1], negatives, &table.by_negative);
            }
            if positives[0] > 0.0 && self.asked[0] {
                // Negative target here, positives there: the same table from the other side.
                let table = &self.tables[usize::try_from(near - distance).unwrap_or(0)];
                contract(&mut sums[0], positives, &table.by_positive);
            }
        }
        sums
    }
}

/// A count in whole multiples of a weight's step.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2³¹ times 2³²")]
fn whole(count: f64) -> u128 {
    (count / strata::unit()).round_ties_even() as u128
}

fn as_number(count: u128) -> f64 {
    count as f64 * strata::unit()
}

fn fields(axis: &Axis, moments: &Moments, tables: &[Table], par: Par) -> Vec<Seen> {
    let count = moments.len();
    // Running sums for what is far: counts of positives from below, counts and score sums of negatives from above.
    // Counts are whole multiples of a weight's step, and added as such: any number of boxes adds no rounding.
    let mut positives_below = vec![0_u128; count + 1];
    let mut negatives_above = vec![0_u128; count + 1];
    let mut sum_above = vec![0.0; count + 1];
    for index in 0..count {
        positives_below[index + 1] = positives_below[index] + whole(moments[index][1][0]);
    }
    for index in (0..count).rev() {
        let centre = axis.low + (axis.number_of(index) as f64 + 0.5) / PER_UNIT;
        let negatives = &moments[index][0];
        let sum = negatives[0] * centre + negatives[1] / (2.0 * PER_UNIT);
        negatives_above[index] = negatives_above[index + 1] + whole(negatives[0]);
        sum_above[index] = sum_above[index + 1] + sum;
    }
    let near = i64::try_from(NEAR).unwrap_or(i64::MAX);
    let seen = |index: usize| {
        let asked = moments[index].map(|class| class[0] > 0.0);
        let number = axis.number_of(index);
        let (first, end) = match &axis.sparse {
            None => (index.saturating_sub(NEAR), count.min(index + NEAR + 1)),
            Some(numbers) => (
                numbers.partition_point(|n| *n < number - near),
                numbers.partition_point(|n| *n <= number + near),
            ),
        };
        let sums = Arch::new().dispatch(SumNear { axis, moments, tables, number, asked, range: first..end });
        Seen {
            sums,
            far_negatives_above: as_number(negatives_above[end]),
            far_sum_of_negatives: sum_above[end],
            far_positives_below: as_number(positives_below[first]),
        }
    };
    match par {
        Par::Sequential => (0..count).map(seen).collect(),
        Par::Parallel => {
            use rayon::prelude::*;
            (0..count).into_par_iter().with_min_len(8).map(seen).collect()
        }
    }
}

/// sum += Σ `moments[l]·rows[l]`.
#[inline(always)]
fn contract(sum: &mut Coefficients, moments: &Coefficients, rows: &Square) {
    for (moment, row) in moments.iter().zip(rows) {
        for k in 0..ORDER {
            sum[k] += moment * row[k];
        }
    }
}

/// For every distance of two boxes, the Chebyshev coefficients of `kernel`(s − t) on them, by interpolation.
fn tables(kernel: impl Fn(f64) -> f64) -> Vec<Table> {
    let node = |i: usize| ((2.0 * i as f64 + 1.0) * std::f64::consts::PI / (2.0 * ORDER as f64)).cos();
    let nodes: [f64; ORDER] = std::array::from_fn(node);
    // Values at the nodes to coefficients: a discrete cosine transform.
    let transform: [Coefficients; ORDER] = std::array::from_fn(|k| {
        let scale = if k == 0 { 1.0 } else { 2.0 } / ORDER as f64;
        std::array::from_fn(|i| scale * chebyshev(nodes[i])[k])
    });
    let half = 0.5 / PER_UNIT;
    (0..=2 * NEAR)
        .map(|shifted| {
            let distance = (shifted as f64 - NEAR as f64) / PER_UNIT;
            let values: Square = std::array::from_fn(|i| {
                std::array::from_fn(|j| kernel(half * nodes[i] - (distance + half * nodes[j])))
            });
            let rows: Square = std::array::from_fn(|k| {
                std::array::from_fn(|j| (0..ORDER).map(|i| transform[k][i] * values[i][j]).sum())
            });
            let by_positive: Square = std::array::from_fn(|k| {
                std::array::from_fn(|l| (0..ORDER).map(|j| rows[k][j] * transform[l][j]).sum())
            });
            let by_negative = std::array::from_fn(|l| std::array::from_fn(|k| by_positive[k][l]));
            Table { by_positive, by_negative }
        })
        .collect()
}

/// Chebyshev coefficients to coefficients of powers.
fn powers(c: &Coefficients) -> Coefficients {
    [
        c[0] - c[2] + c[4] - c[6],
        c[1] - 3.0 * c[3] + 5.0 * c[5] - 7.0 * c[7],
        2.0 * c[2] - 8.0 * c[4] + 18.0 * c[6],
        4.0 * c[3] - 20.0 * c[5] + 56.0 * c[7],
        8.0 * c[4] - 48.0 * c[6],
        16.0 * c[5] - 112.0 * c[7],
        32.0 * c[6],
        64.0 * c[7],
    ]
}

/// Eight polynomials of degree 7, in three levels of products rather than seven.
#[inline(always)]
fn evaluate<R: Registers>(r: R, p: [R::Lanes; ORDER], u: R::Lanes) -> R::Lanes {
    let u2 = r.times(u, u);
    let low = r.add(line(r, p[0], p[1], u), r.times(u2, line(r, p[2], p[3], u)));
    let high = r.add(line(r, p[4], p[5], u), r.times(u2, line(r, p[6], p[7], u)));
    r.add(low, r.times(r.times(u2, u2), high))
}

#[inline(always)]
fn line<R: Registers>(r: R, a: R::Lanes, b: R::Lanes, u: R::Lanes) -> R::Lanes {
    r.add(a, r.times(b, u))
}
