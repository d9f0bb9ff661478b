"""The public facts of a model file, and the relations that every kind of release has."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from . import former, probabilities, provenance, ranges, stages
from .algorithms import HALVING, LEARN_FROM_TIMES, WHOLE_TABLE
from .constants import Constants, constants, score_parameters
from .losses import MARGINS
from .reading import Problem, fields, number, read_column, read_random_features
from .relations import EXCESS, MAXIMUM_EXCESS, Relations, covers, require

LAWS = {"rounded-gaussian/1": "gaussian", "discrete-laplace/1": "laplace", "rounded-euclidean/1": "euclidean"}
KERNELS = {"ranking": "charges/2", "metric": "tiles/2", "pointwise": "rows/2"}
WEIGHING = {"ranking": "charges/3", "pointwise": "rows/3"}
"""Kernels of persons with several records each."""
NETWORK = "network/1"
"""The kernel of scores with hidden units."""
FOREIGN = "foreign/1"
"""The kernel of scores that foreign code computes."""
COMPARABLE = "comparable/1"
"""The kernel of pairs of which it is known who failed first."""

RESTS_ON = (
    "the score of a row, and its gradient as scaled down to the stated bound, depend on that row, its place and the parameters "
    "alone, and sums of gradients are within the stated error"
)
"""What a claim rests on where foreign code scored records."""

PATIENCE = 600.0
"""Seconds to wait for an answer, unless told."""

LATTICE = "as many bits, 16 to 30, as keep the largest query below 2⁴⁶ lattice steps"
COMPOSITION = "δ_s + Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) = δ, μ² = Σ stages m² + T·m², for Gaussian noise; sums of m = ε for other noise"


class Facts:
    """A model file, taken apart; only its form is checked here."""

    def __init__(self, document: dict[str, Any], patience: float = PATIENCE) -> None:
        self.patience = patience
        keys = "format claim records features parameters problem score_bound algorithm noise lattice_bits"
        self.certificate = fields(
            document["certificate"],
            keys + " sampler_delta released",
            "ranges public_ranges stages condition provenance",
        )
        claim = fields(self.certificate["claim"], "epsilon delta adjacency")
        self.problem = Problem.read(self.certificate["problem"])
        self.former = self.certificate["format"] == "pairdp-certificate/2"
        for found, known in (
            (document["format"], ("pairdp-model/2",)),
            (self.certificate["format"], ("pairdp-certificate/2", "pairdp-certificate/3")),
            (claim["adjacency"], (self._adjacency(),)),
        ):
            require(found in known, f"{found} is not {' or '.join(known)}")
        self.epsilon, self.delta = number(claim["epsilon"]), number(claim["delta"])
        self.n, self.features = int(number(self.certificate["records"])), int(number(self.certificate["features"]))
        require(isinstance(self.certificate["parameters"], int), "a part of a coordinate")
        self.p = int(number(self.certificate["parameters"]))
        self.algorithm, self.law = self.certificate["algorithm"], LAWS[self.certificate["noise"]]
        self.bits = int(number(self.certificate["lattice_bits"]))
        self.sampler_delta = number(self.certificate["sampler_delta"])
        self.released = dict(self.certificate["released"])
        self.ranges = None
        if "ranges" in self.certificate:
            self.ranges = fields(self.certificate["ranges"], "columns bins sensitivity ratio lattice_bits sigma")
        self.stages = [stages.read(stage) for stage in self.certificate.get("stages", [])]
        keys = "task encoding feature_bound parameters"
        self.predictor = fields(
            document["predictor"], keys, "label constant representation probabilities random_features score"
        )
        self.constant = number(self.predictor.get("constant", 0.0))
        optional = "order expected_pairs constant_noise tighten momentum representation probabilities"
        self.plan = fields(document["training"], "algorithm steps step_size average law", optional)
        self.trained_ridge = number(document["ridge"])
        for weight in self.predictor["parameters"]:
            number(weight)
        averaged = self.plan["average"] in ("last", "second-half", "all")
        require(averaged and number(self.plan["step_size"]) > 0.0, "this is no plan")
        for column in fields(self.predictor["encoding"], "columns", "text")["columns"]:
            read_column(column)

    def relations(self) -> Relations:
        """Return the relations of all kinds."""
        return [
            (
                "version",
                "no known fault of the version that wrote it affects this certificate",
                lambda: former.check(self),
            ),
            ("claim", "ε > 0 and 0 < δ < 1, or δ = 0 for Laplace noise", self._claim),
            ("sizes", "n ≥ 2; features, parameters and released coordinates agree", self._sizes),
            (
                "bounds",
                "κ is the model's bound, or √(bound² + constant²), the largest score is κB, ‖w‖ ≤ B",
                self._bounds,
            ),
            (
                "ranges",
                "noisy counts, if any: a set for each numeric column, Δ = √(2·columns), σ = Δ/(m − rounding); edges of bins",
                lambda: ranges.check(self),
            ),
            (
                "stages",
                "the release of where columns lie, if any: of every column, Δ = √(2·numbers + ½·categories + 1), σ = (Δ + 2τ)/(m − rounding)",
                lambda: stages.check(self),
            ),
            (
                "probabilities",
                "counts of labels by cells of the score, if any: Δ = √2 (2 in ℓ1; 1 under a promised cap), σ = (Δ + 2τ)/(m − rounding)",
                lambda: probabilities.check(self),
            ),
            ("provenance", provenance.RELATION, lambda: provenance.check(self)),
            ("persons", "how the records of a person enter is proved for the algorithm and the loss", self._persons),
            ("plan", "the plan that trained is the one that was certified", self._plan),
            ("sampler", "δ_s = (1 + e^ε)·2⁻¹⁰⁰ for each approximate sample", self._sampler),
        ]

    @property
    def over_domain(self) -> Constants:
        """The constants over all parameters."""
        return constants(self.problem, self.problem.radius)

    @property
    def constant_excess(self) -> float:
        """How far D may lie above its formula."""
        searched = (self.problem.pointwise or self.problem.in_time) and self.problem.linear
        return MAXIMUM_EXCESS if searched else EXCESS

    @property
    def reach(self) -> float:
        """What an ℓ2 distance of 1 is, at most, in the norm of the noise: ℓ1 for Laplace noise."""
        return math.sqrt(self.p) if self.law == "laplace" else 1.0

    @property
    def lattice_rounding(self) -> float:
        """What rounding to the lattice adds to a ratio: a step and 2⁻⁷ in each coordinate."""
        return self.reach * math.sqrt(self.p) * (1.0 + 2.0**-7) / 2.0**self.bits

    def noise(self, distance: float, ratio: float) -> float:
        """Return the scale of noise that hides an ℓ2 distance at a ratio."""
        return self.reach * distance / (ratio - self.lattice_rounding)

    def _adjacency(self) -> str:
        """Return the name of the neighbours that the problem is about."""
        if self.problem.per_person is not None:
            require(not self.former, "this format knows no persons")
            return "replace-one-person" if self.problem.cap is None else "add-remove-one-person"
        if self.problem.cap is not None:
            return "add-remove-promised" if self.problem.promised else "add-remove-one"
        return "replace-features" if self.problem.public_labels and not self.former else "replace-one"

    def _persons(self) -> None:
        """Check what is proved for persons with several records: proofs/persons.md."""
        problem = self.problem
        if problem.per_person is None:
            return
        require(not problem.public_labels, "a person's number of labels is secret")
        require(not problem.promised, "no proof for a promised number of persons")
        exact = problem.pointwise or (problem.kind == "ranking" and not MARGINS[problem.loss].tree)
        # Pairs in the order of time are summed in floating point; moments need none.
        exact = self.algorithm == "moments" if problem.in_time else exact
        proved = not problem.weighs or (exact and self.algorithm in ("noisy-gd", "moments", "output-gd"))
        require(proved, f"no proof for {self.algorithm} with all records of a person")

    def _claim(self) -> None:
        pure = self.law == "laplace" and self.delta == 0.0
        require(self.epsilon > 0.0 and (pure or 0.0 < self.delta < 1.0), f"ε is {self.epsilon}, δ is {self.delta}")

    def _sizes(self) -> None:
        columns = fields(self.predictor["encoding"], "columns", "text")["columns"]
        ranks = stages.maps_rows(self.predictor.get("representation"))
        encoded = stages.mapped(columns) if ranks else sum(_width(column) for column in columns)
        # Waves of the row alone, along directions that a public seed gives, within the same bound: ``networks.md``.
        encoded += read_random_features(self.predictor.get("random_features"))
        weights, d = len(self.predictor["parameters"]), self.features
        task, expected, released = self.problem.kind, d, d
        if task == "metric":
            expected, released = d * d, d if self.problem.domain == "psd-diagonal" else d * (d + 1) // 2
        if not self.problem.linear:
            expected = released = score_parameters(self.problem, d)
            proved = self.algorithm == "noisy-gd" and task != "metric" and not self.problem.weighs and not self.former
            require(proved, f"no proof for a network under {self.algorithm}")
        stated = self.certificate["problem"].get("score", "linear")
        scored = self.predictor.get("score", "linear")
        require(scored == stated, "the model scores rows in another way")
        self._foreign()
        columns_of_records = encoded + (self.constant != 0.0)
        if self.released["kind"] == "moments":
            matrix = d * (d + 1) // 2 if self.released["weights"]["second"] > 0.0 else 0
            released = 2 * d + 1 + matrix
            # Moments are of features alone, and give the intercept beside the weights.
            columns_of_records, expected = encoded, expected + (self.constant != 0.0)
        if self.problem.in_time:
            task = "survival"
            proved = self.algorithm in LEARN_FROM_TIMES and not self.problem.public_labels
            require(proved, f"no proof for {self.algorithm} over times")
        if task == "pointwise":
            task = "regression" if self.problem.loss == "residual" else "classification"
            # What a classifier minimises ranks, too.
            if task == "classification" and self.predictor["task"] == "ranking":
                task = "ranking"
        agree = columns_of_records == d > 0 and weights == expected and self.p == released
        if self.problem.cap is not None:
            proved = self.algorithm in ("noisy-gd", "moments") and self.problem.cap == self.n
            require(proved, f"no proof for {self.algorithm} with up to {self.problem.cap} records")
            hinge = self.problem.kind == "metric" and self.problem.loss == "hinge"
            require(not hinge, "no proof for the hinge loss of metrics where the number of records is secret")
            require(not self.problem.public_labels, "labels that are public have a public number")
        self._times()
        require(self.n >= 2 and agree, f"n = {self.n}, {encoded} features, {weights} weights, {self.p} released")
        require(self.predictor["task"] == task, f"the task is {self.predictor['task']}")

    def _foreign(self) -> None:
        """Check what is proved for scores of foreign code, and that the condition of such a claim, and of no other, is stated."""
        problem, condition = self.problem, self.certificate.get("condition")
        if problem.foreign is None:
            require(condition is None, "a claim that rests on nothing else has a condition")
            return
        stated = fields(condition, "class rests_on adapter function packages")
        named = stated["class"] == "conditional" and stated["rests_on"] == RESTS_ON
        sources = [fields(stated[name], "name sha256") for name in ("adapter", "function")]
        hashes = [source["sha256"] for source in sources]
        named = named and all(found is None or re.fullmatch("[0-9a-f]{64}", found) for found in hashes)
        packages = stated["packages"]
        named = named and isinstance(packages, dict) and len(packages) <= 100
        require(named, "the condition of the claim is not the one that is proved")
        for text in (*(source["name"] for source in sources), *packages, *packages.values()):
            on_a_line = isinstance(text, str) and len(text.encode()) <= 1000 and text.isprintable()
            require(on_a_line, "a name in the condition is no short text on one line")
        proved = problem.cap is None and problem.per_person is None and not problem.in_time
        require(proved and problem.domain == "whole", "no proof for a foreign score of such records")

    def _times(self) -> None:
        """Check that what is learned from times says so: they need noise of their own, and no other file has them for a label."""
        in_time, label = self.problem.in_time, self.predictor.get("label")
        require(not (in_time and self.former), "this format knows no times")
        if label is None:
            return
        stated = [name in label for name in ("time", "event", "occurred", "censored", "horizon")]
        require(stated == [in_time] * 5 and ("column" in label) is not in_time, "the label is of another task")
        horizon = number(label["horizon"]) if in_time else 1.0
        require(0.0 < horizon < math.inf, f"the horizon is {horizon}")

    def _bounds(self) -> None:
        kappa, radius, stated = self.problem.kappa, self.problem.radius, self.certificate["score_bound"]
        bound = number(self.predictor["feature_bound"])
        require(bound > 0.0, f"rows cannot be bounded by {bound}")
        if self.constant == 0.0 or self.released["kind"] == "moments":
            require(bound == kappa, f"κ is {bound} in the model")
        else:
            covers("κ", kappa, math.hypot(bound, self.constant))
        if math.isinf(radius):
            require(stated is None, f"no score is the largest, not even {stated}")
        else:
            require(abs(stated - kappa * radius) <= EXCESS * kappa * radius, f"the largest score is not {stated}")
        # A network's domain is about what scores grow with: the linear term and what units add.
        growing = None if self.problem.hidden is None else self.features + self.problem.hidden
        growing = growing if self.problem.foreign is None else 0
        norm = float(np.linalg.norm(np.array(self.predictor["parameters"][:growing], dtype=np.float64)))
        require(norm <= radius * (1.0 + EXCESS), f"‖w‖ is {norm}, B is {radius}")

    def _plan(self) -> None:
        plan, released = self.plan, self.released
        stated = {"algorithm": self.algorithm, "law": self.law, "steps": released.get("steps", 1)}
        if released["kind"] == "output":
            phases = released["phases"]
            stated["steps"] = sum(phase["steps"] for phase in phases)
            stated["step_size"] = phases[0]["step_size"] * (4 if self.algorithm in HALVING else 1)
            stated["average"] = released["average"]
        if "order" in released:
            stated["order"] = released["order"]
        if "sampling" in released:
            stated["expected_pairs"] = released["sampling"].get("expected_pairs")
        for name, value in stated.items():
            require(plan.get(name) == value, f"{name} is {plan.get(name)} in the plan, {value} in the certificate")
        # Between neighbours a ridge cancels; only results of descents rest on it.
        ridge = self.trained_ridge if released["kind"] == "output" else 0.0
        require(self.problem.ridge == ridge, f"the ridge is {self.trained_ridge} in the model")

    def _sampler(self) -> None:
        each = {"gaussian": self.p, "laplace": 0, "euclidean": 2 * self.p + 2}[self.law]
        # The number of sampled pairs is a sample too.
        each += self.released["kind"] == "sampled-gradients"
        releases = len(self.released["phases"]) if self.released["kind"] == "output" else self.released.get("steps", 1)
        counts = 0 if self.ranges is None else self.ranges["columns"] * self.ranges["bins"]
        counts += sum(stage["coordinates"] for stage in self.stages) if self.law == "gaussian" else 0
        expected = (1.0 + math.exp(self.epsilon)) * (releases * each + counts) * 2.0**-100
        enough = abs(self.sampler_delta - expected) <= EXCESS * expected
        require(enough, f"δ_s is {self.sampler_delta}, derived {expected}")

    def check_kernel(self) -> None:
        """Check that gradients over all pairs name the code whose rounding is bounded here."""
        kernels = WEIGHING if self.problem.weighs else KERNELS
        named = COMPARABLE if self.problem.in_time else kernels.get(self.problem.kind)
        named = named if self.problem.linear else NETWORK if self.problem.foreign is None else FOREIGN
        expected = named if self.algorithm in WHOLE_TABLE else None
        require(self.released["kernel"] == expected, f"the kernel is {self.released['kernel']}")

    def lattice(self, largest: float, slack: float = 1e-9) -> None:
        """Check the fineness of the lattice, given the largest query in units of the noise."""
        fitting = [
            max((bits for bits in range(16, 31) if largest * factor <= 2.0 ** (46 - bits)), default=None)
            for factor in (1.0 - slack, 1.0 + slack)
        ]
        require(self.bits in fitting, f"{self.bits} bits for queries up to {largest} σ")

    def check_composition(self, steps: int) -> None:
        """Check what T releases of one ratio m cost."""
        ratio = self.released["ratio"]
        some = ratio == 0 if stages.alone(self) else ratio > 0.0
        require(some and self.delta >= self.sampler_delta, "δ is less than the samplers cost")
        if self.law == "gaussian":
            before = [stage["noise"]["ratio"] for stage in self.stages]
            before += [] if self.ranges is None else [self.ranges["ratio"]]
            delta = gaussian_delta(self.epsilon, math.hypot(*before, ratio * math.sqrt(steps))) + self.sampler_delta
            enough = delta * (1.0 - 1e-9) <= self.delta <= delta * (1.0 + 1e-7)
            require(enough, f"δ is {self.delta}, derived {delta}")
        else:
            covers("ε", self.epsilon, sum(stage["noise"]["ratio"] for stage in self.stages) + steps * ratio)


def _width(column: dict[str, Any]) -> int:
    """Return how many entries of a vector a column takes."""
    if "categories" not in column:
        return 1 + (column.get("missing") == "own")
    return len(column["categories"]) + bool(column.get("other", False))


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return the exact delta of Gaussian noise for a sensitivity of `mu` standard deviations."""
    first = float(log_ndtr(mu / 2.0 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2.0 - epsilon / mu))
    return math.exp(first) * -math.expm1(min(second - first, 0.0))
