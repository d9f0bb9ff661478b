//! What a step of a network takes beside the table, counted by an allocator that sees everything.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use pairdp_noise::{Replay, Source as _};
use pairdp_pairwise::kernel::{self, Par};
use pairdp_pairwise::{
    Activation, Domain, MarginLoss, Network, Objective, PointLoss, Problem, RankingForm, Records, Score,
};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Two numbers a record and 16 MB, for losses of records and of pairs: nothing of the size of a hidden layer is ever kept.
#[test]
fn a_step_takes_two_numbers_a_record_and_sixteen_megabytes() {
    let (n, d, hidden) = (200_000, 20, 64);
    let mut source = Replay::from_seed(1);
    let mut uniform = || (source.next_word() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    let features = (0..n * d).map(|_| uniform() / (d as f64).sqrt()).collect();
    let records = Records::new(features, d, (0..n).map(|i| i % 3 == 0).collect(), 1.0).unwrap();
    let form = Network { activation: Activation::Tanh, hidden, linear: 0.5, spread: 1.0, seed: 1 };
    let w: Vec<f64> = (0..form.parameters(d)).map(|_| uniform()).collect();
    let pairs = Objective::Ranking { form: RankingForm::Indicator, loss: MarginLoss::Logistic };
    for objective in [Objective::Pointwise { loss: PointLoss::Margin(MarginLoss::CappedLogistic) }, pairs] {
        let problem = Problem::new(objective, Domain::Ball { radius: 100.0 }, 1.0).unwrap();
        let problem = problem.with_score(Score::Network(form)).unwrap();
        let profiler = dhat::Profiler::builder().testing().build();
        let gradient = kernel::gradient(problem, &records, &w, Par::Parallel);
        let most = dhat::HeapStats::get().max_bytes;
        drop(profiler);
        assert_eq!(gradient.len(), w.len());
        println!("{objective:?}: {:.1} MB at the most", most as f64 / 1e6);
        assert!(most <= 2 * n * 8 + 16_000_000, "{objective:?}: {most} bytes");
        // A whole hidden layer would be 102 MB.
        assert!(most > 1000);
    }
}
