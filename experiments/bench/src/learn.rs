//! What privacy adds to the time of learning.
//!
//! `noisy-gd` next to as many gradients over all pairs; `noisy-sgd` in steps a second, its noise apart: the same number of
//! samples is drawn by itself in the same run and subtracted.

use crate::report::{Report, best_seconds};
use pairdp_certificate::{Algorithm, Average};
use pairdp_noise::{Replay, Scale, Secure, Source, fill_gaussian};
use pairdp_pairwise::kernel::{Par, gradient};
use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm, Records};
use pairdp_release::{Checkpointer, Curator, LearnError, Mechanism, Plan};
use pairdp_units::Budget;

const RECORDS: usize = 1_000_000;
const FEATURES: usize = 50;

pub(crate) fn run(report: &mut Report) {
    if let Err(error) = measure(report) {
        report.row(&format!("refused: {error}"), &[], 0.0, "");
    }
}

fn measure(report: &mut Report) -> Result<(), LearnError> {
    let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
    let problem = Problem::new(objective, Domain::Ball { radius: 20.0 }, 1.0)?;
    let budget = Budget::new(1.0, 1e-8)?;
    let size = [("records", RECORDS as f64), ("features", FEATURES as f64)];

    let steps = 100;
    let plan = Plan::new(Algorithm::NoisyGd, steps, 4.0, Average::SecondHalf)?;
    let table = records()?;
    let w = vec![0.1; FEATURES];
    let kernel = f64::from(steps) * best_seconds(10, || gradient(problem, &table, &w, Par::Parallel));
    let start = std::time::Instant::now();
    let mechanism = Mechanism::calibrate(problem, plan, RECORDS, FEATURES, budget)?;
    Curator::open(table, mechanism, Secure::from_os()?)?.certified(&mut Checkpointer::none())?;
    let total = start.elapsed().as_secs_f64();
    report.row("noisy-gd/100 gradients", &size, total / kernel, "ratio of times");

    let steps = u32::try_from(RECORDS).unwrap_or(u32::MAX);
    let plan = Plan::new(Algorithm::NoisySgd, steps, 0.1, Average::SecondHalf)?;
    let mut total = f64::INFINITY;
    for _ in 0..3 {
        let table = records()?;
        let mechanism = Mechanism::calibrate(problem, plan, RECORDS, FEATURES, budget)?;
        let mut curator = Curator::open(table, mechanism, Secure::from_os()?)?;
        let (mut w, mut out) = (vec![0.0; FEATURES], vec![0.0; FEATURES]);
        let seconds = best_seconds(1, || {
            for _ in 0..steps {
                if curator.noisy_sample(&w, &mut out).is_err() {
                    break;
                }
                w.iter_mut().zip(&out).for_each(|(w, g)| *w -= 0.1 * g);
                problem.domain().project(&mut w);
            }
        });
        total = if seconds < total { seconds } else { total };
    }
    let mut secure = Secure::from_os()?;
    let mut block = vec![0_i64; FEATURES * 80];
    let scale = Scale::power_of_two(30)?;
    let rounds = RECORDS / 80;
    let noise = best_seconds(3, || (0..rounds).for_each(|_| fill_gaussian(&mut secure, scale, &mut block)));
    report.row("noisy-sgd", &size, RECORDS as f64 / total, "steps/s/core");
    report.row("noisy-sgd without noise", &size, RECORDS as f64 / (total - noise), "steps/s/core");
    report.row("noise/noisy-sgd", &size, noise / total, "share of time");
    Ok(())
}

fn records() -> Result<Records, LearnError> {
    let mut random = Replay::from_seed(3);
    let mut uniform = || (random.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    let features: Vec<f64> = (0..RECORDS * FEATURES).map(|_| uniform() / 4.0).collect();
    let positive = features.chunks_exact(FEATURES).map(|row| row[0] + 0.5 * uniform() > 0.0).collect();
    Ok(Records::new(features, FEATURES, positive, 1.0)?)
}
