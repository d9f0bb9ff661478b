//! The public facts of a model file, and the relations that every kind of release has.

use crate::algorithms::{learns_from_times, needs_pairs, perturbs_output};
use crate::constants::{self, Constants, constants, is_semidefinite, radius};
use crate::losses::{is_lipschitz, needs_tree};
use crate::relations::{Relation, TOLERANCE, close, covers, require};
use crate::{Family, former, moments, probabilities, provenance, ranges, stages};
use pairdp_accountant::quadrature::gaussian_delta;
use pairdp_certificate::{
    Algorithm, Certificate, Condition, Domain, FORMAT, FORMER, Labels, MetricLoss, ModelDocument, Neighbours,
    NoiseKind, Objective, PerPerson, PointLoss, Problem, RandomFeatures, RankingForm, Released, Score, Stage,
    Task,
};
use pairdp_units::{Adjacency, Budget};

/// δ of Gaussian noise is integrated to about nine digits.
const DELTA_TOLERANCE: f64 = 1e-7;

pub(crate) const COMPOSITION: &str = "δ(ε; √(Σ stages m² + T·m²)) + δ_s = δ for Gaussian noise, integrated numerically; Σ stages m + T·m = ε and δ_s ≤ δ for other noise";

/// A model file, taken apart.
pub(crate) struct Facts<'a> {
    pub(crate) document: &'a ModelDocument,
    pub(crate) certificate: &'a Certificate,
    pub(crate) problem: &'a Problem,
    pub(crate) family: &'static Family,
    /// A noise that is not known fails the vocabulary; the rest is examined as if it were Gaussian.
    pub(crate) noise: NoiseKind,
}

impl<'a> Facts<'a> {
    pub(crate) fn of(document: &'a ModelDocument) -> Self {
        let certificate = &document.certificate;
        let noise = NoiseKind::from_name(&certificate.noise).unwrap_or(NoiseKind::Gaussian);
        let family = Family::of(&certificate.released);
        Self { document, certificate, problem: &certificate.problem, family, noise }
    }

    /// The relations of all kinds.
    pub(crate) fn relations(&self) -> Vec<Relation> {
        vec![
            ("vocabulary", "format, adjacency, algorithm and noise are known and fit", self.vocabulary()),
            (
                "version",
                "no known fault of the version that wrote it affects this certificate",
                former::check(self.certificate),
            ),
            ("claim", "ε is finite and above 0, δ in (0, 1), or 0 for Laplace noise", self.claim()),
            ("sizes", "n ≥ 2; parameters, encoded features and released coordinates agree", self.sizes()),
            (
                "feature bound",
                "κ = the model's bound, or √(bound² + constant²) with a constant",
                self.feature_bound(),
            ),
            (
                "ranges",
                "noisy counts, if there are any: one set for each numeric column, Δ = √(2·columns), σ = Δ/(m − rounding); ranges end where bins do",
                ranges::check(self),
            ),
            ("stages", stages::RELATION, stages::check(self)),
            ("probabilities", probabilities::RELATION, probabilities::check(self)),
            ("provenance", provenance::RELATION, provenance::check(self)),
            ("score bound", "the largest score is κB", self.score_bound()),
            ("model", "‖w‖ ≤ B", self.model_norm()),
            ("plan", "the plan that trained is the one that was certified", self.plan()),
            (
                "lattice",
                "the grid on which noise is drawn is as fine as fits, between 16 and 30 bits",
                self.lattice(),
            ),
            ("sampler", "δ_s = (1 + e^ε)·2⁻¹⁰⁰ for each approximate sample", self.sampler()),
        ]
    }

    pub(crate) fn n(&self) -> f64 {
        self.certificate.records as f64
    }

    pub(crate) fn features(&self) -> f64 {
        self.certificate.features as f64
    }

    /// B.
    pub(crate) fn radius(&self) -> f64 {
        radius(self.problem.domain)
    }

    /// The constants over all parameters.
    pub(crate) fn over_domain(&self) -> Constants {
        constants(self.problem, self.radius())
    }

    pub(crate) fn is_pointwise(&self) -> bool {
        matches!(self.problem.objective, Objective::Pointwise { .. })
    }

    /// What an ℓ2 distance of 1 is, at most, in the norm of the noise: ℓ1 for Laplace noise, √p.
    pub(crate) fn norm_factor(&self) -> f64 {
        if self.noise == NoiseKind::Laplace { (self.certificate.parameters as f64).sqrt() } else { 1.0 }
    }

    /// What rounding to the lattice adds to a ratio: a step and 2⁻⁷ in each coordinate.
    pub(crate) fn lattice_rounding(&self) -> f64 {
        let step = (1.0 + 2.0_f64.powi(-7)) * (-f64::from(self.certificate.lattice_bits)).exp2();
        self.norm_factor() * (self.certificate.parameters as f64).sqrt() * step
    }

