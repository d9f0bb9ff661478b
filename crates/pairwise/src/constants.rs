//! Worst-case constants of a problem, in closed form.
//!
//! Legend: κ bounds the features, r the norm of the parameters, σ is the logistic function; Y bounds regression
//! targets. All constants are rounded up. The folder `proofs` has a note for each family, and `tests/constants.rs` searches
//! for records and parameters that exceed them.

mod comparable;
mod metric;
mod pointwise;
mod ranking;

use crate::kernel::LARGEST_SCORE;
use crate::{Objective, Problem, RankingForm, Score};
use pairdp_units::directed::{larger, smaller, up_by};

/// How the slope of a loss term changes with the parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Regularity {
    /// ‖∇l(w) − ∇l(w')‖ ≤ L‖w − w'‖.
    Smooth {
        /// L.
        constant: f64,
    },
    /// ‖∇l(w) − ∇l(w')‖ ≤ L‖w − w'‖^α, 0 < α < 1.
    Hoelder {
        /// α.
        exponent: f64,
        /// L.
        constant: f64,
    },
    /// The slope jumps.
    Jumps,
}

/// Constants that hold for every record, every pair and all parameters within the norm they were computed for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constants {
    /// G: the largest norm of the gradient of one term (a pair, or a record).
    pub gradient_bound: f64,
    /// The range of the scalar that multiplies a term's vector: steepness −φ' for rankers, slopes otherwise. Kernels cut
    /// computed scalars off here, so that the differences below hold for what is computed, not only for what is meant.
    pub slopes: (f64, f64),
    /// L, or what takes its place.
    pub regularity: Regularity,
    /// H: how far the gradient of the *same* term can differ between two parameters.
    pub same_term_difference: f64,
    /// D_pair: how far the gradient of a pair can move when one of its records is replaced. For pointwise problems,
    /// how far a record's gradient can move when the record is replaced.
    pub pair_difference: f64,
    /// D_sym: the same for both orders of a pair together. Replacing one of n records moves the gradient of the risk
    /// by at most D_sym/n. For pointwise problems, as [`Constants::pair_difference`].
    pub symmetric_difference: f64,
    /// Whether the two differences are attained; otherwise they are proved upper bounds.
    pub tight: bool,
}

impl Constants {
    pub(crate) fn of(problem: Problem, norm: f64) -> Self {
        let (comparison, score) = (problem.comparison(), problem.score_gradient());
        let norm = match problem.score() {
            Score::Linear | Score::Network(_) => norm,
            // Scores are cut off, wherever parameters are.
            Score::Foreign(foreign) => LARGEST_SCORE / foreign.bound,
        };
        let length = comparison.length(score);
        match problem.objective() {
            Objective::Ranking { form: RankingForm::Comparable, loss } => {
                comparable::constants(loss, score.gradient_bound(), norm)
            }
            Objective::Ranking { loss, .. } => ranking::constants(loss, length, norm, comparison.orders()),
            Objective::Metric { loss } => metric::constants(loss, problem, length, norm),
            Objective::Pointwise { loss } => pointwise::constants(loss, length, norm),
        }
        .of_scores(problem, norm)
        .rounded_up()
    }

    /// The same for scores that are not linear: nothing but their bound is known of them, so that two records may have the steepest slopes
    /// and opposite gradients at once. Pairs of two classes need nothing else even for linear ones. How a gradient changes with the
    /// parameters is not known: `proofs/networks.md`, `proofs/foreign_scores.md`.
    fn of_scores(self, problem: Problem, norm: f64) -> Self {
        if problem.score().is_linear() {
            return self;
        }
        let alone = !matches!(
            problem.objective(),
            Objective::Ranking { form: RankingForm::Indicator | RankingForm::Symmetric, .. }
        );
        let free = match problem.objective() {
            // Two slopes of different signs.
            Objective::Pointwise { .. } => 2.0 * self.gradient_bound,
            Objective::Ranking { form: RankingForm::Comparable, loss } => {
                comparable::free(loss, problem.score_gradient().gradient_bound(), norm)
            }
            _ => self.symmetric_difference,
        };
        Self {
            regularity: Regularity::Jumps,
            same_term_difference: 2.0 * self.gradient_bound,
            pair_difference: if alone { free } else { self.pair_difference },
            symmetric_difference: free,
            ..self
        }
    }

    /// L if the gradient is Lipschitz.
    pub fn smoothness(&self) -> Option<f64> {
        match self.regularity {
            Regularity::Smooth { constant } => Some(constant),
            _ => None,
        }
    }

    /// A computed slope within its range; 0 for what is not a number.
    #[inline(always)]
    pub(crate) fn cut_off(&self, slope: f64) -> f64 {
        let (low, high) = self.slopes;
        if slope > high {
            high
        } else if slope >= low {
            slope
        } else if slope < low {
            low
        } else {
            0.0
        }
    }

    /// The closed forms take a dozen operations, each good to an ulp or two.
    fn rounded_up(self) -> Self {
        let up = |value| up_by(value, 32.0);
        Self {
            gradient_bound: up(self.gradient_bound),
            slopes: self.slopes,
            regularity: match self.regularity {
                Regularity::Smooth { constant } => Regularity::Smooth { constant: up(constant) },
                Regularity::Hoelder { exponent, constant } => {
                    Regularity::Hoelder { exponent, constant: up(constant) }
                }
                Regularity::Jumps => Regularity::Jumps,
            },
            same_term_difference: up(self.same_term_difference),
            pair_difference: up(self.pair_difference),
            symmetric_difference: up(self.symmetric_difference),
            tight: self.tight,
        }
    }
}

impl Problem {
    /// The smoothness of the whole risk of n records, ridge included: for rankers at most half or a quarter of the
    /// pairs count at once, so it is smaller than that of a pair.
    pub fn risk_smoothness(self, n: usize) -> Option<f64> {
        let share = self.active_share(n);
        self.constants().smoothness().map(|smoothness| up_by(smoothness * share + self.ridge(), 6.0))
    }
}

/// The largest value of a smooth function on [0, high]: a grid, then golden section around its best point.
fn maximum(f: impl Fn(f64) -> f64, high: f64) -> f64 {
    const CELLS: i32 = 512;
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let step = high / f64::from(CELLS);
    let best = (0..=CELLS).map(|k| f64::from(k) * step).fold(0.0, |a, b| if f(b) > f(a) { b } else { a });
    let (mut low, mut top) = (larger(best - step, 0.0), smaller(best + step, high));
    for _ in 0..60 {
        let width = top - low;
        if f(top - GOLDEN * width) > f(low + GOLDEN * width) {
            top = low + GOLDEN * width;
        } else {
            low = top - GOLDEN * width;
        }
    }
    f(0.5 * (low + top))
}
