//! What models are for.

use pairdp_data::LabelKind;
use pairdp_pairwise::{Objective, PointLoss, Problem, RankingForm};
use serde::{Deserialize, Serialize};

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// A score that puts positive records before negative ones.
    Ranking,
    /// A Mahalanobis metric under which records of one class are near.
    Metric,
    /// A score whose sign is the class.
    Classification,
    /// A score that is near a target.
    Regression,
    /// A score that puts whoever fails first before whoever fails later.
    Survival,
}

impl Task {
    /// What a problem is about.
    pub fn of(problem: Problem) -> Self {
        match problem.objective() {
            Objective::Ranking { form: RankingForm::Comparable, .. } => Self::Survival,
            Objective::Ranking { .. } => Self::Ranking,
            Objective::Metric { .. } => Self::Metric,
            Objective::Pointwise { loss: PointLoss::Margin(_) } => Self::Classification,
            Objective::Pointwise { loss: PointLoss::Residual { .. } } => Self::Regression,
        }
    }

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ranking => "ranking",
            Self::Metric => "metric",
            Self::Classification => "classification",
            Self::Regression => "regression",
            Self::Survival => "survival",
        }
    }

    /// Whether it can be learned from such a label; if not, what a schema has to say instead.
    ///
    /// # Errors
    /// The keys that a schema needs.
    pub fn check_label(self, kind: &LabelKind) -> Result<(), &'static str> {
        let (fits, wanted) = match self {
            Self::Ranking | Self::Classification => {
                let fits = matches!(kind, LabelKind::Binary { .. } | LabelKind::OneAgainstOthers { .. });
                (fits, "`positive` and `negative`")
            }
            Self::Metric => (
                matches!(kind, LabelKind::Binary { .. } | LabelKind::Classes(_)),
                "`classes`, or `positive` and `negative`",
            ),
            Self::Regression => (matches!(kind, LabelKind::Range(_)), "`range`"),
            Self::Survival => {
                (matches!(kind, LabelKind::Times(_)), "`time`, `event`, `occurred`, `censored` and `horizon`")
            }
        };
        if fits { Ok(()) } else { Err(wanted) }
    }
}