    /// The scale of noise that hides an ℓ2 distance at a ratio.
    pub(crate) fn noise_scale(&self, distance: f64, ratio: f64) -> f64 {
        self.norm_factor() * distance / (ratio - self.lattice_rounding())
    }

    /// What T releases of a ratio cost.
    pub(crate) fn composition(&self, steps: u32, ratio: f64) -> Result<(), String> {
        let (claim, sampler) = (&self.certificate.claim, self.certificate.sampler_delta);
        if self.noise == NoiseKind::Gaussian {
            let before = self.certificate.ranges.map_or(0.0, |ranges| ranges.ratio.powi(2))
                + self.certificate.stages.iter().map(|stage| stage.noise().ratio.powi(2)).sum::<f64>();
            let total = (before + ratio * ratio * f64::from(steps)).sqrt();
            let delta = gaussian_delta(claim.epsilon, total).map_err(|error| error.to_string())?;
            return close("δ", claim.delta, delta + sampler, DELTA_TOLERANCE);
        }
        require(claim.delta >= sampler, || format!("δ is {:e}, the samplers cost {sampler:e}", claim.delta))?;
        let before: f64 = self.certificate.stages.iter().map(|stage| stage.noise().ratio).sum();
        covers("ε", claim.epsilon, before + ratio * f64::from(steps), TOLERANCE)
    }

    pub(crate) fn check_kernel(&self, found: &str) -> Result<(), String> {
        let expected = constants::kernel(self.problem);
        require(found == expected, || format!("`{found}` is not `{expected}`"))
    }

    fn vocabulary(&self) -> Result<(), String> {
        let (certificate, problem) = (self.certificate, self.problem);
        let former = certificate.format == FORMER;
        require(former || certificate.format == FORMAT, || {
            format!("`{}` is neither `{FORMAT}` nor `{FORMER}`", certificate.format)
        })?;
        let adjacency = match problem.adjacency() {
            Adjacency::ReplaceFeatures if former => Adjacency::ReplaceOne,
            adjacency => adjacency,
        };
        let found = &certificate.claim.adjacency;
        require(found == adjacency.name(), || format!("`{found}` is not `{adjacency}`"))?;
        require(NoiseKind::from_name(&certificate.noise).is_some(), || {
            format!("`{}` is no noise that is known", certificate.noise)
        })?;
        let fits = (self.family.is_of)(certificate.algorithm);
        require(fits, || format!("`{}` does not release this", certificate.algorithm))?;
        self.proved()
    }

    /// What no proof covers, whatever the numbers.
    fn proved(&self) -> Result<(), String> {
        let (algorithm, problem) = (self.certificate.algorithm, self.problem);
        let metric = matches!(problem.objective, Objective::Metric { .. });
        require(metric || !is_semidefinite(problem.domain), || "only metrics are matrices".into())?;
        let steeper_and_steeper = match problem.objective {
            Objective::Ranking { loss, .. } | Objective::Pointwise { loss: PointLoss::Margin(loss) } => {
                !is_lipschitz(loss)
            }
            Objective::Pointwise { loss: PointLoss::Residual { .. } } => true,
            Objective::Metric { .. } => false,
        };
        require(!(steeper_and_steeper && problem.domain == Domain::Whole), || {
            "this loss has no Lipschitz constant on the whole space".into()
        })?;
        require(!(needs_pairs(algorithm) && self.is_pointwise()), || {
            format!("`{algorithm}` learns from pairs")
        })?;
        require(!(algorithm == Algorithm::Moments && metric), || "moments are not of pairs".into())?;
        if let Objective::Ranking { form: RankingForm::Comparable, .. } = problem.objective {
            require(learns_from_times(algorithm) && problem.labels == Labels::Private, || {
                format!("no proof for {algorithm} over times")
            })?;
        }
        if !problem.score.is_linear() {
            require(algorithm == Algorithm::NoisyGd && !metric && !problem.weighs(), || {
                format!("no proof for a network under {algorithm}")
            })?;
            require(self.certificate.format == FORMAT, || "this format knows no networks".into())?;
        }
        self.foreign()?;
        self.persons()?;
        let most = match problem.neighbours {
            Neighbours::ReplaceOne => return Ok(()),
            Neighbours::AddRemoveOne { most } | Neighbours::AddRemovePromised { most } => most,
        };
        let whole_table = matches!(algorithm, Algorithm::NoisyGd | Algorithm::Moments);
        let jumps = problem.objective == (Objective::Metric { loss: MetricLoss::Hinge });
        require(most == self.certificate.records && whole_table && !jumps, || {
            format!("no proof for {algorithm} with up to {most} records")
        })?;
        require(problem.labels == Labels::Private, || "labels that are public have a public number".into())
    }

