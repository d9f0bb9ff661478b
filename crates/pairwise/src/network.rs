//! Scores of one hidden layer and scores of a function elsewhere, beside linear ones.
//!
//! s(x; w) = α·v·x + k·u·tanh(Wx/κ + b) with H hidden units, k = βκ/√H and α² + β² = 1, where κ bounds the rows. The linear term is not an
//! option: without it small tables lose what a linear score finds. At u = 0, where training starts, the gradient of a score is at most
//! κ long, as that of a linear one is; where it grows beyond, it is scaled down to κ, record by record.
//!
//! |s| ≤ ακ‖v‖ + k‖u‖₁ ≤ κ‖(v, u)‖, so that margins are bounded by the norm of v and u alone, which are the first parameters: W and b may be
//! anywhere.

use crate::ProblemError;
use crate::problem::within_range;
use serde::{Deserialize, Serialize};

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// w·x.
    #[default]
    Linear,
    /// One hidden layer.
    Network(Network),
    /// A function that is not part of this code.
    Foreign(Foreign),
}

/// The public form of a score that code elsewhere computes, and of which nothing is known but what that code is to keep: the gradient of each
/// record's score is scaled down to a bound. What follows from it is `proofs/foreign_scores.md`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Foreign {
    /// p: how many there are.
    pub parameters: usize,
    /// κ: the longest gradient of a record's score.
    pub bound: f64,
    /// The public seed of the start.
    pub seed: u64,
}

impl Foreign {
    /// Refuses numbers that are none.
    pub(crate) fn check(self) -> Result<Self, ProblemError> {
        if self.parameters == 0 || self.parameters > MOST {
            let (what, range) = ("number of parameters of a score", "between 1 and ten million");
            return Err(ProblemError::Range { what, range, value: self.parameters as f64 });
        }
        within_range("bound on gradients of a score", self.bound)?;
        Ok(self)
    }
}

/// What hidden units do with their input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// tanh.
    #[default]
    Tanh,
}

/// The public form of one hidden layer, and where it starts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// What hidden units do.
    pub activation: Activation,
    /// H: how many there are.
    pub hidden: usize,
    /// α: what the linear term has of the gradient at the start.
    pub linear: f64,
    /// Standard deviation of the entries of W at the start; b has half of it.
    pub spread: f64,
    /// The public seed of the start.
    pub seed: u64,
}

/// Parameters of W, or of a function elsewhere, beyond which nothing is trained.
const MOST: usize = 10_000_000;

impl Network {
    /// Refuses numbers that are none.
    pub(crate) fn check(self) -> Result<Self, ProblemError> {
        let refuse = |what, range, value| Err(ProblemError::Range { what, range, value });
        if self.hidden == 0 || self.hidden > MOST {
            let range = "between 1 and ten million";
            return refuse("number of hidden units", range, self.hidden as f64);
        }
        if !(self.linear > 0.0 && self.linear < 1.0) {
            return refuse("share of the linear term", "between 0 and 1", self.linear);
        }
        if !(self.spread >= 1e-6 && self.spread <= 1e6) {
            return refuse("spread of the first weights", "between 1e-6 and 1e6", self.spread);
        }
        Ok(self)
    }

    /// Whether W is small enough for rows of so many columns.
    pub fn fits(self, columns: usize) -> bool {
        self.hidden.saturating_mul(columns) <= MOST
    }

    /// Number of parameters: v, u, b and W, in this order; W unit by unit.
    pub fn parameters(self, columns: usize) -> usize {
        let each = columns.saturating_add(2);
        self.hidden.saturating_mul(each).saturating_add(columns)
    }

    /// Columns of rows that so many parameters are for.
    pub fn columns(self, parameters: usize) -> usize {
        parameters.saturating_sub(self.hidden.saturating_mul(2)) / (self.hidden + 1)
    }

    /// Where v, u, b and W begin and end.
    pub(crate) fn ends(self, columns: usize) -> [usize; 4] {
        let (v, h) = (columns, self.hidden);
        [v, v + h, v + 2 * h, v + 2 * h + h * columns]
    }

    /// α and k.
    pub fn scales(self, kappa: f64) -> (f64, f64) {
        let beta = (1.0 - self.linear * self.linear).sqrt();
        (self.linear, beta * kappa / (self.hidden as f64).sqrt())
    }

    /// How many of the first parameters scores grow with: v and u.
    pub fn growing(self, parameters: usize) -> usize {
        (self.columns(parameters) + self.hidden).min(parameters)
    }
}

impl Score {
    /// The parameters that scores grow with: a bound on scores follows from their norm.
    pub fn growing(self, parameters: &[f64]) -> &[f64] {
        match self {
            Self::Linear => parameters,
            Self::Network(network) => &parameters[..network.growing(parameters.len())],
            // Scores are cut off at one place, wherever parameters are.
            Self::Foreign(_) => &[],
        }
    }

    /// Whether it is w·x.
    pub fn is_linear(self) -> bool {
        self == Self::Linear
    }
}
