use super::*;
use crate::Replay;

#[test]
fn moments_are_those_of_a_normal() {
    let mut samples = vec![0; 400_000];
    fill_gaussian(&mut Replay::from_seed(1), Scale::power_of_two(20).unwrap(), &mut samples);
    let moment = |power| {
        samples.iter().map(|n| (*n as f64 / f64::from(1 << 20)).powi(power)).sum::<f64>()
            / samples.len() as f64
    };
    for (power, expected, deviation) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
        let error = (moment(power) - expected) / (deviation / samples.len() as f64).sqrt();
        assert!(error.abs() < 5.0, "moment {power} is off by {error} standard deviations");
    }
}
