//! Losses of one step on a grid, rounded to the safe side.
//!
//! *Connect the dots* (Doroshenko et al. 2022), by masses: the outcomes with loss in a cell (a, b] have mass p under
//! P and r under Q; they are replaced by two outcomes with losses a and b that keep both masses. That is a
//! mean-preserving spread of the likelihood ratio, so the new pair dominates the old one, and the error is of
//! second order in the width of the cell. The mass at b is (p − e^a r)/(1 − e^{a − b}).
//!
//! Cells are one spacing wide near 0, where nearly all of a rarely sampled step lies, and widen with the loss, always ending on
//! the grid: thousands of them would hold next to nothing otherwise.
//!
//! Why not from differences of δ(ε), as is usual: at a sampling rate of 10⁻⁶ and a spacing of 10⁻⁷ they cancel
//! completely. Here p and p − e^a·r are integrals of *positive* functions over the cell, done by Gauss–Legendre
//! rules, and keep their relative precision whatever the rate and the spacing.
//!
//! # Guarantee
//! [`Rounding::Up`] gives a dominating pair, [`Rounding::Down`] a dominated one, up to a relative error of
//! [`MASS_ULPS`] per mass. Proof: `proofs/pld_rounding.md`.

use crate::AccountantError;
use crate::pair::{Pair, Parts};
use crate::pld::Grid;
use crate::quadrature::legendre;
use crate::side::{REACH, Side};
use crate::special::normal_density;
use pairdp_units::directed::{larger, smaller};

/// Relative error of one mass in units of 2⁻⁵².
pub(crate) const MASS_ULPS: f64 = 512.0;
/// From this exponent on e^x − 1 is e^x to the last bit.
const FAR: f64 = 40.0;
/// Losses beyond so many spacings are refused: their indices would not be exact.
const FARTHEST: f64 = 1e15;
/// The most cells on one side of 0.
const MOST_CELLS: usize = 1 << 20;

/// Which way losses move to the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// Pessimistic: δ can only grow.
    Up,
    /// Optimistic: δ can only shrink.
    Down,
}

/// Masses at losses on the grid, and at infinity.
pub(crate) struct GridLosses {
    /// (index, mass > 0): the loss is the index times the spacing. An index may come twice, in no order.
    pub(crate) finite: Vec<(f64, f64)>,
    pub(crate) infinite: f64,
}

/// Rules of growing order for cells of growing width.
struct Rules {
    narrow: Vec<(f64, f64)>,
    medium: Vec<(f64, f64)>,
    wide: Vec<(f64, f64)>,
}

/// The largest finite loss of a pair when each side may send `tail` to infinity.
pub(crate) fn largest_loss(pair: Pair, tail: f64) -> f64 {
    let parts = pair.parts(tail);
    let sides = parts.sides.iter().map(|(side, _)| side.loss(side.cut(tail)));
    sides.chain(parts.atoms.iter().map(|atom| atom.0.abs())).fold(0.0, larger)
}

/// The losses of `pair` on the grid, at most about `tail` of mass going to infinity for its sides.
pub(crate) fn discretise(pair: Pair, grid: Grid) -> Result<GridLosses, AccountantError> {
    let Grid { spacing, tail, rounding, .. } = grid;
    let Parts { sides, atoms, infinite } = pair.parts(tail);
    // Rounding down keeps every cell narrow, as its error is of first order.
    let widening = if rounding == Rounding::Up { grid.widening } else { 0.0 };
    let nodes = nodes(largest_loss(pair, tail) / spacing, widening)?;
    let rules = Rules { narrow: legendre(3), medium: legendre(5), wide: legendre(10) };
    let mut grid = GridLosses { finite: Vec::new(), infinite };
    let mut known: Option<(Side, Cells)> = None;
    for (side, direct) in sides {
        if known.as_ref().is_none_or(|(seen, _)| *seen != side) {
            let cells = Cells::new(&side, spacing, tail, &nodes, rounding, &rules);
            known = Some((side, cells));
        }
        let Some((_, cells)) = &known else { continue };
        let last = nodes[cells.mass.len() - 1];
        if direct {
            grid.finite.extend(nodes.iter().copied().zip(cells.mass.iter().copied()));
        } else {
            let masses = nodes.iter().zip(cells.mirrored());
            grid.finite.extend(masses.map(|(node, value)| (-node, value * (-spacing * node).exp())));
        }
        // What lies beyond the last cell: infinite when it speaks for P, else the least loss there is.
        match (direct, rounding) {
            (true, Rounding::Up) => grid.infinite += cells.beyond_numerator,
            (true, Rounding::Down) => grid.finite.push((last, cells.beyond_numerator)),
            (false, Rounding::Up) => grid.finite.push((-last, cells.beyond_denominator)),
            (false, Rounding::Down) => {}
        }
    }
    for (loss, atom) in atoms {
        grid.finite.extend(split_atom(loss / spacing, spacing, atom, rounding));
    }
    grid.finite.retain(|&(_, mass)| mass > 0.0);
    Ok(grid)
}

