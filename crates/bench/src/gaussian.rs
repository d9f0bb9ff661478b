//! How long an exact Gaussian calibration takes.

use crate::report::{Report, best_seconds};
use pairdp_accountant::gaussian::largest_ratio;
use pairdp_units::Budget;

pub(crate) fn run(report: &mut Report) {
    for (epsilon, delta) in [(0.1, 1e-6), (1.0, 1e-6), (10.0, 1e-12)] {
        let seconds =
            best_seconds(20, || Budget::new(epsilon, delta).map(|budget| largest_ratio(budget).is_ok()));
        report.row("calibrate", &[("epsilon", epsilon), ("delta", delta)], 1.0 / seconds, "calls/s");
    }
}
