//! Entry 26: the pairwise influence function against models trained again.

use crate::{Draws, sigmoid};

const D: usize = 3;
const RIDGE: f64 = 0.1;

type Vector = [f64; D];

/// A x = b by elimination; A is positive definite.
fn solve(mut a: [Vector; D], mut b: Vector) -> Vector {
    for k in 0..D {
        for i in k + 1..D {
            let factor = a[i][k] / a[k][k];
            for j in k..D {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..D).rev() {
        for j in k + 1..D {
            b[k] -= a[k][j] * b[j];
        }
        b[k] /= a[k][k];
    }
    b
}

fn norm(v: Vector) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn minus(a: Vector, b: Vector) -> Vector {
    std::array::from_fn(|k| a[k] - b[k])
}

/// The records, as labels times features; a pair of different labels has the margin w·u, u = 2(xᵢ − xⱼ) towards the
/// positive one, once in each order.
struct Table {
    positive: Vec<bool>,
    features: Vec<Vector>,
}

impl Table {
    fn draw(n: usize) -> Self {
        let mut draws = Draws(7);
        let mut normal = || (0..12).map(|_| draws.next()).sum::<f64>() - 6.0;
        let features: Vec<Vector> =
            (0..n).map(|_| std::array::from_fn(|_| normal() / 3.0_f64.sqrt())).collect();
        let positive =
            features.iter().map(|x| x[0] - 0.5 * x[1] + 0.3 * x[2] + 0.5 * normal() > 0.0).collect();
        Self { positive, features }
    }

    /// The sums over ordered pairs that `keep` of gradients and Hessians of log(1 + e^{−w·u}).
    fn sums(&self, w: Vector, keep: impl Fn(usize, usize) -> bool) -> (Vector, [Vector; D]) {
        let (mut gradient, mut hessian) = ([0.0; D], [[0.0; D]; D]);
        for i in (0..self.features.len()).filter(|&i| self.positive[i]) {
            for j in (0..self.features.len()).filter(|&j| !self.positive[j] && keep(i, j)) {
                let u: Vector = std::array::from_fn(|k| 2.0 * (self.features[i][k] - self.features[j][k]));
                let p = sigmoid(-u.iter().zip(w).map(|(u, w)| u * w).sum::<f64>());
                for a in 0..D {
                    gradient[a] -= 2.0 * p * u[a];
                    for b in 0..D {
                        hessian[a][b] += 2.0 * p * (1.0 - p) * u[a] * u[b];
                    }
                }
            }
        }
        (gradient, hessian)
    }

    /// Gradient and Hessian of the sum over `keep`, divided by `divisor`, with a ridge beside it.
    fn risk(&self, w: Vector, divisor: f64, keep: impl Fn(usize, usize) -> bool) -> (Vector, [Vector; D]) {
        let (mut gradient, mut hessian) = self.sums(w, keep);
        for a in 0..D {
            gradient[a] = gradient[a] / divisor + RIDGE * w[a];
            for b in 0..D {
                hessian[a][b] = hessian[a][b] / divisor + if a == b { RIDGE } else { 0.0 };
            }
        }
        (gradient, hessian)
    }

    /// The minimiser, by Newton's method.
    fn train(&self, divisor: f64, keep: impl Fn(usize, usize) -> bool) -> Vector {
        let mut w = [0.0; D];
        for _ in 0..50 {
            let (gradient, hessian) = self.risk(w, divisor, &keep);
            let step = solve(hessian, gradient);
            w = minus(w, step);
            if norm(step) < 1e-13 {
                return w;
            }
        }
        unreachable!("Newton's method did not converge");
    }
}

/// Median relative errors over twelve records: (4) for the paper's definition, (4) for the model trained without the record
/// and the ridge beside the risk, the centred form for the latter, and (4) with the ridge in the loss for the same.
fn errors(n: usize) -> [f64; 4] {
    let table = Table::draw(n);
    let pairs = (n * (n - 1)) as f64;
    let w = table.train(pairs, |_, _| true);
    let (_, hessian) = table.risk(w, pairs, |_, _| true);
    let (total, _) = table.sums(w, |_, _| true);
    let mut found = [const { Vec::new() }; 4];
    for r in 0..12 {
        let without = |i, j| i != r && j != r;
        let (own, _) = table.sums(w, |i, j| !without(i, j));
        let printed = solve(hessian, own.map(|g| g / pairs));
        let rest = n as f64 - 2.0;
        let centred = std::array::from_fn(|k| (own[k] / (n as f64 - 1.0) - 2.0 * total[k] / pairs) / rest);
        let centred = solve(hessian, centred);
        let same_divisor = minus(table.train(pairs, without), w);
        let left_out = minus(table.train((n as f64 - 1.0) * rest, without), w);
        // With a share of the ridge in each pair's loss the divisor does not matter, and (4) has the ridge's gradients.
        let inside: Vector = std::array::from_fn(|k| own[k] / pairs + 2.0 / n as f64 * RIDGE * w[k]);
        let inside = solve(hessian, inside);
        let cases = [(printed, same_divisor), (printed, left_out), (centred, left_out), (inside, left_out)];
        for (errors, (guess, truth)) in found.iter_mut().zip(cases) {
            errors.push(norm(minus(guess, truth)) / norm(truth));
        }
    }
    found.map(|mut errors| {
        errors.sort_by(f64::total_cmp);
        0.5 * (errors[5] + errors[6])
    })
}

#[test]
fn erratum_26_the_influence_formula_is_for_an_unchanged_normaliser() {
    for (n, [same, left_out, centred, inside]) in
        [(40, ["0.047", "0.542", "0.019", "0.061"]), (160, ["0.011", "0.453", "0.005", "0.015"])]
    {
        let found = errors(n);
        finds!("26", format!("n = {n}: (4), same normaliser"), "{:.3}", found[0], same);
        finds!("26", format!("n = {n}: (4), trained without the record"), "{:.3}", found[1], left_out);
        finds!("26", format!("n = {n}: centred, trained without the record"), "{:.3}", found[2], centred);
        finds!("26", format!("n = {n}: (4), ridge inside the loss"), "{:.3}", found[3], inside);
    }
}
