//! The distance of neighbouring runs, by plain recurrences: no outward rounding, no closed forms, and none of the code that
//! calibrated the noise. Slow on purpose: every record is followed at every step.

use super::formulas;
use crate::Certificate;
use crate::mechanism::Phase;
use crate::plan::PlanKind;
use pairdp_pairwise::{Objective, Regularity};

/// What a step of two neighbouring runs depends on.
pub(super) struct Constants {
    rate: f64,
    ridge: f64,
    /// D and D_sym.
    pair: f64,
    both_orders: f64,
    /// H.
    same_term: f64,
    /// L + λ of a step, if it is smooth and short enough.
    smooth: Option<f64>,
    /// What an untouched step adds in quadrature.
    spread: f64,
    /// Square of what a failure of monotonicity adds.
    slack: f64,
    /// What rounding adds to a step.
    error: f64,
    cap: f64,
    /// What rounding adds to the result.
    pub(super) result_error: f64,
}

impl Constants {
    pub(super) fn of(certificate: &Certificate, phase: &Phase) -> Self {
        let problem = certificate.problem;
        let unit = 2.0_f64.powi(-52);
        let (d, kappa, ridge) = (certificate.features as f64, problem.feature_bound(), problem.ridge());
        let (rate, steps) = (phase.step_size, f64::from(phase.steps));
        let p = problem.parameters(certificate.features) as f64;
        let largest = formulas::largest_term(problem, problem.domain().radius());
        let travel = formulas::travel(certificate, phase);
        let bound = problem.domain().radius();
        let radius = if bound.is_finite() { bound } else { travel };
        let full_batch = matches!(certificate.algorithm, PlanKind::OutputGd | PlanKind::PhasedGd);

        let constants = problem.constants();
        let (length, margin_error) = match problem.objective() {
            Objective::Metric { .. } => {
                (kappa * kappa, 8.0 * (2.0 * d + 16.0) * unit * kappa * kappa * radius)
            }
            _ => (kappa, 4.0 * (d + 8.0) * unit * kappa * radius),
        };
        let sum_error = match certificate.algorithm {
            PlanKind::OutputGd | PlanKind::PhasedGd => {
                formulas::sum_error(problem, radius, phase.records, certificate.features)
            }
            PlanKind::OutputSgd | PlanKind::OfflinePair => (steps + 16.0) * unit * largest,
            _ => 16.0 * unit * largest,
        };
        let slope_error = constants.smoothness().map_or(0.0, |l| l / length * margin_error);
        let step_error = (4.0 * p + 64.0) * unit * (radius + rate * (largest + ridge * radius));
        let total = if full_batch {
            problem.risk_smoothness(phase.records)
        } else {
            constants.smoothness().map(|l| l + ridge)
        };
        Self {
            rate,
            ridge,
            pair: formulas::pair_difference(problem, problem.domain().radius()),
            both_orders: formulas::difference(problem, problem.domain().radius()),
            same_term: constants.same_term_difference,
            smooth: total.filter(|total| rate * total <= 2.0),
            spread: spread(constants.regularity, constants.same_term_difference * rate, rate, ridge),
            slack: 2.0 * rate * 2.0 * margin_error * largest / length,
            error: 2.0 * (rate * (sum_error + slope_error) + step_error),
            cap: problem.domain().diameter(),
            result_error: 2.0 * (4.0 * p + steps + 80.0) * unit * radius
                + 2.0 * formulas::packing_error(problem, travel),
        }
    }

    /// One step: `same` is how far touched terms move at one parameter, `apart` at two, `untouched` the share of the rest.
    fn step(&self, distance: f64, same: f64, apart: f64, untouched: f64) -> f64 {
        if distance <= 0.0 && untouched >= 1.0 {
            return 0.0;
        }
        let grown = match self.smooth {
            Some(total) => {
                let contraction = if self.ridge > 0.0 {
                    let (slow, fast) =
                        ((1.0 - self.rate * self.ridge).abs(), (1.0 - self.rate * total).abs());
                    if slow > fast { slow } else { fast }
                } else {
                    1.0
                };
                contraction * distance + self.rate * same
            }
            // Runs that agree so far differ by touched terms alone.
            None if distance <= 0.0 => self.rate * same,
            None => {
                let kept = (1.0 - self.rate * self.ridge) * distance;
                let add = |part: f64, moved: f64| {
                    (kept * kept + self.slack + part * part).sqrt() + self.rate * moved
                };
                let (split, whole) = (add(self.spread * untouched, apart), add(self.spread, same));
                if split < whole { split } else { whole }
            }
        };
        let distance = grown + self.error;
        if distance > self.cap { self.cap } else { distance }
    }

