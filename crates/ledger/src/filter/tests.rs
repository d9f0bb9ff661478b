use super::*;
use proptest::prelude::*;

fn free() -> Charge {
    Charge { ratio_squared: 0.0, epsilon: 0.0, delta: 0.0, distance: 0.0 }
}

fn gaussian_charge(ratio: f64) -> Charge {
    Charge { ratio_squared: ratio * ratio, ..free() }
}

#[test]
fn shares_of_delta_add_up_to_one() {
    for epsilon in [1e-3, 1.0, LARGE, 50.0, 1e300] {
        let region = |k| shares(k).0 + shares(k).1;
        let level = |(at, share): (f64, f64)| {
            assert!(at <= epsilon, "a region promises more than the grant");
            share * (0..=PARTS).map(region).sum::<f64>()
        };
        let sum: f64 = levels(epsilon).map(level).sum();
        assert!(sum <= 1.0, "{sum}");
    }
}

/// Many Gaussian runs cost what one with all their noise would: nothing is lost but the shares of δ.
#[test]
fn gaussian_runs_compose_tightly() {
    let delta = Delta::new(1e-6).unwrap();
    let mut spent = Filter::default();
    (0..100).for_each(|_| spent.add(&gaussian_charge(0.02)));
    let exact = gaussian::epsilon(delta, 0.2).unwrap().get();
    let found = spent.needed(delta);
    assert!(found >= exact && found <= 1.02 * exact, "{found} against {exact}");
}

#[test]
fn pure_runs_add_up() {
    let mut spent = Filter::default();
    (0..10).for_each(|_| spent.add(&Charge { epsilon: 0.1, ..free() }));
    for delta in [0.0, 1e-6] {
        let needed = spent.needed(Delta::new(delta).unwrap());
        assert!((1.0..1.000_001).contains(&needed), "{needed}");
    }
    assert!(spent.fits(Budget::new(1.001, 0.0).unwrap()) && !spent.fits(Budget::new(0.999, 0.0).unwrap()));
    spent.add(&gaussian_charge(1e-3));
    assert!(!spent.fits(Budget::new(5.0, 0.0).unwrap()), "Gaussian noise is never pure");
}

#[test]
fn a_sampler_s_distance_counts_at_the_epsilon_of_the_whole() {
    let spent = Filter::default().with(&Charge { distance: 1e-10, ..free() });
    assert!(spent.fits(Budget::new(1.0, 1e-6).unwrap()));
    // (1 + e¹⁰)·10⁻¹⁰ = 2.2·10⁻⁶.
    assert!(!spent.fits(Budget::new(10.0, 1e-6).unwrap()));
}

/// A thousand samples are 8·10⁻²⁸ from their law. At ε = 50 that counts as 4·10⁻⁶, and one small run used to take everything.
#[test]
fn issue_22_6_a_small_run_takes_little_of_a_large_grant() {
    let run = Charge { ratio_squared: 1e-3, distance: 1000.0 * f64::powi(2.0, -100), ..free() };
    let mut spent = Filter::default();
    for epsilon in [29.0, 31.0, 50.0, 100.0, 1000.0] {
        spent = Filter::default();
        (0..1000).for_each(|_| spent.add(&run));
        assert!(spent.fits(Budget::new(epsilon, 1e-6).unwrap()), "{epsilon}");
    }
    let needed = spent.needed(Delta::new(1e-6).unwrap());
    assert!((1.0..10.0).contains(&needed), "{needed}");
    // Beyond 30 samplers count at the ε of the grant: (1 + e⁶⁰)·8·10⁻²⁸ is 0.09.
    let far = |distance| Filter::default().with(&Charge { ratio_squared: 30.0, distance, ..free() });
    let grant = Budget::new(60.0, 1e-6).unwrap();
    assert!(far(0.0).fits(grant) && far(0.0).needed(grant.delta) > LARGE);
    assert!(!far(run.distance).fits(grant) && far(run.distance).needed(grant.delta) > LARGE);
}

fn any_charge() -> impl Strategy<Value = Charge> {
    (
        0.0..0.3_f64,
        prop_oneof![Just(0.0), 0.0..0.5_f64],
        prop_oneof![Just(0.0), 1e-12..1e-8_f64],
        0.0..1e-20_f64,
    )
        .prop_map(|(ratio, epsilon, delta, distance)| Charge {
            ratio_squared: ratio * ratio,
            epsilon,
            delta,
            distance,
        })
}

