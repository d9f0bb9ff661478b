//! A step of a network against the two products of matrices that it is made of, and the memory that it takes.

use crate::report::{Report, best_seconds, memory};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{
    Activation, Domain, MarginLoss, Network, Objective, PointLoss, Problem, RankingForm, Records, Score,
};
use rayon::prelude::*;

/// Records, columns and hidden units.
const SHAPES: [(usize, usize, usize); 3] = [(200_000, 54, 64), (200_000, 110, 64), (1_000_000, 50, 32)];

pub(crate) fn speed(report: &mut Report) {
    for (n, d, hidden) in SHAPES {
        let mut random = Replay::from_seed(1);
        let mut uniform = || (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        let features = (0..n * d).map(|_| uniform() / (d as f64).sqrt()).collect();
        let positive = (0..n).map(|i| i % 3 == 0).collect();
        let records = Records::new(features, d, positive, 1.0).unwrap_or_else(|e| unreachable!("{e}"));
        let form = Network { activation: Activation::Tanh, hidden, linear: 0.5, spread: 1.0, seed: 1 };
        let w: Vec<f64> = (0..form.parameters(d)).map(|_| uniform()).collect();
        let linear: Vec<f64> = w[..d].to_vec();
        let sizes = [("n", n as f64), ("d", d as f64), ("hidden", hidden as f64)];
        // By a library, stretch by stretch on as many threads: XWᵀ, and (n × H)ᵀX.
        let weights = Mat::from_fn(d, hidden, |i, j| w[j * d + i]);
        let products = |rows: &[f64]| {
            let x = MatRef::from_row_major_slice(rows, rows.len() / d, d);
            let (mut z, mut inner) = (Mat::<f64>::zeros(x.nrows(), hidden), Mat::<f64>::zeros(hidden, d));
            matmul(z.as_mut(), Accum::Replace, x, weights.as_ref(), 1.0, faer::Par::Seq);
            matmul(inner.as_mut(), Accum::Replace, z.transpose(), x, 1.0, faer::Par::Seq);
            inner
        };
        let gemms = best_seconds(3, || {
            let parts = records.features().par_chunks(8192 * d).map(products);
            parts.reduce(|| Mat::zeros(hidden, d), |a, b| a + b)
        });
        report.row("network/two-products", &sizes, gemms, "s");
        let pairs = |loss| Objective::Ranking { form: RankingForm::Indicator, loss };
        for (name, objective) in [
            ("records", Objective::Pointwise { loss: PointLoss::Margin(MarginLoss::CappedLogistic) }),
            ("pairs", pairs(MarginLoss::Logistic)),
        ] {
            let plain = Problem::new(objective, Domain::Ball { radius: 100.0 }, 1.0);
            let plain = plain.unwrap_or_else(|e| unreachable!("{e}"));
            let problem = plain.with_score(Score::Network(form)).unwrap_or_else(|e| unreachable!("{e}"));
            step_memory(report, name, &sizes, || kernel::gradient(problem, &records, &w, Par::Parallel));
            let seconds = best_seconds(3, || kernel::gradient(problem, &records, &w, Par::Parallel));
            report.row(&format!("network-{name}/seconds"), &sizes, seconds, "s");
            report.row(&format!("network-{name}/two-products"), &sizes, seconds / gemms, "ratio");
            let of_linear = best_seconds(3, || kernel::gradient(plain, &records, &linear, Par::Parallel));
            let budget = 1.3 * of_linear + 3.0 * gemms;
            report.row(&format!("network-{name}/linear-step-and-products"), &sizes, seconds / budget, "ratio");
        }
    }
}

/// What a step takes beside the table and two numbers a record (Linux alone says).
fn step_memory<T>(report: &mut Report, name: &str, sizes: &[(&'static str, f64)], step: impl FnOnce() -> T) {
    // Writing 5 resets the peak to what is held now.
    if std::fs::write("/proc/self/clear_refs", "5").is_err() {
        return;
    }
    let held = memory("VmRSS:");
    std::hint::black_box(step());
    if let (Some(held), Some(peak)) = (held, memory("VmHWM:")) {
        let beyond = (peak - held - 16.0 * sizes[0].1) / (1 << 20) as f64;
        report.row(&format!("network-{name}/memory-beyond-2n"), sizes, beyond, "MB");
    }
}