    /// What is proved for scores of foreign code: `proofs/foreign_scores.md`. Its name and hash are stated where there is such code, and nowhere else.
    fn foreign(&self) -> Result<(), String> {
        let (problem, condition) = (self.problem, &self.certificate.condition);
        let foreign = matches!(problem.score, Score::Foreign(_));
        let stated = match condition {
            Some(condition) => foreign && condition.rests_on == Condition::RESTS_ON,
            None => !foreign,
        };
        require(stated, || "a foreign score has its condition, and no other claim has one".into())?;
        let in_time = matches!(problem.objective, Objective::Ranking { form: RankingForm::Comparable, .. });
        let proved = problem.neighbours == Neighbours::ReplaceOne && problem.per_person.is_none() && !in_time;
        require(!foreign || proved && problem.domain == Domain::Whole, || {
            "no proof for a foreign score of such records".into()
        })
    }

    /// What is proved for persons with several records: `proofs/persons.md`.
    fn persons(&self) -> Result<(), String> {
        let (algorithm, problem) = (self.certificate.algorithm, self.problem);
        let Some(per_person) = problem.per_person else { return Ok(()) };
        require(self.certificate.format == FORMAT, || "this format knows no persons".into())?;
        require(problem.labels == Labels::Private, || "a person's number of labels is secret".into())?;
        let promised = matches!(problem.neighbours, Neighbours::AddRemovePromised { .. });
        require(!promised, || "no proof for a promised number of persons".into())?;
        let whole_table = matches!(algorithm, Algorithm::NoisyGd | Algorithm::Moments | Algorithm::OutputGd);
        let exact_sums = match problem.objective {
            // Pairs in the order of time are summed in floating point; moments need none.
            Objective::Ranking { form: RankingForm::Comparable, .. } => algorithm == Algorithm::Moments,
            Objective::Ranking { loss, .. } => !needs_tree(loss),
            Objective::Pointwise { .. } => true,
            Objective::Metric { .. } => false,
        };
        require(per_person == PerPerson::One || whole_table && exact_sums, || {
            format!("no proof for {algorithm} with all records of a person")
        })
    }

    fn claim(&self) -> Result<(), String> {
        let claim = &self.certificate.claim;
        let budget = Budget::new(claim.epsilon, claim.delta).map_err(|error| error.to_string())?;
        require(budget.delta.get() > 0.0 || self.noise == NoiseKind::Laplace, || {
            "this noise never gives δ = 0".into()
        })
    }

    fn sizes(&self) -> Result<(), String> {
        let (certificate, predictor) = (self.certificate, &self.document.predictor);
        require(certificate.records >= 2, || format!("n = {}", certificate.records))?;
        let (weights, encoded, d) = (predictor.parameters.len(), self.row_length(), certificate.features);
        let half = d.saturating_mul(d.saturating_add(1)) / 2;
        let (shape, released) = match (&certificate.released, self.problem.objective) {
            (Released::Moments { weights, .. }, _) => {
                (d, moments::coordinates(*weights, d).unwrap_or(usize::MAX))
            }
            (_, Objective::Metric { .. }) => {
                let diagonal = matches!(self.problem.domain, Domain::PsdDiagonal { .. });
                (d.saturating_mul(d), if diagonal { d } else { half })
            }
            _ => match self.problem.score {
                Score::Linear => (d, d),
                Score::Foreign(foreign) => (foreign.parameters, foreign.parameters),
                Score::Network(network) => {
                    let p = d.saturating_add(network.hidden.saturating_mul(d.saturating_add(2)));
                    (p, p)
                }
            },
        };
        require(predictor.score == self.problem.score, || "the model scores rows in another way".into())?;
        // Moments are of features alone, and give the intercept beside the weights.
        let constant = usize::from(predictor.constant != 0.0);
        let beside = certificate.algorithm == Algorithm::Moments;
        let columns = encoded + if beside { 0 } else { constant };
        let expected = shape.saturating_add(if beside { constant } else { 0 });
        let agree = columns == d && weights == expected && certificate.parameters == released;
        let task = match self.problem.objective {
            Objective::Ranking { form: RankingForm::Comparable, .. } => Task::Survival,
            Objective::Ranking { .. } => Task::Ranking,
            Objective::Metric { .. } => Task::Metric,
            Objective::Pointwise { loss: PointLoss::Margin(_) } => Task::Classification,
            Objective::Pointwise { loss: PointLoss::Residual { .. } } => Task::Regression,
        };
        // A loss of records that a classifier minimises ranks, too.
        let same_task =
            predictor.task == task || (predictor.task, task) == (Task::Ranking, Task::Classification);
        require(agree && same_task, || {
            format!("{weights} weights, {encoded} encoded features, {} released", certificate.parameters)
        })?;
        self.times()
    }

