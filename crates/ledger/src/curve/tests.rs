use super::*;
use pairdp_accountant::delta_value;

#[test]
fn gaussian_noise_covers_itself() {
    // Multiplier 5 in 10 steps: μ = √10/5.
    let event = Event::gaussian_steps(1000, None, 10, 5.0).unwrap();
    let exact = 10.0_f64.sqrt() / 5.0;
    let found = Curve::of(&event, 1e-9).unwrap().ratio(2e-9).unwrap();
    assert!(found >= exact * (1.0 - 1e-3), "{found} is below {exact}");
    assert!(found <= exact * 1.03, "{found} loses much against {exact}");
}

/// −2Φ⁻¹(1/(1 + e^ε)), from tables of the normal law.
#[test]
fn pure_releases_have_their_known_ratio() {
    for (epsilon, exact) in [(0.01, 0.012_533), (1.0, 1.232_08), (3.0, 3.339_9)] {
        let found = Curve::pure(epsilon).ratio(0.0).unwrap();
        assert!((found / exact - 1.0).abs() < 1e-3, "{epsilon}: {found}");
    }
}

/// Between the points that the curve was made of, and once with the accountant's other engine.
#[test]
fn a_sampled_run_is_covered_everywhere() {
    for (records, steps, multiplier) in [(300, 300, 1.0), (5000, 50, 0.55)] {
        let event = Event::gaussian_steps(records, Some(2), steps, multiplier).unwrap();
        let curve = Curve::of(&event, 1e-9).unwrap();
        for leak in [1e-9, 1e-7] {
            let ratio = curve.ratio(leak).unwrap();
            let covered = |epsilon| leak + (1.0 - leak) * gaussian::delta(epsilon, ratio).unwrap();
            for k in 1..14 {
                let epsilon = 0.0937 * f64::from(k);
                let run = delta_for(&event, Epsilon::new(epsilon).unwrap()).unwrap().0;
                let covered = covered(epsilon);
                assert!(run <= covered, "n = {records}, λ = {leak}: at ε = {epsilon} {run} > {covered}");
            }
            assert!(delta_value(&event, Epsilon::new(1.0).unwrap()).unwrap() <= covered(1.0));
        }
    }
}

#[test]
fn too_small_a_leak_has_no_answer() {
    let event = Event::gaussian_steps(300, Some(2), 300, 1.0).unwrap();
    let curve = Curve::of(&event, 1e-6).unwrap();
    assert!(curve.ratio(1e-12).is_none() && curve.ratio(f64::NAN).is_none() && curve.ratio(1.0).is_none());
    assert!(curve.ratio(1e-6).is_some());
}
