//! What all runs on a data set cost together, and whether a grant covers it.
//!
//! The obvious way, to hand every run's description to the accountant and ask for one ε, is tight but not valid here:
//! composition theorems want the noise of every run fixed in advance, and people choose the next run after a look at
//! the last model. What is valid then is a *filter*: limits fixed with the grant that the running sums may not pass.
//!
//! Runs pay in three currencies that are safe to add up, whoever chooses them and when:
//!
//! * **ratio squared**: a run that is μ-Gaussian-private pays μ². For Gaussian noise this is exact: nothing is lost
//!   against composing the mechanisms themselves;
//! * **ε**: a run that is purely ε-private may pay ε;
//! * **δ**: the probability that a run does not keep what it paid for.
//!
//! With limits m² and e on the first two, everything released is (ε(m, δ') + e, δ' + δ)-private. The limits must not be
//! chosen in view of results either, so nine regions are fixed with the grant: region k keeps k/8 of the granted ε
//! for adding and leaves the rest to the Gaussian curve. A data set may end in any of them; the δ of all nine adds up to
//! the granted one, most of it for region 0, where Gaussian runs alone live.
//!
//! How far samplers are from their laws counts e^ε times, at the ε of the region: in one of ε = 50 a thousand samples would take more than
//! δ = 10⁻⁶, and the first run all that was granted. So a grant above ε = 30 has the nine regions twice, at 30 and at its own
//! ε, each with half of δ: what is spent below 30 pays for its samplers what it would pay under a grant of 30.
//!
//! # Guarantee
//! If [`Filter::fits`] held after every run, all releases together are private at the grant, even when every run's noise,
//! length and kind were chosen in view of all results before: `proofs/ledger.md`.

use crate::charge::Charge;
use crate::sum::{Amount, Probability};
use pairdp_accountant::gaussian;
use pairdp_units::directed::{down_by, larger, smaller, up_by};
use pairdp_units::{Budget, Delta};

/// Regions beyond the first.
const PARTS: u8 = 8;

/// The share of the granted δ that region `k` gives to the Gaussian curve, and to δ paid directly. All sum to 1.
fn shares(k: u8) -> (f64, f64) {
    if k == 0 { (0.75, 0.125) } else { (1.0 / 128.0, 1.0 / 128.0) }
}

/// Up to this ε what samplers cost is not worth a thought.
const LARGE: f64 = 30.0;

/// At which ε a grant has regions, each with its share of δ.
fn levels(epsilon: f64) -> impl Iterator<Item = (f64, f64)> {
    let (first, second) =
        if epsilon <= LARGE { ((epsilon, 1.0), None) } else { ((LARGE, 0.5), Some((epsilon, 0.5))) };
    std::iter::once(first).chain(second)
}

/// A share of δ, rounded down; all of it is all of it.
fn share_of(delta: Delta, share: f64) -> Option<Delta> {
    if share < 1.0 { Delta::new(down_by(share * delta.get(), 1.0)).ok() } else { Some(delta) }
}

/// Sums over all runs that may have released something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Filter {
    ratio_squared: Amount,
    epsilon: Amount,
    delta: Probability,
    distance: Probability,
}

impl Filter {
    pub(crate) fn add(&mut self, charge: &Charge) {
        self.ratio_squared.add(charge.ratio_squared);
        self.epsilon.add(charge.epsilon);
        self.delta.add(charge.delta);
        self.distance.add(charge.distance);
    }

    pub(crate) fn take_back(&mut self, charge: &Charge) {
        self.ratio_squared.take_back(charge.ratio_squared);
        self.epsilon.take_back(charge.epsilon);
        self.delta.take_back(charge.delta);
        self.distance.take_back(charge.distance);
    }

    pub(crate) fn with(mut self, charge: &Charge) -> Self {
        self.add(charge);
        self
    }