    /// What is learned from times needs the noise for times, and says so: no other file has them for a label.
    fn times(&self) -> Result<(), String> {
        let in_time =
            matches!(self.problem.objective, Objective::Ranking { form: RankingForm::Comparable, .. });
        require(!in_time || self.certificate.format == FORMAT, || "this format knows no times".into())?;
        let Some(label) = &self.document.predictor.label else { return Ok(()) };
        let stated = [
            label.time.is_some(),
            label.event.is_some(),
            label.occurred.is_some(),
            label.censored.is_some(),
            label.horizon.is_some_and(|horizon| horizon.is_finite() && horizon > 0.0),
            label.column.is_none(),
        ];
        let agree =
            if in_time { stated == [true; 6] } else { stated == [false; 6] && label.horizon.is_none() };
        require(agree, || "the label is of another task".into())
    }

    /// Length of the vector that a row becomes, without a constant.
    fn row_length(&self) -> usize {
        let predictor = &self.document.predictor;
        let row = match &predictor.representation {
            Some(released) if stages::maps_rows(released) => stages::mapped(&predictor.encoding),
            _ => predictor.encoding.dimension(),
        };
        // Waves of the row alone, along directions that a public seed gives, within the same bound: `proofs/networks.md`.
        row.saturating_add(predictor.random_features.map_or(0, RandomFeatures::count))
    }

    fn feature_bound(&self) -> Result<(), String> {
        let (bound, constant) = (self.document.predictor.feature_bound, self.document.predictor.constant);
        let kappa = self.problem.feature_bound;
        if constant == 0.0 || self.certificate.algorithm == Algorithm::Moments {
            return close("κ", bound, kappa, 0.0);
        }
        covers("κ", kappa, bound.hypot(constant), TOLERANCE)
    }

    fn score_bound(&self) -> Result<(), String> {
        let expected = self.problem.feature_bound * self.radius();
        match self.certificate.score_bound {
            Some(found) => close("κB", found, expected, TOLERANCE),
            None => require(expected.is_infinite(), || "a bounded domain has a largest score".into()),
        }
    }

    fn model_norm(&self) -> Result<(), String> {
        // A network's domain is about what scores grow with: v and u.
        let growing = match self.problem.score {
            Score::Linear => usize::MAX,
            Score::Foreign(_) => 0,
            Score::Network(network) => self.certificate.features.saturating_add(network.hidden),
        };
        let weights = self.document.predictor.parameters.iter().take(growing);
        let norm = weights.map(|w| w * w).sum::<f64>().sqrt();
        let radius = self.radius();
        require(norm <= radius * (1.0 + TOLERANCE), || format!("‖w‖ is {norm:e}, B is {radius:e}"))
    }

    fn plan(&self) -> Result<(), String> {
        let (certificate, plan) = (self.certificate, &self.document.training);
        // Between neighbours a ridge cancels; only results of descents rest on it.
        let ridge = if perturbs_output(certificate.algorithm) { self.document.ridge } else { 0.0 };
        let agrees = (self.family.fits_plan)(self, plan)
            && plan.algorithm == certificate.algorithm
            && plan.law.name() == certificate.noise
            && plan.tighten.map(|tighten| tighten.columns) == certificate.ranges.map(|ranges| ranges.columns)
            && ridge.to_bits() == self.problem.ridge.to_bits();
        require(agrees, || format!("the model says {} in {} steps", plan.algorithm, plan.steps))
    }

    /// The largest query in units of σ decides how fine the lattice is: |q/σ|·2^bits ≤ 2⁴⁶.
    fn lattice(&self) -> Result<(), String> {
        let (reach, slack) = ((self.family.reach)(self)?, self.family.slack);
        let bits =
            |factor: f64| (16..=30_u32).rev().find(|bits| reach * factor <= f64::from(46 - bits).exp2());
        let found = self.certificate.lattice_bits;
        require([bits(1.0 + slack), bits(1.0 - slack)].contains(&Some(found)), || {
            format!("{found} bits for queries up to {reach:e} σ")
        })
    }

    fn sampler(&self) -> Result<(), String> {
        let p = self.certificate.parameters as f64;
        let each = match self.noise {
            NoiseKind::Gaussian => p,
            NoiseKind::Laplace => 0.0,
            NoiseKind::Euclidean => 2.0 * p + 2.0,
        };
        let samples = (self.family.samples)(self, each);
        let before: usize = self.certificate.stages.iter().map(Stage::coordinates).sum();
        let before = if self.noise == NoiseKind::Gaussian { before as f64 } else { 0.0 };
        let counts =
            before + self.certificate.ranges.map_or(0.0, |ranges| ranges.columns as f64 * ranges.bins as f64);
        let expected = (1.0 + self.certificate.claim.epsilon.exp()) * (samples + counts) * 2.0_f64.powi(-100);
        close("δ_s", self.certificate.sampler_delta, expected, TOLERANCE)
    }
}
