//! Many untouched steps at once.
//!
//! Between two touches of a record the recurrences are affine: in δ if the loss is smooth, in δ² if not. So m steps
//! have a closed form. Their sum, which averages need, has one in the smooth case. Otherwise it is bounded over blocks
//! of steps by Σ δ_k ≤ √(m Σ δ_k²), with blocks so short that δ² changes little within one; the loss is below 0.2 %.
//!
//! # Cost
//! O(log m).

use super::{Step, raise};
use pairdp_units::directed::{smaller, up_by};

/// The outcome of a run of untouched steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// The distance after the last step.
    pub end: f64,
    /// The sum of the distances after each step.
    pub sum: f64,
}

impl Step {
    /// `count` steps that do not touch the record, from `distance`.
    pub fn untouched(&self, distance: f64, count: usize) -> Run {
        if distance <= 0.0 || count == 0 {
            return Run { end: distance, sum: 0.0 };
        }
        let run = if self.contracts() {
            self.contracted(distance, count)
        } else {
            self.spread_out(distance, count)
        };
        Run {
            end: smaller(run.end, self.cap()),
            sum: smaller(run.sum, up_by(self.cap() * count as f64, 1.0)),
        }
    }

    fn contracted(&self, distance: f64, count: usize) -> Run {
        let c = self.contraction();
        let m = count as f64;
        let all = geometric(c, m);
        let power = if c < 1.0 { up_by(c.powf(m), 8.0) } else { 1.0 };
        Run {
            end: raise(power * distance + self.error() * all),
            sum: raise(c * all * distance + self.error() * m * geometric(c, 0.5 * (m + 1.0))),
        }
    }

    fn spread_out(&self, distance: f64, count: usize) -> Run {
        let c = self.contraction();
        let m = count as f64;
        // The numeric error is carried beside the root: √((c(x+y))² + v) + e ≤ √((cx)² + v) + cy + e.
        let root = root_run(distance, c, self.variance(), count);
        Run {
            end: raise(root.end + self.error() * geometric(c, m)),
            sum: raise(root.sum + self.error() * m * geometric(c, 0.5 * (m + 1.0))),
        }
    }
}

/// δ_k² = c²δ_{k−1}² + variance, from `distance`, which may be 0 here.
pub(crate) fn root_run(distance: f64, contraction: f64, variance: f64, count: usize) -> Run {
    let squared = smaller(contraction * contraction * (1.0 + 2.0 * f64::EPSILON), 1.0);
    let rate = 1.0 - squared;
    let mut square = distance * distance;
    let mut sum = 0.0;
    let mut done = 0;
    while done < count {
        // δ² moves by a quarter at most in a block, unless it has all but settled.
        let slow = smaller(square / (4.0 * variance), 0.25 / rate);
        let settled = (square * rate - variance).abs() <= 0.1 * variance;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, and is cut to size"
        )]
        let block = if settled { count - done } else { (slow as usize).clamp(1, count - done) };
        let m = block as f64;
        let decay = squared * geometric(squared, m);
        // The geometric sum is concave in its length, so its mean is at most its value at the mean length; and summed
        // exactly, up to the cancellation that the last term covers.
        let concave = decay * square + variance * m * geometric(squared, 0.5 * (m + 1.0));
        let limit = variance / rate;
        let exact = m * limit + decay * (square - limit) + 32.0 * f64::EPSILON * m * (limit + square);
        let squares = if exact < concave { exact } else { concave };
        sum = raise(sum + raise((m * squares).sqrt()));
        let power = if squared < 1.0 { up_by(squared.powf(m), 8.0) } else { 1.0 };
        square = (power * square + variance * geometric(squared, m)) * (1.0 + 8.0 * f64::EPSILON);
        done += block;
    }
    Run { end: raise(square.sqrt()), sum }
}

/// 1 + c + … + c^{m−1} for 0 ≤ c ≤ 1, and (1 − c^m)/(1 − c) for any real m ≥ 0; rounded up.
pub(crate) fn geometric(c: f64, m: f64) -> f64 {
    if c >= 1.0 || m <= 0.0 {
        return m;
    }
    // 1 − c is exact from ½ on and rounded once below; the logarithm is of the very float c.
    smaller(up_by(-(m * c.ln()).exp_m1() / (1.0 - c), 16.0), if m >= 1.0 { m } else { f64::INFINITY })
}
