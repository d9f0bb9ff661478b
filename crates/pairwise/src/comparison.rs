//! Which terms a risk adds up, and with what sign.
//!
//! A gradient of a risk has one form: scores s of records, *charges* that say how strongly each record pulls, which a comparison
//! makes of slopes of a loss, and the pull-back of charges through the gradient of the score. So how far one record can move it
//! follows from three facts, put together in `constants`: how long the gradient of a score is ([`Linear`]), which
//! terms a record is in (here), and how steep the loss is within the margins that can be reached. Kernels follow the same
//! order: scores, charges, weighted rows.

use crate::{Objective, RankingForm};

/// Scores that are linear in the parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Linear {
    /// κ: the largest norm of a record's features.
    pub(crate) feature_bound: f64,
}

impl Linear {
    /// The largest norm of the gradient of one record's score.
    pub(crate) fn gradient_bound(self) -> f64 {
        self.feature_bound
    }
}

/// Which terms count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// Every positive record over every negative one, once.
    OverNegative,
    /// The same in both orders, at twice the margin.
    BothOrders,
    /// Every record with an event over every one that was still to be seen then, once.
    Earlier,
    /// The distance of every two records, in both orders; matrices of parameters are a kind of their own.
    Distances,
    /// Every record alone.
    Alone,
}

impl Comparison {
    pub(crate) fn of(objective: Objective) -> Self {
        match objective {
            Objective::Ranking { form: RankingForm::Indicator, .. } => Self::OverNegative,
            Objective::Ranking { form: RankingForm::Symmetric, .. } => Self::BothOrders,
            Objective::Ranking { form: RankingForm::Comparable, .. } => Self::Earlier,
            Objective::Metric { .. } => Self::Distances,
            Objective::Pointwise { .. } => Self::Alone,
        }
    }

    /// The longest vector that a slope multiplies.
    pub(crate) fn length(self, score: Linear) -> f64 {
        let bound = score.gradient_bound();
        match self {
            Self::OverNegative | Self::Earlier => 2.0 * bound,
            Self::BothOrders => 4.0 * bound,
            Self::Distances => 4.0 * bound * bound,
            Self::Alone => bound,
        }
    }

    /// In how many of its two orders a pair counts.
    pub(crate) fn orders(self) -> f64 {
        match self {
            Self::OverNegative | Self::Earlier | Self::Alone => 1.0,
            Self::BothOrders | Self::Distances => 2.0,
        }
    }

    /// The largest share of all terms that count at once: at most n₊n₋ ≤ n²/4 of all ordered pairs, once or twice, or one order of
    /// each. `over` is n² over the number of those.
    pub(crate) fn active_share(self, over: f64) -> f64 {
        match self {
            Self::OverNegative => over / 4.0,
            Self::BothOrders => over / 2.0,
            Self::Earlier => 0.5,
            Self::Distances | Self::Alone => 1.0,
        }
    }
}
