//! What AUC to expect, by simulation.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_data::simulate::Effect;
use pairdp_learn::{Settings, around, expected_auc, models_for};
use pairdp_model::Task;
use pairdp_units::{Budget, Unit};

/// The oracle is the population: where noise drowns nothing a model ranks as the truth does, and where it drowns all, as a coin does.
#[test]
fn expectations_lie_between_a_coin_and_the_stated_effect() {
    let effect = Effect::new(5, 0.8, 0.3).unwrap();
    for task in [Task::Ranking, Task::Classification] {
        let settings = Settings { task, ..Settings::default() };
        let of = |records, epsilon| {
            expected_auc(&effect, 5, &settings, Budget::new(epsilon, 1e-6).unwrap(), records, 4).unwrap()
        };
        let (good, poor) = (of(20_000, 8.0), of(100, 0.1));
        assert!((good.mean - 0.8).abs() < 0.015 && good.lowest > 0.78 && good.highest < 0.82, "{good:?}");
        assert!(poor.mean < 0.75 && poor.lowest <= poor.mean && poor.mean <= poor.highest, "{poor:?}");
        let middle = of(2_000, 1.0);
        assert!(middle.mean < good.mean + 0.005 && middle.mean > 0.5, "{middle:?}");
    }
}

#[test]
fn persons_are_simulated_with_one_record_each() {
    let effect = Effect::new(3, 0.85, 0.3).unwrap();
    let settings = Settings { unit: Unit::Person, ..Settings::default() };
    let found = expected_auc(&effect, 3, &settings, Budget::new(4.0, 1e-6).unwrap(), 3_000, 2).unwrap();
    assert!(found.mean > 0.75, "{found:?}");
}

#[test]
fn few_models_are_trained_on_large_tables_and_none_on_larger_ones() {
    assert_eq!(around(40_000, 1.0), (vec![10_000, 20_000, 40_000, 80_000], vec![0.25, 0.5, 1.0, 2.0, 4.0]));
    assert_eq!(around(20, 1.0).0, [10, 20, 40, 80]);
    assert_eq!([10, 5_000, 100_000].map(models_for), [8, 8, 2]);
}
