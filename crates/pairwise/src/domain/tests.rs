use super::*;
use proptest::prelude::*;

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}

fn trace(matrix: &[f64], d: usize) -> f64 {
    (0..d).map(|i| matrix[i * d + i]).sum()
}

/// A random member of a matrix domain: AAᵀ, scaled to fit.
fn member(domain: Domain, a: &[f64], d: usize, share: f64) -> Vec<f64> {
    let mut m = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            m[i * d + j] = (0..d).map(|k| a[i * d + k] * a[j * d + k]).sum();
        }
    }
    if let Domain::PsdDiagonal { .. } = domain {
        for (k, value) in m.iter_mut().enumerate() {
            *value = if k % (d + 1) == 0 { value.abs() } else { 0.0 };
        }
    }
    let size = match domain {
        Domain::PsdNuclear { .. } => trace(&m, d),
        _ => norm_up(&m),
    };
    m.iter().map(|v| v * share * domain.radius() / (size + 1e-300)).collect()
}

proptest! {
    /// The variational inequality ⟨p − P(p), z − P(p)⟩ ≤ 0 for all z of the domain characterises the projection.
    #[test]
    fn projection_is_the_nearest_point(
        point in proptest::collection::vec(-3.0..3.0_f64, 9),
        a in proptest::collection::vec(-1.0..1.0_f64, 9),
        share in 0.0..1.0_f64,
        radius in 0.1..4.0_f64,
    ) {
        for domain in [Domain::PsdBall { radius }, Domain::PsdDiagonal { radius }, Domain::PsdNuclear { radius }, Domain::Ball { radius }, Domain::Whole] {
            let mut point = point.clone();
            if domain.is_psd() {
                // The antisymmetric part is orthogonal to every symmetric matrix.
                for i in 0..3 { for j in 0..i { point[i * 3 + j] = point[j * 3 + i]; } }
            }
            let mut projected = point.clone();
            domain.project(&mut projected);
            let z = if domain == Domain::Whole { a.clone() } else { member(domain, &a, 3, share) };
            let product: f64 = (0..9).map(|k| (point[k] - projected[k]) * (z[k] - projected[k])).sum();
            prop_assert!(product <= 1e-9, "{domain:?}: {product}");
            let again = { let mut p = projected.clone(); domain.project(&mut p); p };
            prop_assert!(distance(&again, &projected) < 1e-9);
            prop_assert!(norm_up(&projected) <= domain.radius() * (1.0 + 1e-9));
            if let Domain::PsdNuclear { radius } = domain {
                prop_assert!(trace(&projected, 3) <= radius * (1.0 + 1e-9));
            }
        }
    }
}

#[test]
fn two_points_of_a_psd_domain_are_at_most_the_diameter_apart() {
    let radius = 1.5;
    for domain in [Domain::PsdBall { radius }, Domain::PsdDiagonal { radius }, Domain::PsdNuclear { radius }]
    {
        let (a, b) = ([radius, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, radius]);
        let reached = distance(&a, &b) / domain.diameter();
        assert!(reached <= 1.0 && reached > 0.999_999);
    }
}

#[test]
fn hostile_matrices_become_members() {
    let mut bad = vec![f64::NAN, 1.0, 1.0, f64::INFINITY];
    Domain::PsdBall { radius: 1.0 }.project(&mut bad);
    assert!(bad.iter().all(|v| v.is_finite()));
}

#[test]
fn norm_is_rounded_up_and_zero_only_at_zero() {
    assert_eq!(norm_up(&[0.0, -0.0]).to_bits(), 0);
    assert!(norm_up(&[1e-200, 0.0]) > 1e-200);
    assert!(norm_up(&[3.0, 4.0]) > 5.0 && norm_up(&[3.0, 4.0]) < 5.0 + 1e-13);
    assert!(norm_up(&[f64::NAN]).is_nan());
}

#[test]
fn mapped_points_are_as_far_apart_as_the_metric_says() {
    let metric = [2.0, 0.5, 0.5, 1.0];
    let map = metric_map(&metric);
    let (x, y): ([f64; 2], [f64; 2]) = ([0.3, -0.8], [-0.4, 0.1]);
    let to = |p: [f64; 2]| [map[0] * p[0] + map[1] * p[1], map[2] * p[0] + map[3] * p[1]];
    let (a, b) = (to(x), to(y));
    let found = (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
    let v = [x[0] - y[0], x[1] - y[1]];
    let expected = 2.0 * v[0] * v[0] + v[0] * v[1] + v[1] * v[1];
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    assert!(metric_map(&[-1.0, 0.0, 0.0, 4.0]).iter().map(|v| v * v).sum::<f64>() - 4.0 < 1e-12);
}
