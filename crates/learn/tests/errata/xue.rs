//! Xue, Yang, Huai and Wang (2021): entries 6 and 21 to 23.

use crate::{budget, delta, last_true};
use pairdp_certificate::{Algorithm, Average, Paper};
use pairdp_pairwise::{Domain, MarginLoss, Objective, Problem, RankingForm};
use pairdp_release::{LearnError, Plan, as_printed};
use pairdp_stability::bounds::optimisation;
use pairdp_stability::paper_noise::{xue_output, xue_trajectory};
use pairdp_stability::realised::halving_phases;
use pairdp_units::directed::{larger, smaller};

/// The mean of sᵢsⱼ over ordered pairs: the slope of the loss s·s'·⟨u, w⟩ along u, for one −1 among n signs or none.
fn mean_product(n: usize, one_negative: bool) -> f64 {
    let sign = |i: usize| if one_negative && i == 0 { -1.0 } else { 1.0 };
    let mut sum = 0.0;
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            sum += sign(i) * sign(j);
        }
    }
    sum / (n * (n - 1)) as f64
}

#[test]
fn erratum_06_one_step_of_xue_algorithm_2_exceeds_its_delta() {
    // A table whose one step is exactly a Gaussian release: the gradient really moves by 4G/n.
    let n = 20;
    let moved = mean_product(n, false) - mean_product(n, true);
    finds!("6", "n times what one record moves the gradient, in G", "{:.2}", moved * n as f64, "4.00");
    let ratio = |epsilon, claimed| moved / xue_trajectory(1.0, 1, n, &budget(epsilon, claimed)).sigma;
    for (epsilon, claimed, exact) in
        [(1.0, 1e-6, "1.40e-6"), (1.0, 1e-8, "5.28e-8"), (2.0, 1e-5, "2.43e-5"), (5.0, 1e-5, "2.31e-4")]
    {
        let found = delta(epsilon, ratio(epsilon, claimed));
        finds!("6", format!("ε = {epsilon}, claimed δ = {claimed:e}, exact"), "{:.2e}", found, exact);
        assert!(found > claimed);
    }
    for (claimed, from) in
        [(1.0 / 128.0, "2.61"), (1.0 / 512.0, "2.34"), (1e-5, "1.20"), (1e-6, "0.79"), (1e-8, "0.27")]
    {
        let fails = last_true(0.1, 9.0, |epsilon| delta(epsilon, ratio(epsilon, claimed)) <= claimed);
        finds!("6", format!("claimed δ = {claimed:.1e}: false from ε ="), "{:.2}", fails, from);
    }
    // The average of w_0 … w_T alone tells a little less than the trajectory; not enough less.
    let averaged = |steps: i32| {
        let weights = (1..=steps).map(|s| f64::from(s) / f64::from(steps + 1));
        let (sum, squares) = weights.fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
        sum / (squares * f64::from(steps)).sqrt()
    };
    finds!("6", "T = 20: ratio of the average over that of the trajectory", "{:.3}", averaged(20), "0.877");
    let exact = delta(5.0, ratio(5.0, 1e-8) * averaged(1000));
    finds!("6", "T = 1000, average only, ε = 5, claimed δ = 1e-8, exact", "{:.1e}", exact, "2.6e-8");
    // So it is refused.
    let objective = Objective::Ranking { form: RankingForm::Symmetric, loss: MarginLoss::Logistic };
    let problem = Problem::new(objective, Domain::Ball { radius: 1.0 }, 1.0).unwrap();
    let plan = Plan::new(Algorithm::NoisyGd, 1, 0.5, Average::Last).unwrap();
    let refused = as_printed(problem, plan, 1000, 10, budget(1.0, 1e-6), Some(Paper::Xue));
    assert!(matches!(refused, Err(LearnError::PrintedRefused { .. })), "{refused:?}");
}

/// Mean logistic loss of the average of projected descent, in units where features are `unit` times as long.
fn loss_reached(unit: f64, rate: f64, steps: u32) -> f64 {
    let margins = [1.0, 0.6, -0.3, 0.9, 0.2].map(|a| a * unit);
    let mean = |f: &dyn Fn(f64) -> f64| margins.iter().map(|&a| f(a)).sum::<f64>() / 5.0;
    let (mut w, mut sum) = (0.0, 0.0);
    for _ in 0..steps {
        w -= rate * mean(&|a| -a / (1.0 + (a * w).exp()));
        let radius = 4.0 / unit;
        w = smaller(larger(w, -radius), radius);
        sum += w;
    }
    let average = sum / f64::from(steps);
    mean(&|a| (-a * average).exp().ln_1p())
}