    /// Whether a grant covers it.
    pub(crate) fn fits(&self, grant: Budget) -> bool {
        let (epsilon, delta) = (grant.epsilon.get(), grant.delta);
        if delta == Delta::PURE {
            return self.is_pure() && self.epsilon.get() <= epsilon;
        }
        levels(epsilon).any(|(epsilon, share)| {
            let Some(delta) = share_of(delta, share) else { return false };
            (0..=PARTS).any(|k| self.aside_fits(k, epsilon, delta) && self.needed_in(k, delta) <= epsilon)
        })
    }

    /// The smallest ε of a grant with this δ that would cover it; infinite if none would.
    pub(crate) fn needed(&self, delta: Delta) -> f64 {
        if delta == Delta::PURE {
            return if self.is_pure() { self.epsilon.get() } else { f64::INFINITY };
        }
        let smallest = |delta: Delta| {
            let in_region = |k| {
                let epsilon = self.needed_in(k, delta);
                if self.aside_fits(k, epsilon, delta) { epsilon } else { f64::INFINITY }
            };
            (0..=PARTS).map(in_region).fold(f64::INFINITY, smaller)
        };
        match smallest(delta) {
            small if small <= LARGE => small,
            // Grants that large have less of δ for each region.
            _ => share_of(delta, 0.5).map_or(f64::INFINITY, |delta| larger(smallest(delta), LARGE)),
        }
    }

    /// Whether nothing but pure ε was paid.
    fn is_pure(&self) -> bool {
        self.ratio_squared.is_zero() && self.delta.is_zero() && self.distance.is_zero()
    }

    /// ε that region `k` needs.
    fn needed_in(&self, k: u8, delta: Delta) -> f64 {
        let added = in_parts(self.epsilon, k, |epsilon| epsilon);
        let (share, _) = shares(k);
        let gaussian = in_parts(self.ratio_squared, PARTS - k, |squared| {
            let ratio = up_by(squared.sqrt(), 1.0);
            Delta::new(down_by(share * delta.get(), 1.0))
                .ok()
                .and_then(|delta| gaussian::epsilon(delta, ratio).ok())
                .map_or(f64::INFINITY, pairdp_units::EpsilonBound::get)
        });
        larger(added, gaussian)
    }

    /// Whether region `k` of a grant holds the δ that was paid directly, and the samplers' distance from their laws.
    fn aside_fits(&self, k: u8, epsilon: f64, delta: Delta) -> bool {
        let distance = self.distance.get();
        // A distance counts once for each table, see `pairdp_noise::delta_share`, and at the ε of the whole.
        let samplers = if distance > 0.0 { (1.0 + epsilon.exp()) * distance } else { 0.0 };
        up_by(self.delta.get() + samplers, 16.0) <= down_by(shares(k).1 * delta.get(), 1.0)
    }
}

/// The ε of which `parts` eighths hold what `sum` costs.
fn in_parts(sum: Amount, parts: u8, cost: impl Fn(f64) -> f64) -> f64 {
    if sum.is_zero() {
        return 0.0;
    }
    match parts {
        0 => f64::INFINITY,
        // All of it: nothing is rounded, so that two runs of ε = 0.5 fit a grant of 1.
        PARTS => cost(sum.get()),
        _ => up_by(cost(sum.get()) * f64::from(PARTS) / f64::from(parts), 2.0),
    }
}

/// Which part of a grant a charge takes at least: to choose the cheapest of several.
pub(crate) fn burden(charge: &Charge, grant: Budget) -> f64 {
    let of = |amount: f64, limit: f64| if amount > 0.0 { amount / limit } else { 0.0 };
    let limit = Delta::new(0.75 * grant.delta.get())
        .ok()
        .and_then(|delta| gaussian::largest_ratio(Budget { delta, ..grant }).ok())
        .map_or(0.0, |ratio| ratio * ratio);
    let share = if charge.epsilon > 0.0 { shares(1).1 } else { shares(0).1 };
    let gaussian = of(charge.ratio_squared, limit);
    let added = of(charge.epsilon, grant.epsilon.get());
    larger(larger(gaussian, added), of(charge.delta, share * grant.delta.get()))
}

#[cfg(test)]
mod tests;
