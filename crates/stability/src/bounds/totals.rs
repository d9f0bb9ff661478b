//! Excess population risk of the papers' algorithms: everything added up.

use super::{Setting, above, generalisation, optimisation, stability};
use crate::error::StabilityError;
use std::f64::consts::E;

/// Noise on iterates: dimensions and σ per coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// d.
    pub dimension: f64,
    /// σ.
    pub sigma: f64,
}

impl Noise {
    fn energy(self) -> f64 {
        self.dimension * self.sigma * self.sigma
    }
}

/// Arguments of [`yang`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Yang {
    /// Diameter of the domain.
    pub diameter: f64,
    /// sup of the loss at the start.
    pub largest_loss: f64,
    /// The mean over steps of the Rademacher terms R_t, at most 4κD/√T for AUC on a ball with a 1-Lipschitz slope.
    pub mean_complexity: f64,
    /// γ.
    pub failure: f64,
    /// Output noise, none for the non-private bound.
    pub noise: Option<Noise>,
}

/// History SGD with probability 1 − γ, the sum of 4·mean R_t + D²/(2Tη) + ηG²/2 + c₂√(ln(6T/γ)/n) and of
/// c₁η⌈ln n⌉(√T + √3·T ln(eT) ln(6/γ)/n) + 2Gσ√d·ln^{1/4}(4/γ), c₁ = 100√6·e^{3/2}·G·max{1, G}·ln(6e/γ),
/// c₂ = (6 + 19e)(M + GD).
///
/// # Reference
/// Yang, Lei, Lyu and Ying (2021), Theorems 2 and 5, whose last term has its √3 misplaced.
pub fn yang(setting: &Setting, extra: &Yang) -> f64 {
    let (g, eta, t, n) = (setting.lipschitz(), setting.rate(), setting.steps(), setting.records());
    let first = 100.0
        * 6.0_f64.sqrt()
        * E.powf(1.5)
        * g
        * pairdp_units::directed::larger(1.0, g)
        * (6.0 * E / extra.failure).ln();
    let second = (6.0 + 19.0 * E) * (extra.largest_loss + g * extra.diameter);
    let paths = t.sqrt() + 3.0_f64.sqrt() * t * (1.0 + t.ln()) * (6.0 / extra.failure).ln() / n;
    let noise = extra.noise.map_or(0.0, |noise| {
        2.0 * g * noise.sigma * noise.dimension.sqrt() * (4.0 / extra.failure).ln().sqrt().sqrt()
    });
    above(
        4.0 * extra.mean_complexity
            + extra.diameter * extra.diameter / (2.0 * t * eta)
            + 0.5 * eta * g * g
            + second * ((6.0 * t / extra.failure).ln() / n).sqrt()
            + first * eta * n.ln().ceil() * paths
            + noise,
    )
}

/// Arguments of [`wang`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wang {
    /// L.
    pub smoothness: f64,
    /// ‖w*‖.
    pub minimiser_norm: f64,
    /// F(w*), the least population risk.
    pub least_risk: f64,
    /// Noise on each step.
    pub noise: Noise,
    /// Pairwise (Algorithm 2) or pointwise (Algorithm 1).
    pub pairwise: bool,
}

/// Noisy SGD, smooth losses, expected, minimised over k in closed form.
///
/// A = 2η‖w*‖² + T(6η³dσ² + 4η²F*), opt = (‖w*‖²/2 + (3L/2)A + 3Tη²dσ²)/(ηT), Q = F* + opt and ν from
/// [`stability::on_average_smooth`] give Q − F* + (L/k)Q + 2(L + k)ν pairwise, (L + k)ν/2 pointwise.
///
/// # Reference
/// Wang et al. (2024), Theorems 3 and 6 with explicit constants. The printed step size condition η ≤ 2/L is not enough
/// for their Theorem 16(a); 1/(2L) is and is enforced.
///
/// # Errors
/// [`StabilityError::StepTooLong`] for η > 1/(2L).
pub fn wang(s: &Setting, w: &Wang) -> Result<f64, StabilityError> {
    let (eta, t, l) = (s.rate(), s.steps(), w.smoothness);
    let limit = 0.5 / l;
    if eta.is_nan() || limit.is_nan() || eta > limit {
        return Err(StabilityError::StepTooLong { rate: eta, limit });
    }
    let (norm, noise) = (w.minimiser_norm * w.minimiser_norm, w.noise.energy());
    let weighted = 2.0 * eta * norm + t * (6.0 * eta.powi(3) * noise + 4.0 * eta * eta * w.least_risk);
    let optimisation = (0.5 * norm + 1.5 * l * weighted + 3.0 * t * eta * eta * noise) / (eta * t);
    let nu = stability::on_average_smooth(s, l, weighted, w.pairwise);
    let gap = generalisation::on_average_smooth(l, w.least_risk + optimisation, nu, w.pairwise);
    Ok(above(optimisation + gap))
}

/// Noisy pair SGD, smooth, average, by uniform stability: D₀²/(2ηT) + η(G² + dσ²)/2 + 2G·Dη(T−1)/n. Often smaller than
/// [`wang`]. `replaced` is D; η ≤ 2/L is the caller's to ensure.
pub fn noisy_pair_sgd(s: &Setting, start_distance: f64, replaced: f64, noise: Noise) -> f64 {
    let drift = replaced * s.rate() * (s.steps() - 1.0) / s.records();
    above(
        optimisation::average_descent(s, start_distance, noise.dimension, noise.sigma)
            + generalisation::pairwise_expected(s.lipschitz(), drift),
    )
}