proptest! {
    #[test]
    fn the_whole_costs_at_least_each_part_in_any_order(
        charges in prop::collection::vec(any_charge(), 1..20),
        turn in 0..20_usize,
    ) {
        let delta = Delta::new(1e-6).unwrap();
        let total = |charges: &[Charge]| charges.iter().fold(Filter::default(), Filter::with);
        let whole = total(&charges);
        for charge in &charges {
            prop_assert!(whole.needed(delta) >= Filter::default().with(charge).needed(delta));
        }
        let mut turned = charges.clone();
        turned.rotate_left(turn % charges.len());
        prop_assert_eq!(whole, total(&turned));
        for k in 1..charges.len() {
            let (before, after) = (total(&charges[..k]), total(&charges[..=k]));
            prop_assert!(after.needed(delta) >= before.needed(delta), "a run gave something back");
        }
        let mut less = whole;
        less.take_back(&charges[0]);
        prop_assert_eq!(less, total(&charges[1..]));
    }

    /// What is needed fits, and a little less does not.
    #[test]
    fn needed_is_the_edge_of_what_fits(charges in prop::collection::vec(any_charge(), 1..8)) {
        let delta = Delta::new(1e-6).unwrap();
        let spent = charges.iter().fold(Filter::default(), Filter::with);
        let needed = spent.needed(delta);
        if needed.is_finite() && needed > 1e-9 {
            let fits = |epsilon: f64| spent.fits(Budget::new(epsilon, delta.get()).unwrap());
            prop_assert!(fits(needed));
            prop_assert!(!fits(needed * (1.0 - 1e-9)));
        }
    }
}

// An adversary who sees the first run's result and then picks the second run that suits it best. His advantage can be
// computed: the first run is Gaussian with result z; given its privacy loss l(z), a second run adds δ₂(ε − l).

fn normal_cdf(x: f64) -> f64 {
    // Φ through the Gaussian curve: δ(0; μ) = 2Φ(μ/2) − 1.
    let half = 0.5 * gaussian::delta(0.0, 2.0 * x.abs()).unwrap();
    if x >= 0.0 { 0.5 + half } else { 0.5 - half }
}

/// δ of N(μ, 1) against N(0, 1) at any threshold, negative ones included.
fn gaussian_advantage(threshold: f64, ratio: f64) -> f64 {
    if ratio <= 0.0 {
        return larger(0.0, -threshold.exp_m1());
    }
    if threshold >= 0.0 {
        return gaussian::delta(threshold, ratio).unwrap();
    }
    normal_cdf(ratio / 2.0 - threshold / ratio)
        - threshold.exp() * normal_cdf(-ratio / 2.0 - threshold / ratio)
}

/// δ of randomised response.
fn response_advantage(threshold: f64, epsilon: f64) -> f64 {
    let inside = (epsilon.exp() - threshold.exp()) / (1.0 + epsilon.exp());
    if threshold >= epsilon { 0.0 } else { larger(inside, -threshold.exp_m1()) }
}

/// The adversary's δ at the grant's ε when the first run has ratio `first` and `second(threshold)` is his best answer.
fn adaptive_delta(epsilon: f64, first: f64, second: impl Fn(f64) -> f64) -> f64 {
    let (width, mut sum) = (1e-2, 0.0);
    for i in -900..=900 {
        let z = f64::from(i) * width;
        // Under the first table z ~ N(μ, 1): its loss is μz + μ²/2 for z ~ N(0, 1).
        let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
        sum += width * density * second(epsilon - (first * z + 0.5 * first * first));
    }
    sum
}

/// The largest number between 0 and `most` that fits.
fn largest(most: f64, fits: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

#[test]
fn choosing_the_second_run_in_view_of_the_first_cannot_pass_the_grant() {
    let grant = Budget::new(1.0, 1e-6).unwrap();
    let limit = gaussian::largest_ratio(grant).unwrap();
    let mut naive_worst: f64 = 0.0;
    for part in [0.3, 0.6, 0.9] {
        let first = part * limit;
        let spent = Filter::default().with(&gaussian_charge(first));
        let fits = |charge: Charge| spent.with(&charge).fits(grant);
        let ratio = largest(1.0, |ratio| fits(gaussian_charge(ratio)));
        let response = largest(1.0, |epsilon| fits(Charge { epsilon, ..free() }));
        let leak = largest(1e-6, |delta| fits(Charge { delta, ..free() }));
        let found = adaptive_delta(1.0, first, |threshold| {
            let leaked = leak + (1.0 - leak) * larger(0.0, -threshold.exp_m1());
            larger(
                gaussian_advantage(threshold, ratio),
                larger(response_advantage(threshold, response), leaked),
            )
        });
        assert!(found <= 1e-6, "after {part} of the grant the adversary gets δ = {found:e}");

        // The same adversary against a ledger that asks the accountant about the runs as if they had been fixed.
        let fixed = |second: &dyn Fn(f64) -> f64| adaptive_delta(1.0, first, second) <= 1e-6;
        let ratio = largest(1.0, |ratio| fixed(&|t| gaussian_advantage(t, ratio)));
        let response = largest(1.0, |epsilon| fixed(&|t| response_advantage(t, epsilon)));
        let best = |t| larger(gaussian_advantage(t, ratio), response_advantage(t, response));
        naive_worst = larger(naive_worst, adaptive_delta(1.0, first, best));
    }
    assert!(
        naive_worst > 1.02e-6,
        "composing what was chosen adaptively would have been fine: {naive_worst:e}"
    );
}
