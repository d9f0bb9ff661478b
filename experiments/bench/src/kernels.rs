//! Gradients over all pairs against reading the table, the definition, and matrix products.

use crate::report::{Report, best_seconds, memory};
use faer::Mat;
use faer::linalg::matmul::matmul;
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::kernel::{self, Par, naive};
use pairdp_pairwise::{Domain, MarginLoss, MetricLoss, Objective, Problem, RankingForm, Records};
use rayon::prelude::*;

/// What `--only` names, and how it is run.
type Part = (&'static str, fn(&mut Report));

/// Tables up to this many cells, for each number of features.
const MOST_CELLS: usize = 1_000_000_000;
/// The definition is timed here and extrapolated as n².
const NAIVE_RECORDS: usize = 20_000;

/// All of it, or `--only` one: `ranking`, pairs of two classes; `persons`, with several records each; `survival`, pairs in the order of
/// time; `network`, scores of one hidden layer; `metric`, distances.
pub(crate) fn run(report: &mut Report) {
    let only = Report::option("--only");
    let parts: [Part; 5] = [
        ("ranking", rankings),
        ("persons", crate::persons::speed),
        ("survival", crate::survival::speed),
        ("network", crate::networks::speed),
        ("metric", metrics),
    ];
    parts
        .iter()
        .filter(|(name, _)| only.as_ref().is_none_or(|only| only == name))
        .for_each(|(_, run)| run(report));
}

fn rankings(report: &mut Report) {
    for columns in [8, 50, 200] {
        let mut times = Vec::new();
        for n in [10_000, 100_000, 1_000_000, 10_000_000] {
            if n * columns <= MOST_CELLS {
                times.push((n, ranking(report, n, columns)));
            }
        }
        linearity(report, columns, &times);
    }
}

fn metrics(report: &mut Report) {
    metric(report);
    metric_memory(report);
}

fn table(n: usize, columns: usize) -> Records {
    let mut features = vec![0.0; n * columns];
    features.par_chunks_mut(1 << 16).enumerate().for_each(|(chunk, out)| {
        let mut random = Replay::from_seed(chunk as u64);
        let mut words = vec![0; out.len()];
        random.fill_words(&mut words);
        for (value, word) in out.iter_mut().zip(words) {
            *value = (word >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        }
    });
    let positive = (0..n).map(|i| i % 10 == 0).collect();
    Records::new(features, columns, positive, 1.0).unwrap_or_else(|error| unreachable!("{error}"))
}

fn problem(objective: Objective) -> Problem {
    Problem::new(objective, Domain::Ball { radius: 10.0 }, 1.0)
        .unwrap_or_else(|error| unreachable!("{error}"))
}

fn ranking_problem(loss: MarginLoss) -> Problem {
    problem(Objective::Ranking { form: RankingForm::Indicator, loss })
}

/// Parameters of norm 5.
fn parameters(columns: usize) -> Vec<f64> {
    let mut w: Vec<f64> = (0..columns).map(|k| (k as f64 * 0.7).sin()).collect();
    let norm = Problem::norm(&w);
    w.iter_mut().for_each(|v| *v *= 5.0 / norm);
    w
}

/// The gradients of the logistic loss and the hinge over two reads of the table.
pub(crate) fn over_two_reads(n: usize, columns: usize) -> [f64; 2] {
    let (records, w) = (table(n, columns), parameters(columns));
    let repeats = (400_000_000 / (n * columns)).clamp(5, 200);
    let read = 2.0 * best_seconds(repeats, || parallel_read(&records));
    [MarginLoss::Logistic, MarginLoss::Hinge].map(|loss| {
        let problem = ranking_problem(loss);
        best_seconds(repeats, || kernel::gradient(problem, &records, &w, Par::Parallel)) / read
    })
}

/// Times the gradients at one size; returns the logistic one's seconds.
fn ranking(report: &mut Report, n: usize, columns: usize) -> f64 {
    let (records, w) = (table(n, columns), parameters(columns));
    let sizes = [("n", n as f64), ("d", columns as f64)];
    let repeats = (200_000_000 / (n * columns)).clamp(3, 200);
    // Warm up memory and tables before anything is compared.
    let mut logistic = f64::INFINITY;
    let read =
        best_seconds(repeats, || parallel_read(&records)) + best_seconds(repeats, || parallel_read(&records));
    for (loss, name) in [(MarginLoss::Logistic, "logistic"), (MarginLoss::Hinge, "hinge")] {
        let problem = ranking_problem(loss);
        let seconds = best_seconds(repeats, || kernel::gradient(problem, &records, &w, Par::Parallel));
        report.row(&format!("{name}/two-reads"), &sizes, seconds / read, "ratio");
        if loss == MarginLoss::Logistic {
            logistic = seconds;
            report.row("logistic/seconds", &sizes, seconds, "s");
            if columns == 50 && n >= 1_000_000 {
                let small = table(NAIVE_RECORDS, columns);
                let start = best_seconds(1, || naive_scores(problem, &small, &w));
                let growth = (n as f64 / NAIVE_RECORDS as f64).powi(2);
                report.row("naive/logistic", &sizes, start * growth / seconds, "ratio");
            }
        }
    }
    logistic
}

/// One plain read of the table by all threads: a sum of all cells.
fn parallel_read(records: &Records) -> f64 {
    records.features().par_chunks(1 << 16).map(sum).sum()
}

fn sum(cells: &[f64]) -> f64 {
    pulp::Arch::new().dispatch(Sum(cells))
}

/// As wide as the kernels themselves, so that the comparison is fair.
struct Sum<'a>(&'a [f64]);

impl pulp::NullaryFnOnce for Sum<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let mut sums = [0.0; 32];
        for chunk in self.0.chunks_exact(32) {
            for k in 0..32 {
                sums[k] += chunk[k];
            }
        }
        sums.iter().sum()
    }
}