#[test]
fn erratum_21_the_step_size_of_theorem_2_is_upside_down() {
    // Features in metres, or in centimetres: G grows with the unit, ‖C‖ shrinks, nothing else may change.
    let steps = 100;
    let (lipschitz, diameter) = (|unit: f64| unit, |unit: f64| 8.0 / unit);
    let root = f64::from(steps).sqrt();
    let right = |unit: f64| loss_reached(unit, diameter(unit) / (lipschitz(unit) * root), steps);
    let printed = |unit: f64| loss_reached(unit, lipschitz(unit) / (diameter(unit) * root), steps);
    finds!("21", "‖C‖/(G√T): loss in metres", "{:.3}", right(1.0), "0.399");
    finds!("21", "‖C‖/(G√T): loss in centimetres", "{:.3}", right(100.0), "0.399");
    finds!("21", "G/(‖C‖√T): loss in metres", "{:.3}", printed(1.0), "0.660");
    finds!("21", "G/(‖C‖√T): loss in centimetres", "{:.3}", printed(100.0), "0.693");
    // The condition on L, for the bipartite logistic loss, n = 1000, d = 10, (1, 10⁻⁶): the bound over L.
    let problem = |unit: f64| {
        let objective = Objective::Ranking { form: RankingForm::Symmetric, loss: MarginLoss::Logistic };
        Problem::new(objective, Domain::Ball { radius: 1.0 / unit }, unit).unwrap().constants()
    };
    let privacy = 1000.0 / (10.0 * 1e6_f64.ln()).sqrt();
    let right = |unit: f64| {
        let c = problem(unit);
        2.0 * c.gradient_bound / (2.0 / unit) * smaller(1000.0_f64.sqrt(), privacy) / c.smoothness().unwrap()
    };
    let printed = |unit: f64| {
        let c = problem(unit);
        (2.0 / unit) / (2.0 * c.gradient_bound) * smaller(1000.0, privacy) / c.smoothness().unwrap()
    };
    finds!("21", "2G/‖C‖·min{√n, …} over L, in metres", "{:.1}", right(1.0), "31.1");
    finds!("21", "2G/‖C‖·min{√n, …} over L, in centimetres", "{:.1}", right(100.0), "31.1");
    finds!("21", "‖C‖/(2G)·min{n, …} over L, in metres", "{:.1}", printed(1.0), "5.4");
    finds!("21", "‖C‖/(2G)·min{n, …} over L, in centimetres", "{:.1e}", printed(100.0), "5.4e-8");
}

#[test]
fn erratum_22_theorem_1_has_a_squared_diameter_too_many() {
    // What the noise adds to (L/2)‖w‖², exactly, and the same in other units: G ~ u, L ~ u², α ~ u², ‖C‖ ~ 1/u.
    let (n, dimension, epsilon, claimed) = (1000, 10.0, 1.0, 1e-6_f64);
    let added = |unit: f64| {
        let sigma = xue_output(unit, 0.1 * unit * unit, n, &budget(epsilon, claimed)).sigma;
        optimisation::output_gaussian_smooth(2.0 * unit * unit, dimension, sigma)
    };
    let formula = 64.0 * 2.0 * dimension * (1.25 / claimed).ln() / (0.1 * n as f64 * epsilon).powi(2);
    finds!("22", "Ldσ²/2 over 64LG²d ln(1.25/δ)/(α²n²ε²)", "{:.4}", added(1.0) / formula, "1.0000");
    finds!("22", "Ldσ²/2, in centimetres over metres", "{:.4}", added(100.0) / added(1.0), "1.0000");
    let printed = |unit: f64| (2.0 / unit).powi(2) * added(unit);
    finds!(
        "22",
        "‖C‖² times it, in centimetres over metres",
        "{:.4}",
        printed(100.0) / printed(1.0),
        "0.0001"
    );
}

#[test]
fn erratum_23_the_last_epoch_has_two_records() {
    let n = 64;
    let before: usize = (1..6).map(|i| n >> i).sum();
    finds!("23", "n = 64: records left for the last epoch", "{}", n - before, "2");
    finds!("23", "n = 64: 2^-k n", "{}", n >> 6, "1");
    // One record has no pair. Ours stop in time and use every record.
    let sizes: Vec<usize> = halving_phases(n, 1.0).unwrap().iter().map(|phase| phase.n_records).collect();
    finds!("23", "our epochs", "{:?}", sizes, "[32, 16, 8, 4, 4]");
}
