//! Few steps over few pairs that are kept independently: what a second method does not confirm is refused before it is paid for.
#![allow(clippy::unwrap_used, reason = "tests")]

use pairdp_accountant::{Event, Release, Sampling, delta_value};
use pairdp_certificate::{Algorithm, Average};
use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm};
use pairdp_release::{Mechanism, Plan};
use pairdp_units::{Adjacency, Budget, Epsilon};

#[test]
fn noise_over_rare_pairs_is_confirmed_or_refused() {
    let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
    let problem = Problem::new(objective, Domain::Ball { radius: 3.0 }, 1.0).unwrap();
    let (mut confirmed, mut refused) = (0, 0);
    for (records, pairs, steps, (epsilon, delta)) in [
        (80, 0.5, 2, (3.0, 1e-3)),
        (80, 1.0, 2, (3.0, 1e-3)),
        (80, 0.5, 1, (1.0, 1e-3)),
        (80, 2.0, 40, (1.0, 1e-6)),
        (500, 4.0, 100, (1.0, 1e-6)),
    ] {
        let plan = Plan::new(Algorithm::NoisySgd, steps, 0.1, Average::Last).unwrap();
        let plan = plan.with_expected_pairs(pairs).unwrap();
        let budget = Budget::new(epsilon, delta).unwrap();
        let Ok(Mechanism::Samples(found)) = Mechanism::calibrate(problem, plan, records, 3, budget) else {
            refused += 1;
            continue;
        };
        let sampling = Sampling::PoissonPairs { records: records as u64, expected_pairs: pairs };
        let noise_multiplier = found.sigma() / found.sensitivity();
        let release = Release::Gaussian { noise_multiplier, sampling, times: u64::from(steps) };
        let event = Event::new(Adjacency::ReplaceOne, release).unwrap();
        let recomputed = delta_value(&event, Epsilon::new(epsilon).unwrap()).unwrap();
        assert!(
            recomputed <= delta && recomputed >= 0.97 * delta,
            "{records} {pairs} {steps}: {recomputed:e}"
        );
        confirmed += 1;
    }
    assert!(confirmed >= 3 && refused >= 1, "{confirmed} confirmed, {refused} refused");
}