/// The definition with scores computed once, so that it is not a straw man: O(n₊n₋) slopes and one weighted sum.
fn naive_scores(problem: Problem, records: &Records, w: &[f64]) -> f64 {
    let Objective::Ranking { loss, .. } = problem.objective() else { return 0.0 };
    let scores: Vec<f64> = (0..records.len()).map(|i| kernel::score(records.row(i), w)).collect();
    let is_positive = |i: &usize| records.targets()[*i] > 0.0;
    let (positives, negatives): (Vec<usize>, Vec<usize>) = (0..records.len()).partition(is_positive);
    let charge = |i: &usize| negatives.iter().map(|j| loss.steepness(scores[*i] - scores[*j])).sum::<f64>();
    positives.par_iter().map(charge).sum()
}

/// The exponent of n in the time, fitted over the sizes by least squares on logarithms.
fn linearity(report: &mut Report, columns: usize, times: &[(usize, f64)]) {
    let large: Vec<(f64, f64)> =
        times.iter().filter(|(n, _)| *n >= 100_000).map(|(n, t)| ((*n as f64).ln(), t.ln())).collect();
    if large.len() < 2 {
        return;
    }
    let count = large.len() as f64;
    let (mx, my) =
        (large.iter().map(|p| p.0).sum::<f64>() / count, large.iter().map(|p| p.1).sum::<f64>() / count);
    let slope = large.iter().map(|(x, y)| (x - mx) * (y - my)).sum::<f64>()
        / large.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>();
    report.row("logistic/exponent-of-n", &[("d", columns as f64)], slope, "slope");
}

fn metric(report: &mut Report) {
    let (n, d) = (5000, 64);
    let records = table(n, d);
    let w: Vec<f64> = (0..d * d).map(|k| if k % (d + 1) == 0 { 1.0 } else { 0.0 }).collect();
    let side = 1024;
    let (a, b) = (
        Mat::from_fn(side, side, |i, j| (i * 7 + j) as f64 % 3.0),
        Mat::from_fn(side, side, |i, j| (i + j * 5) as f64 % 3.0),
    );
    let mut c = Mat::<f64>::zeros(side, side);
    let gemm = best_seconds(10, || {
        matmul(c.as_mut(), faer::Accum::Replace, a.as_ref(), b.as_ref(), 1.0, faer::Par::Seq);
    });
    let gemm_rate = 2.0 * (side as f64).powi(3) / gemm;
    // The naive twin, to show that the tiles compute the same.
    let small = table(60, 8);
    let problem_of = |loss| problem(Objective::Metric { loss });
    let identity: Vec<f64> = (0..64).map(|k| if k % 9 == 0 { 1.0 } else { 0.0 }).collect();
    let check = naive::gradient(problem_of(MetricLoss::Logistic), &small, &identity);
    let fast = kernel::gradient(problem_of(MetricLoss::Logistic), &small, &identity, Par::Sequential);
    assert!(check.iter().zip(&fast).all(|(a, b)| (a - b).abs() < 1e-12), "the kernel is wrong");
    for (loss, name) in [(MetricLoss::Logistic, "metric-logistic"), (MetricLoss::Hinge, "metric-hinge")] {
        let problem = problem_of(loss);
        let seconds = best_seconds(3, || kernel::gradient(problem, &records, &w, Par::Sequential));
        // Upper triangle: n²/2 pairs, two products of 2d operations each.
        let rate = 2.0 * (n as f64).powi(2) * d as f64 / seconds;
        report.row(&format!("{name}/gemm"), &[("n", n as f64), ("d", d as f64)], rate / gemm_rate, "ratio");
    }
}

/// The most memory that a metric gradient takes, over that of its table (Linux alone says).
fn metric_memory(report: &mut Report) {
    let (n, d) = (50_000, 64);
    let records = table(n, d);
    let w: Vec<f64> = (0..d * d).map(|k| if k % (d + 1) == 0 { 1.0 } else { 0.0 }).collect();
    let data = (n * d * 8) as f64;
    // Writing 5 resets the peak to what is held now.
    if std::fs::write("/proc/self/clear_refs", "5").is_err() {
        return;
    }
    let held = memory("VmRSS:");
    std::hint::black_box(kernel::gradient(
        problem(Objective::Metric { loss: MetricLoss::Hinge }),
        &records,
        &w,
        Par::Parallel,
    ));
    if let (Some(held), Some(peak)) = (held, memory("VmHWM:")) {
        // The table itself is held before and after.
        let ratio = (peak - held + data) / data;
        report.row("metric/peak-memory", &[("n", n as f64), ("d", d as f64)], ratio, "of the table");
    }
}
