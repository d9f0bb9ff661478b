//! How much noise a descent has gathered when it ends: where the loss is flat, η·T steps of noise, whatever their number.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_accountant::{Unbooked, gaussian};
use pairdp_certificate::{Algorithm, Average, NoiseKind};
use pairdp_data::{Encoding, Table};
use pairdp_learn::{DomainKind, RepresentationKind, Settings, Training};
use pairdp_noise::Replay;
use pairdp_pairwise::LossKind;
use pairdp_release::{Checkpointer, LearnError};
use pairdp_units::Budget;

const COLUMNS: usize = 64;
const RUNS: u64 = 60;

/// Standard deviation of the parameters of descents over records that are all 0, so that all is noise.
fn spread(steps: u32, time: f64, momentum: f64, budget: Budget) -> f64 {
    let settings = Settings {
        algorithm: Some(Algorithm::NoisyGd),
        loss: Some(LossKind::CappedLogistic),
        domain: Some(DomainKind::Whole),
        mechanism: Some(NoiseKind::Gaussian),
        representation: Some(RepresentationKind::Ranges),
        average: Some(Average::Last),
        feature_bound: Some(1.0),
        steps: Some(steps),
        step_size: Some(time / f64::from(steps)),
        momentum: Some(momentum),
        ..Settings::default()
    };
    let encoding = Encoding::unscaled(COLUMNS);
    let training = Training { settings, encoding, label: None, budget };
    let mut squares = 0.0;
    for seed in 0..RUNS {
        let table = Table::new(vec![0.0; 4 * COLUMNS], COLUMNS, vec![1.0, -1.0, 1.0, -1.0]);
        let checkpointer = &mut Checkpointer::none();
        let rows = || Ok::<_, LearnError>(table.into());
        let run = training.open(&mut Unbooked, checkpointer, rows).unwrap();
        let found = run.rehearse(Replay::from_seed(seed), checkpointer).unwrap();
        squares += found.iter().map(|value| value * value).sum::<f64>();
    }
    (squares / (RUNS as f64 * COLUMNS as f64)).sqrt()
}

/// τΔ/μ for a time τ = ηT, however many steps it is divided into. With momentum the last steps' noise has not gone all of its way:
/// √(mean of (1 − βᵏ)²) of it, 7 % less at T = 100. 3,840 numbers each: a deviation is off by 3 % or more once in 100 such tests, and
/// seeds are fixed.
#[test]
fn noise_in_a_flat_direction_follows_the_time_and_not_the_steps() {
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let mu = gaussian::largest_ratio(budget).unwrap();
    // The capped loss of pairs moves by κ/n at most.
    let expected = |time: f64| time * (1.0 / 4.0) / mu;
    for steps in [10, 100, 1000] {
        for momentum in [0.0, 0.9] {
            let reached: f64 =
                (1..=steps).map(|k| (1.0 - f64::powi(momentum, i32::try_from(k).unwrap())).powi(2)).sum();
            let share = if momentum > 0.0 { (reached / f64::from(steps)).sqrt() } else { 1.0 };
            let found = spread(steps, 5.0, momentum, budget) / (expected(5.0) * share);
            assert!((found - 1.0).abs() < 0.03, "{steps} steps, momentum {momentum}: {found}");
        }
    }
}