/// Indices from 0 to at least `reach` that cells end on, at most the share `widening` of them apart, or 1.
fn nodes(reach: f64, widening: f64) -> Result<Vec<f64>, AccountantError> {
    let too_fine = AccountantError::NoConvergence("the grid of losses is too fine");
    if reach.is_nan() || reach > FARTHEST {
        return Err(too_fine);
    }
    let mut nodes = vec![0.0];
    let mut index = 0.0;
    while index < reach.ceil() + 2.0 {
        index += larger((widening * index).floor(), 1.0);
        nodes.push(index);
        if nodes.len() > MOST_CELLS {
            return Err(too_fine);
        }
    }
    Ok(nodes)
}

/// One outcome on the grid, as connect-the-dots does with a cell.
fn split_atom(position: f64, spacing: f64, atom: f64, rounding: Rounding) -> [(f64, f64); 2] {
    let nearest = position.round();
    if (position - nearest).abs() <= 1e-12 * position.abs() {
        return [(nearest, atom), (nearest + 1.0, 0.0)];
    }
    let below = position.floor();
    let upper = match rounding {
        Rounding::Up => (-(below - position) * -spacing).exp_m1() / (-spacing).exp_m1(),
        Rounding::Down => 0.0,
    };
    [(below, atom * (1.0 - upper)), (below + 1.0, atom * upper)]
}

/// ∫ n·(A − e^ε·B) over the outcomes of a side with loss above ε ≥ 0: its part of δ(ε).
pub(crate) fn upper_gain(side: &Side, epsilon: f64) -> f64 {
    let low = side.position(epsilon, side.start);
    if low.is_infinite() {
        return 0.0;
    }
    let rules = Rules { narrow: legendre(3), medium: legendre(5), wide: legendre(10) };
    let beyond = low + REACH + 1.0 / side.scale();
    let mut cell = Cell::of(side);
    cell.move_to(side, epsilon, low);
    cell.integrate(beyond - low, &rules).1
}

/// The masses of one side, by node.
struct Cells {
    mass: Vec<f64>,
    /// What the mirrored side needs instead, times e^loss, when losses are rounded down.
    lowered: Option<Vec<f64>>,
    beyond_numerator: f64,
    beyond_denominator: f64,
}

impl Cells {
    /// Masses whose product with e^{−loss} belongs at −loss.
    fn mirrored(&self) -> &[f64] {
        self.lowered.as_ref().unwrap_or(&self.mass)
    }