/// Full-batch descent of a strongly convex risk with noise on the output: G·c^T·D₀ + 2GΔ + Ldσ²/2, c the contraction of
/// a step and Δ the sensitivity of the output.
///
/// # Reference
/// Xue, Yang, Huai and Wang (2021), Theorem 1; its printed noise term has an extra squared diameter.
pub fn xue_strongly_convex(
    s: &Setting,
    contraction: f64,
    start_distance: f64,
    sensitivity: f64,
    smoothness: f64,
    noise: Noise,
) -> f64 {
    let remaining = s.lipschitz() * contraction.powf(s.steps()) * start_distance;
    pairdp_units::directed::up_by(
        remaining
            + generalisation::pairwise_expected(s.lipschitz(), sensitivity)
            + optimisation::output_gaussian_smooth(smoothness, noise.dimension, noise.sigma),
        4.0 * s.steps() + 64.0,
    )
}

/// Noisy full-batch descent, average: D₀²/(2ηT) + η(G² + dσ²)/2 + 2G·D_sym ηT/(2n).
///
/// # Reference
/// Xue et al. (2021), Theorem 2, with the step size the right way up.
pub fn xue_noisy(s: &Setting, start_distance: f64, both_orders: f64, noise: Noise) -> f64 {
    let drift = both_orders * s.rate() * s.steps() / (2.0 * s.records());
    above(
        optimisation::average_descent(s, start_distance, noise.dimension, noise.sigma)
            + generalisation::pairwise_expected(s.lipschitz(), drift),
    )
}

/// One phase of [`xue_phased`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseOutcome {
    /// η_i.
    pub rate: f64,
    /// Records, and steps, of the phase.
    pub n_records: usize,
    /// Sensitivity of its average.
    pub sensitivity: f64,
    /// E‖noise‖² on it.
    pub noise_energy: f64,
}

/// Phased descent: D₀²/(2η₁n₁) + Σ(η_i G²/2 + 2GΔ_i) + Σ_{i≥2} E‖noise_{i−1}‖²/(2η_i n_i) + G·E‖noise_last‖.
///
/// # Reference
/// Xue et al. (2021), Algorithm 3.
///
/// # Errors
/// No phases.
pub fn xue_phased(
    lipschitz: f64,
    start_distance: f64,
    phases: &[PhaseOutcome],
) -> Result<f64, StabilityError> {
    let mut total = 0.0;
    let mut gap = start_distance * start_distance;
    for phase in phases {
        total += gap / (2.0 * phase.rate * phase.n_records as f64);
        total += 0.5 * phase.rate * lipschitz * lipschitz + 2.0 * lipschitz * phase.sensitivity;
        gap = phase.noise_energy;
    }
    let last = phases.last().ok_or(StabilityError::TooFewSteps { given: 0, least: 1 })?;
    Ok(above(total + lipschitz * last.noise_energy.sqrt()))
}

/// Which stability [`kang`] is to rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KangForm {
    /// As printed: no convexity asked for, growth linear in T. Not a theorem: a function with one minimum and a
    /// Polyak–Łojasiewicz condition that is not convex grows faster.
    Printed,
    /// Convex losses: noise is the same in both runs, so only the drift remains.
    Convex,
    /// Losses that are not convex: T replaced by ((1 + ηL)^T − 1)/(ηL) with η = 1/L, which is 2^T − 1.
    NonConvex,
}

/// Arguments of [`kang`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kang {
    /// L.
    pub smoothness: f64,
    /// μ of the Polyak–Łojasiewicz condition.
    pub sharpness: f64,
    /// Excess empirical risk at the start.
    pub start_gap: f64,
    /// Noise on each step.
    pub noise: Noise,
}

/// Full-batch gradient perturbation with η = 1/L: 2G√b + 2Lb + (1 − μ/L)^T gap₀ + dσ²/(2μ), the first two terms being
/// inf_τ 2(τ + L)b + G²/(2τ), with b = 16G²T²/(L²n²) + dT²σ²/(2L²) + 4√2·√d·G·T²σ/(L²n), or its first term.
///
/// The step size of the setting is not used: the theorem fixes it.
///
/// # Reference
/// Kang et al., Theorem 2.
pub fn kang(setting: &Setting, extra: &Kang, form: KangForm) -> f64 {
    let (g, n, l) = (setting.lipschitz(), setting.records(), extra.smoothness);
    let t = match form {
        KangForm::Printed | KangForm::Convex => setting.steps(),
        KangForm::NonConvex => setting.steps().exp2() - 1.0,
    };
    let scale = t * t / (l * l);
    let drift = 16.0 * g * g / (n * n);
    let (dimension, sigma) = (extra.noise.dimension, extra.noise.sigma);
    let noisy = 0.5 * extra.noise.energy() + 4.0 * (2.0 * dimension).sqrt() * g * sigma / n;
    let bracket = scale
        * match form {
            KangForm::Convex => drift,
            KangForm::Printed | KangForm::NonConvex => drift + noisy,
        };
    above(
        2.0 * g * bracket.sqrt()
            + 2.0 * l * bracket
            + optimisation::polyak_lojasiewicz(
                extra.sharpness,
                l,
                setting.n_steps,
                extra.start_gap,
                dimension,
                sigma,
            ),
    )
}
