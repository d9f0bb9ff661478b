//! How long calibrating and accounting take, beside Python's dp-accounting where it is installed.
//!
//! dp-accounting has no tight accountant for fixed-size samples. Its route to a noise level is the one it offers:
//! root finding on its Rényi accountant for sampling without replacement, whose multiplier is relative to the
//! replace-one sensitivity, like ours (google/differential-privacy issue 378).

use crate::report::{Report, best_seconds};
use pairdp_accountant::calibrate::noise_multiplier;
use pairdp_accountant::gaussian::largest_ratio;
use pairdp_accountant::{Event, account};
use pairdp_units::{Budget, Delta};
use std::process::Command;

/// Prints the calibrated multiplier and the seconds it took, on one line.
const PEER: &str = r"
import sys, time
import dp_accounting as dp
from dp_accounting import rdp
records, steps, epsilon, delta = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
def event(noise):
    return dp.SelfComposedDpEvent(dp.SampledWithoutReplacementDpEvent(records, 2, dp.GaussianDpEvent(noise)), steps)
def accountant():
    return rdp.RdpAccountant(neighboring_relation=dp.NeighboringRelation.REPLACE_ONE)
start = time.perf_counter()
noise = dp.calibrate_dp_mechanism(accountant, event, epsilon, delta, dp.ExplicitBracketInterval(0.3, 100.0), tol=1e-4)
print(noise, time.perf_counter() - start)
";

/// Records, steps.
const SIZES: [(u64, u64); 3] = [(5_000, 5_000), (1_000_000, 1_000_000), (10_000, 100_000_000)];

pub(crate) fn run(report: &mut Report) {
    for (epsilon, delta) in [(0.1, 1e-6), (1.0, 1e-6), (10.0, 1e-12)] {
        let seconds =
            best_seconds(20, || Budget::new(epsilon, delta).map(|budget| largest_ratio(budget).is_ok()));
        report.row(
            "gaussian calibration",
            &[("epsilon", epsilon), ("delta", delta)],
            1.0 / seconds,
            "calls/s",
        );
    }
    for (records, steps) in SIZES {
        pair_sampling(report, records, steps);
    }
}

/// A uniform pair per step, δ = 1/n², ε = 1: noise for the budget, then the account of that noise.
fn pair_sampling(report: &mut Report, records: u64, steps: u64) {
    let delta = 1.0 / (records as f64 * records as f64);
    let sizes = [("records", records as f64), ("steps", steps as f64)];
    let (Ok(unit), Ok(budget), Ok(target)) =
        (Event::gaussian_steps(records, Some(2), steps, 1.0), Budget::new(1.0, delta), Delta::new(delta))
    else {
        return;
    };
    let Ok(multiplier) = noise_multiplier(&unit, budget) else { return };
    let ours = best_seconds(5, || noise_multiplier(&unit, budget).is_ok());
    report.row("noise multiplier", &sizes, multiplier, "σ/Δ");
    report.row("calibrate pair sampling", &sizes, ours, "s");
    if let Ok(event) = unit.scaled(multiplier) {
        let seconds = best_seconds(1, || account(&event, target).is_ok());
        report.row("account pair sampling", &sizes, seconds, "s");
    }
    if let Some((peer_multiplier, peer_seconds)) = peer(records, steps, delta) {
        report.row("dp-accounting noise multiplier", &sizes, peer_multiplier, "σ/Δ");
        report.row("dp-accounting calibration", &sizes, peer_seconds, "s");
        report.row("times faster than dp-accounting", &sizes, peer_seconds / ours, "×");
    }
}

/// dp-accounting's multiplier and seconds on the same question, if it is installed.
fn peer(records: u64, steps: u64, delta: f64) -> Option<(f64, f64)> {
    #[expect(clippy::disallowed_methods, reason = "which Python has the other library")]
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let arguments = [records.to_string(), steps.to_string(), "1.0".into(), format!("{delta:e}")];
    let output = Command::new(python).args(["-c", PEER]).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut numbers = text.split_whitespace().map(str::parse::<f64>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}