    /// A step of which the record is in a share of the terms.
    fn share(&self, distance: f64, share: f64) -> f64 {
        self.step(distance, self.pair * share, (self.pair + self.same_term) * share, 1.0 - share)
    }
}

/// The mean of the last `kept` distances when every step is over the whole table.
pub(super) fn full_batch(c: &Constants, n: usize, kept: usize, steps: usize, pointwise: bool) -> f64 {
    let n = n as f64;
    let (same, apart, untouched) = if pointwise {
        (c.pair / n, (c.pair + c.same_term) / n, 1.0 - 1.0 / n)
    } else {
        (c.both_orders / n, (c.both_orders + 2.0 * c.same_term) / n, 1.0 - 2.0 / n)
    };
    let (mut distance, mut sum) = (0.0, 0.0);
    for t in 1..=steps {
        distance = c.step(distance, same, apart, untouched);
        if t + kept > steps {
            sum += distance;
        }
    }
    sum / kept as f64
}

/// The same for steps along one pair or record: `touched` names the records of a step.
pub(super) fn touched(
    c: &Constants,
    n: usize,
    kept: usize,
    steps: usize,
    touched: impl Fn(usize) -> [u32; 2],
) -> f64 {
    let (mut distance, mut sum) = (vec![0.0; n], vec![0.0; n]);
    for t in 0..steps {
        let [i, j] = touched(t).map(|index| index as usize);
        let (first, second) = (c.share(distance[i], 1.0), c.share(distance[j], 1.0));
        distance.iter_mut().for_each(|value| *value = c.share(*value, 0.0));
        (distance[i], distance[j]) = (first, second);
        if t + 1 + kept > steps {
            sum.iter_mut().zip(&distance).for_each(|(sum, value)| *sum += value);
        }
    }
    largest(&sum) / kept as f64
}

/// The same for a newly drawn record against all drawn before.
pub(super) fn history(c: &Constants, indices: &[u32], n: usize, kept: usize) -> f64 {
    let steps = indices.len() - 1;
    let (mut distance, mut sum, mut drawn) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    drawn[indices[0] as usize] = 1.0;
    for t in 1..=steps {
        let (new, terms) = (indices[t] as usize, t as f64);
        // A record paired with itself has no gradient.
        let pairs = (terms - drawn[new]) / terms;
        let moved = c.step(distance[new], c.pair * pairs, (c.pair + c.same_term) * pairs, 0.0);
        for (value, drawn) in distance.iter_mut().zip(&drawn) {
            *value = c.share(*value, drawn / terms);
        }
        distance[new] = moved;
        if t + kept > steps {
            sum.iter_mut().zip(&distance).for_each(|(sum, value)| *sum += value);
        }
        drawn[new] += 1.0;
    }
    largest(&sum) / kept as f64
}

/// The last distance of one pass over all records in order: the largest of those seen and the one that is new.
pub(super) fn one_pass(c: &Constants, steps: usize) -> f64 {
    let mut most = 0.0;
    for k in 1..=steps {
        let (seen, new) = (c.share(most, 1.0 / k as f64), c.share(0.0, 1.0));
        most = if seen > new { seen } else { new };
    }
    most
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, &value| if value > most { value } else { most })
}

/// What an untouched step adds in quadrature: H·η, or less where the slope is Hölder continuous.
fn spread(regularity: Regularity, jump: f64, rate: f64, ridge: f64) -> f64 {
    let Regularity::Hoelder { exponent, constant } = regularity else {
        return jump;
    };
    let power = 1.0 / (1.0 - exponent);
    let base = constant * rate * (-exponent).exp2();
    let shrink = (1.0 - rate * ridge).powf(-exponent * power);
    let smooth = ((1.0 - exponent) / (1.0 + exponent)).sqrt() * base.powf(power) * shrink;
    if smooth < jump { smooth } else { jump }
}
