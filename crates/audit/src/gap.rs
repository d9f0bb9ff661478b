//! Stability on average, and the gap between the risk on a table and on new records, in the settings of two papers.

use crate::AuditError;
use crate::table_pair::Table;
use pairdp_certificate::{Algorithm, Average, Order, Shuffle};
use pairdp_learn::baseline::{Baseline, descend};
use pairdp_noise::{Replay, Source};
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm};
use pairdp_release::Plan;
use pairdp_stability::bounds::{Setting, generalisation, stability};
use rayon::prelude::*;
use serde::Serialize;

/// What was measured, and what bounds it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gap {
    /// Whose setting.
    pub setting: &'static str,
    /// n.
    pub records: usize,
    /// T.
    pub steps: u32,
    /// η.
    pub step_size: f64,
    /// Root of the mean squared distance over records that are exchanged.
    pub stability: f64,
    /// Its bound.
    pub stability_bound: f64,
    /// Mean risk on new records less mean risk on the table.
    pub gap: f64,
    /// Its bound.
    pub gap_bound: f64,
}

/// Tables over which means are taken.
const TABLES: u64 = 8;
/// New records for the risk on the population.
const NEW: usize = 2000;
const COLUMNS: usize = 5;

/// Measures both settings: descent along uniform pairs (Wang et al. 2024) and over all pairs with η = 1/L (Kang et al.), logistic
/// loss, no noise, which is the same in two coupled runs and cancels.
///
/// # Errors
/// [`AuditError`] for numbers that make no descent.
pub fn gaps(records: usize, steps: u32) -> Result<Vec<Gap>, AuditError> {
    let objective = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
    let problem = Problem::new(objective, Domain::Ball { radius: 10.0 }, 1.0)?;
    let constants = problem.constants();
    let smoothness = constants.smoothness().unwrap_or(f64::INFINITY);
    let (g, d, d_sym) = (constants.gradient_bound, constants.pair_difference, constants.symmetric_difference);
    // Descent along pairs takes both orders of a pair at once, which doubles the loss it descends on.
    let pairs = |seed| Baseline::Sgd(Order { shuffle: Shuffle::WithReplacement, seed });
    let rate = 0.25 / smoothness;
    let wang = measure(problem, records, steps, rate, pairs)?;
    let setting = Setting::new(2.0 * g, rate, steps as usize, records)?;
    let squared = stability::on_average_smooth(&setting, 2.0 * smoothness, 2.0 * wang.weighted_risk, true);
    let uniform = stability::pair_sgd_expected(&setting, 0.0, d, false);
    let smaller_root = if squared.sqrt() < uniform { squared.sqrt() } else { uniform };
    let by_average = generalisation::on_average_smooth(smoothness, wang.risk, squared, true);
    let by_uniform = generalisation::pairwise_expected(g, uniform);
    let whole = problem.risk_smoothness(records).unwrap_or(smoothness);
    let kang = measure(problem, records, steps, 1.0 / whole, |_| Baseline::Gd)?;
    let setting = Setting::new(g, 1.0 / whole, steps as usize, records)?;
    let drift = stability::full_batch_pairwise(&setting, 0.0, d_sym, 0.0);
    Ok(vec![
        Gap {
            setting: "Wang et al., along pairs",
            records,
            steps,
            step_size: rate,
            stability: wang.stability,
            stability_bound: smaller_root,
            gap: wang.gap,
            gap_bound: if by_average < by_uniform { by_average } else { by_uniform },
        },
        Gap {
            setting: "Kang et al., over all pairs",
            records,
            steps,
            step_size: 1.0 / whole,
            stability: kang.stability,
            stability_bound: drift,
            gap: kang.gap,
            gap_bound: generalisation::pairwise_expected(g, drift),
        },
    ])
}

struct Measured {
    stability: f64,
    gap: f64,
    /// Mean risk of the results on their own tables.
    risk: f64,
    /// Σ η² F(w_j), the mean over tables.
    weighted_risk: f64,
}

fn measure(
    problem: Problem,
    n: usize,
    steps: u32,
    rate: f64,
    baseline: impl Fn(u64) -> Baseline + Sync,
) -> Result<Measured, AuditError> {
    let each: Result<Vec<[f64; 4]>, AuditError> = (0..TABLES)
        .into_par_iter()
        .map(|seed| {
            let mut source = Replay::from_seed(seed);
            let table = draw(&mut source, n);
            let records = table.records(1.0)?;
            let result = |table: &Table, steps: u32| -> Result<Vec<f64>, AuditError> {
                let plan = Plan::new(Algorithm::NoisyGd, steps, rate, Average::Last)?;
                Ok(descend(baseline(seed), problem, plan, &table.records(1.0)?)?)
            };
            let here = result(&table, steps)?;
            let mut squares = 0.0;
            for i in 0..n {
                let one = draw(&mut source, 1);
                let mut other = table.clone();
                other.features[i * COLUMNS..(i + 1) * COLUMNS].copy_from_slice(&one.features);
                other.targets[i] = one.targets[0];
                let there = result(&other, steps)?;
                squares += here.iter().zip(&there).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / n as f64;
            }
            let risk = |records, w: &[f64]| kernel::risk(problem, records, w, Par::Sequential);
            let new = draw(&mut source, NEW).records(1.0)?;
            let (on_table, on_new) = (risk(&records, &here), risk(&new, &here));
            let mut weighted = rate * rate * risk(&records, &[0.0; COLUMNS]);
            for step in 1..steps {
                weighted += rate * rate * risk(&records, &result(&table, step)?);
            }
            Ok([squares, on_new - on_table, on_table, weighted])
        })
        .collect();
    let each = each?;
    let mean = |k: usize| each.iter().map(|row| row[k]).sum::<f64>() / each.len() as f64;
    Ok(Measured { stability: mean(0).sqrt(), gap: mean(1), risk: mean(2), weighted_risk: mean(3) })
}

/// Records of a population in which the first feature tells most about the label.
fn draw(source: &mut Replay, n: usize) -> Table {
    let mut uniform = || (source.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    let scale = 1.0 / (COLUMNS as f64).sqrt();
    let features: Vec<f64> = (0..n * COLUMNS).map(|_| scale * uniform()).collect();
    let targets = features
        .chunks_exact(COLUMNS)
        .map(|row| if row[0] + 0.6 * scale * uniform() > 0.0 { 1.0 } else { -1.0 });
    Table { targets: targets.collect(), columns: COLUMNS, features, records_of_owner: Vec::new() }
}