    fn new(side: &Side, spacing: f64, tail: f64, nodes: &[f64], rounding: Rounding, rules: &Rules) -> Self {
        let end = side.cut(tail);
        let mut cells = Self {
            mass: vec![0.0],
            lowered: (rounding == Rounding::Down).then(|| vec![0.0]),
            beyond_numerator: 0.0,
            beyond_denominator: 0.0,
        };
        let (mut low, mut width) = (side.start, 0.0);
        let mut cell = Cell::of(side);
        for (index, ends) in nodes.windows(2).enumerate() {
            let (loss, losses) = (spacing * ends[0], spacing * (ends[1] - ends[0]));
            let high = side.position(spacing * ends[1], low + width);
            let bounded = high.is_infinite();
            let stop = if bounded { larger(low, REACH) } else { high };
            width = stop - low;
            cell.move_to(side, loss, low);
            let (mut mass, gain) = cell.integrate(width, rules);
            let mut upper = smaller(gain / -(-losses).exp_m1(), mass);
            if bounded {
                // The little that lies beyond the reach of numbers.
                let rest = side.numerator.tail(stop);
                mass += rest;
                upper += rest;
            }
            let (at_low, at_high) = match rounding {
                Rounding::Up => (mass - upper, upper),
                Rounding::Down => (mass, 0.0),
            };
            cells.mass[index] += at_low;
            cells.mass.push(at_high);
            if let Some(lowered) = &mut cells.lowered {
                // The denominator's mass e^{−a}(mass − gain) goes to −b.
                lowered.push((mass - gain) * losses.exp());
            }
            low = stop;
            if bounded {
                return cells;
            }
            if low >= end {
                break;
            }
        }
        cells.beyond_numerator = side.numerator.tail(low);
        cells.beyond_denominator = side.denominator.tail(low);
        cells
    }
}

/// The integrands over one cell, relative to its lower end.
struct Cell {
    low: f64,
    scale: f64,
    /// (wₖ·n(x_a − bₖ), bₖ, wₖ) of the numerator.
    numerator: Vec<(f64, f64, f64)>,
    /// The same of the denominator, times e^a, without its unshifted part.
    denominator: Vec<(f64, f64)>,
}

impl Cell {
    /// Of a side, at no place yet.
    fn of(side: &Side) -> Self {
        let (numerator, denominator) = (Vec::new(), Vec::new());
        Self { low: side.start, scale: side.scale(), numerator, denominator }
    }

    /// Takes the cell that begins at `low`, where the loss is this; its memory is used again.
    fn move_to(&mut self, side: &Side, loss: f64, low: f64) {
        self.low = low;
        self.numerator.clear();
        self.numerator.extend(side.numerator.terms.iter().map(|&(w, b)| (w * normal_density(low - b), b, w)));
        let shifted = side.denominator.terms.iter().filter(|term| term.1 < 0.0);
        self.denominator.clear();
        self.denominator.extend(shifted.map(|&(w, b)| {
            let log = loss - 0.5 * (low - b) * (low - b) - 0.5 * (2.0 * std::f64::consts::PI).ln();
            (w * log.exp(), b)
        }));
    }

    /// ∫ n·A and ∫ n·(A − e^a·B) over [low, low + width]; both integrands are positive.
    fn integrate(&self, width: f64, rules: &Rules) -> (f64, f64) {
        let (mut mass, mut gain) = (0.0, 0.0);
        let mut from = 0.0;
        while from < width {
            let fastest = larger(1.0 / self.scale, (self.low + from).abs());
            let left = width - from;
            let variation = left * fastest;
            let (rule, length) = if variation <= 0.02 {
                (&rules.narrow, left)
            } else if variation <= 0.4 {
                (&rules.medium, left)
            } else {
                (&rules.wide, smaller(left, 2.0 / fastest))
            };
            let half = 0.5 * length;
            for &(node, weight) in rule {
                let z = from + half * (1.0 + node);
                let base = weight * half * (-z * (self.low + 0.5 * z)).exp();
                for &(value, shift, weight_of_term) in &self.numerator {
                    if shift * z > FAR {
                        // The term's own density: factors would overflow and vanish. What is taken off for the gain is below a rounding.
                        let there = weight * half * weight_of_term * normal_density(self.low + z - shift);
                        mass += there;
                        gain += there;
                        continue;
                    }
                    let growth = if shift > 0.0 { (shift * z).exp_m1() } else { 0.0 };
                    mass += base * value * (1.0 + growth);
                    gain += base * value * growth;
                }
                for &(value, shift) in &self.denominator {
                    gain -= base * value * (shift * z).exp_m1();
                }
            }
            from += length;
        }
        (mass, gain)
    }
}
