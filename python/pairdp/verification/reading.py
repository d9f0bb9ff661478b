"""The file, read strictly: known entries only, finite numbers only."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .losses import MARGINS
from .relations import require

_COUNTS = {"records", "features", "lattice_bits", "steps", "seed", "batch", "numbers", "coordinates", "hidden"}


def load(model: str | os.PathLike[str] | dict[str, Any]) -> dict[str, Any]:
    """Return the document of a model given as text, path or document."""
    document: Any = model
    if not isinstance(model, dict):
        is_text = isinstance(model, str) and model.lstrip().startswith("{")
        text = str(model) if is_text else Path(model).read_text(encoding="utf-8")
        document = json.loads(text, object_pairs_hook=_without_repeats)
    _check_numbers("", document)
    return fields(document, "format predictor training ridge certificate", "because as_printed run")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    require(len(dict(pairs)) == len(pairs), "an entry is given twice")
    return dict(pairs)


def _check_numbers(name: str, value: Any) -> None:
    """Every number is finite, and whole where it counts something."""
    if isinstance(value, dict):
        for key, entry in value.items():
            _check_numbers(key, entry)
    elif isinstance(value, list):
        for entry in value:
            _check_numbers("", entry)
    elif isinstance(value, bool):
        require(name in ("constant_noise", "counts_records", "other"), f"{name} is not a number")
    elif isinstance(value, int | float):
        require(math.isfinite(value), f"{name} is {value}")
        require(name not in _COUNTS or (isinstance(value, int) and 0 <= value < 2**64), f"{name} is {value}")


def fields(value: Any, required: str, optional: str = "") -> dict[str, Any]:
    """Return an object that has all required entries and no unknown one."""
    require(isinstance(value, dict), f"{value} is not an object")
    found, needed = set(value), set(required.split())
    require(needed <= found, f"without {', '.join(sorted(needed - found))}")
    unknown = found - needed - set(optional.split())
    require(not unknown, f"unknown entries {', '.join(sorted(unknown))}")
    return dict(value)


def number(value: Any) -> float:
    """Return a number; text that looks like one is none."""
    require(isinstance(value, int | float) and not isinstance(value, bool), f"{value!r} is not a number")
    return float(value)


def _variant(value: Any, known: dict[str, str]) -> tuple[str, dict[str, Any]]:
    """Return the name and the entries of one of several alternatives: ``"name"`` or ``{"name": {…}}``."""
    name, entries = next(iter(value.items())) if isinstance(value, dict) and len(value) == 1 else (value, {})
    require(isinstance(name, str) and name in known, f"{value} is not known here")
    return name, fields(entries, known[name])


_SETS = {"whole": "", "ball": "radius", "psd-ball": "radius", "psd-diagonal": "radius", "psd-nuclear": "radius"}
_NEIGHBOURS = {"replace-one": "", "add-remove-one": "most", "add-remove-promised": "most"}
_MARGINS = {name: margin.entries for name, margin in MARGINS.items()}
_LOSSES = {
    "ranking": _MARGINS,
    "metric": {"hinge": "", "logistic": ""},
    "pointwise": {"residual": "q target_bound"},
}


_SCORES = {"linear": "", "network": "activation hidden linear spread seed", "foreign": "parameters bound seed"}


def read_foreign(score: Any) -> tuple[int, float] | None:
    """Return how many parameters a score of foreign code has, and how long its gradients are; none where it is ours."""
    name, entries = _variant(score, _SCORES)
    if name != "foreign":
        return None
    parameters, bound = int(number(entries["parameters"])), number(entries["bound"])
    require(1 <= parameters <= 10**7 and 1e-30 <= bound <= 1e30, "no foreign score has such numbers")
    return parameters, bound


def read_column(column: Any) -> None:
    """Refuse what is no column: it has a range or categories, and a name."""
    require(isinstance(column, dict) and isinstance(column.get("name"), str), "a column without a name")
    categories = column.get("categories")
    if categories is not None:
        listed = isinstance(categories, list) and categories and all(isinstance(value, str) for value in categories)
        require(
            listed and len(set(categories)) == len(categories) and "range" not in column,
            "this is no list of categories",
        )
        return
    ends = column.get("range")
    require(isinstance(ends, list) and len(ends) == 2, "a column without a range or categories")
    dates = column.get("kind") == "date"
    require(
        all(isinstance(end, str) for end in ends) if dates else number(ends[0]) < number(ends[1]), "this is no range"
    )
    require(not dates or ends[0] < ends[1], "this is no range of dates")


def read_random_features(form: Any) -> int:
    """Return how many random features follow a row."""
    if form is None:
        return 0
    form = fields(form, "directions linear spread seed")
    linear, spread = number(form["linear"]), number(form["spread"])
    require(
        isinstance(form["directions"], int) and isinstance(form["seed"], int), "a part of a direction, or of a seed"
    )
    directions = int(form["directions"])
    require(
        0.0 < linear < 1.0 and 1e-6 <= spread <= 1e6 and 1 <= directions <= 10**6,
        "no random features have such numbers",
    )
    return 2 * directions


def read_hidden(score: Any) -> int | None:
    """Return how many hidden units a score has; none where it is linear."""
    name, entries = _variant(score, _SCORES)
    if name != "network":
        return None
    share, spread, hidden = number(entries["linear"]), number(entries["spread"]), int(number(entries["hidden"]))
    require(entries["activation"] == "tanh", f"{entries['activation']} is not known here")
    require(0.0 < share < 1.0 and 1e-6 <= spread <= 1e6 and 1 <= hidden <= 10**7, "no network has such numbers")
    return hidden


@dataclass(frozen=True)
class Problem:
    """What was minimised, and over what."""

    kind: str
    form: str
    """Which pairs of a ranking count."""
    loss: str
    q: float
    target: float
    domain: str
    radius: float
    kappa: float
    ridge: float
    public_labels: bool
    cap: int | None = None
    """The most records, where their number is secret."""
    promised: bool = False
    """Whether no table has more, so that no record is pushed out by another."""
    per_person: str | None = None
    """How the records of a person enter, where persons are protected."""
    hidden: int | None = None
    """How many hidden units scores have; none where they are linear."""
    foreign: tuple[int, float] | None = None
    """Parameters, and the longest gradient, of scores that foreign code computed; none where they are ours."""

    @staticmethod
    def read(value: Any) -> Problem:
        """Read a problem and check its numbers."""
        raw = fields(value, "objective domain feature_bound labels", "ridge neighbours per_person score")
        form_and_loss = {"ranking": "form loss", "metric": "loss", "pointwise": "loss"}
        kind, objective = _variant(raw["objective"], form_and_loss)
        loss, known = objective["loss"], _LOSSES[kind]
        if kind == "pointwise" and isinstance(loss, dict) and set(loss) == {"margin"}:
            loss, known = loss["margin"], _MARGINS
        loss, entries = _variant(loss, known)
        q, target = number(entries.get("q", 1.5)), number(entries.get("target_bound", 1.0))
        domain, entries = _variant(raw["domain"], _SETS)
        radius = number(entries.get("radius", math.inf))
        kappa, ridge = number(raw["feature_bound"]), number(raw.get("ridge", 0.0))
        form, labels = objective.get("form", "indicator"), raw["labels"]
        require(form in ("indicator", "symmetric", "comparable"), f"{form} is not known here")
        require(labels in ("private", "public"), f"{labels} is not known here")
        require(1.0 < q < 2.0 or (loss == "residual" and q == 2.0), f"q is {q}")
        require(kind == "metric" or domain in ("whole", "ball"), "only metrics are matrices")
        lipschitz = loss in MARGINS and MARGINS[loss].lipschitz
        require(math.isfinite(radius) or lipschitz, "no Lipschitz constant on the whole space")
        limited = [kappa, target] + ([radius] if math.isfinite(radius) else [])
        require(all(1e-30 <= bound <= 1e30 for bound in limited) and ridge >= 0.0, "a bound is out of range")
        neighbours, entries = _variant(raw.get("neighbours", "replace-one"), _NEIGHBOURS)
        cap = int(number(entries["most"])) if neighbours != "replace-one" else None
        promised = neighbours == "add-remove-promised"
        per_person = raw.get("per_person")
        require(per_person in (None, "weights", "one"), f"{per_person} is not known here")
        common = (kind, form, loss, q, target, domain, radius, kappa, ridge, labels == "public")
        score = raw.get("score", "linear")
        return Problem(*common, cap, promised, per_person, read_hidden(score), read_foreign(score))

    @property
    def linear(self) -> bool:
        """Whether scores are weighted sums."""
        return self.hidden is None and self.foreign is None

    @property
    def symmetric(self) -> bool:
        """Whether every pair counts in both orders, at twice the margin."""
        return self.form == "symmetric"

    @property
    def in_time(self) -> bool:
        """Whether the pairs that count are those of which it is known who failed first."""
        return self.form == "comparable"

    @property
    def weighs(self) -> bool:
        """Whether all records of a person count, with weights."""
        return self.per_person == "weights"

    @property
    def pointwise(self) -> bool:
        """Whether the loss is of single records."""
        return self.kind == "pointwise"

    @property
    def semidefinite(self) -> bool:
        """Whether parameters are positive semidefinite matrices."""
        return self.domain.startswith("psd")

    @property
    def diameter(self) -> float:
        """The largest distance of two parameters; semidefinite matrices have no negative inner product."""
        return self.radius * (math.sqrt(2.0) if self.semidefinite else 2.0)
