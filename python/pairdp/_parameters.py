"""Parameters of estimators: ordinary keywords, named as on the command line and in certificates.

A class states each of its parameters once, with default and description, and :func:`estimator` makes the ``__init__`` and
the documentation of it. What a setting may hold comes from the core's own table and is listed nowhere here.
"""

from __future__ import annotations

import inspect
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from numbers import Integral, Real
from typing import Any, TypeVar, cast, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .exceptions import PrivacyBudgetError
from .scores._condition import is_score

Bounds = tuple[ArrayLike, ArrayLike] | Sequence[tuple[float, float]]
Class = TypeVar("Class")

# For every setting its default and what it holds: names, or "bool", "int" or "float".
SETTINGS: dict[str, dict[str, Any]] = json.loads(_core.settings_table())
TASKS: list[str] = SETTINGS["task"]["holds"]
# The losses that each task knows.
LOSSES: dict[str, list[str]] = json.loads(_core.losses_by_task())

# Settings that are left to the core by a word.
AUTO = ("algorithm", "mechanism")

WIDTH = 96


def parameter(*, default: Any, text: str, kind: str | None = None) -> Any:
    """State a parameter; ``kind`` says what it holds where the core does not."""
    return field(default=default, metadata={"kind": kind, "text": text, "required": False})


def required(*, kind: str, text: str, default: Any = None) -> Any:
    """State a parameter that has no usable default."""
    return field(default=default, metadata={"kind": kind, "text": text, "required": True})


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter, required))
def estimator(cls: type[Class]) -> type[Class]:
    """Give a class the parameters that it and its bases state, and their descriptions where its own says {parameters}."""
    made = dataclass(kw_only=True, eq=False, repr=False)(cls)
    if cls.__doc__ and "{parameters}" in cls.__doc__:
        # The budget first, then public facts, then what has defaults.
        stated = sorted(fields(cast(Any, made)), key=lambda one: one.name not in ("epsilon", "delta"))
        stated.sort(key=lambda one: not one.metadata["required"])
        described = "\n".join(_described(one, getattr(made, "_task", None)) for one in stated)
        made.__doc__ = inspect.cleandoc(cls.__doc__).replace("{parameters}", described)
    return made


def _described(stated: Field[Any], task: str | None) -> str:
    """Return a parameter as NumPy's style has it."""
    kind, default = stated.metadata["kind"] or _kind(stated.name, task), stated.default
    if not stated.metadata["required"]:
        kind += ", optional" if default is None else f", default={default!r}"
    text = textwrap.fill(stated.metadata["text"], WIDTH, initial_indent="    ", subsequent_indent="    ")
    return f"{stated.name} : {kind}\n{text}"


def _kind(name: str, task: str | None) -> str:
    holds = LOSSES[task] if name == "loss" and task else SETTINGS[name]["holds"]
    if isinstance(holds, str):
        return holds
    names = ["auto", *holds] if name in AUTO else holds
    return "{" + ", ".join(f'"{choice}"' for choice in names) + "}"


def settings_of(estimator: Any) -> dict[str, Any]:
    """Return those of an estimator's parameters that are settings of the core."""
    return {one.name: getattr(estimator, one.name) for one in fields(estimator) if one.name in SETTINGS}


def settings_text(task: str, settings: Mapping[str, Any]) -> str:
    """Return settings as the core reads them; ``None`` leaves a choice to it."""
    said = {name: value for name, value in settings.items() if value is not None}
    if is_score(said.get("scores")):
        # Of a function the core is told how many parameters it has.
        said["foreign_parameters"] = said.pop("scores").parameters
    for name in AUTO:
        if isinstance(said.get(name), str) and said[name] == "auto":
            del said[name]
    for name, value in said.items():
        if name not in SETTINGS:
            raise TypeError(f"there is no setting {name!r}; there are {', '.join(sorted(SETTINGS))}")
        _check_held(name, SETTINGS[name]["holds"], value)
    return json.dumps({"task": task} | said, default=_plain)


def _check_held(name: str, holds: str | Sequence[str], value: Any) -> None:
    if not isinstance(holds, str):
        if not isinstance(value, str) or value not in holds:
            names = ["auto", *holds] if name in AUTO else holds
            raise ValueError(f"{name} must be one of {', '.join(names)}, not {value!r}")
        return
    truth = isinstance(value, bool | np.bool_)
    if holds == "bool" and not truth:
        raise ValueError(f"{name} must be True or False, not {value!r}")
    if holds == "int" and (truth or not isinstance(value, Integral) or value < 0):
        raise ValueError(f"{name} must be a whole number of at least 0, not {value!r}")
    if holds == "float" and (truth or not isinstance(value, Real) or not np.isfinite(float(value))):
        raise ValueError(f"{name} must be a finite number, not {value!r}")


def _plain(value: Any) -> Any:
    """Return NumPy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a setting cannot be a {type(value).__name__}")


def check_task(task: str) -> None:
    """Refuse a task that there is not."""
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}, not {task!r}")


def check_budget(epsilon: float | None, delta: float | None, example: str) -> tuple[float, float]:
    """Return the budget as numbers, or refuse to guess one."""
    if epsilon is None or delta is None:
        missing = " and ".join(name for name, value in (("epsilon", epsilon), ("delta", delta)) if value is None)
        raise PrivacyBudgetError(
            f"no privacy budget ({missing} missing): set epsilon and delta, for example {example}. Smaller is more "
            "private; epsilon about 1 and delta well below 1 / number of records are usual"
        )
    return float(epsilon), float(delta)


def ranges_of(bounds: Bounds | None, n_features: int) -> list[list[float]]:
    """Return a range for each feature, from ``(low, high)`` or from a list of a pair for each feature."""
    if bounds is None:
        raise ValueError("no public bounds: set bounds=(low, high), from public knowledge and never from the data")
    try:
        if n_features != 2 and len(bounds) == n_features and all(np.shape(pair) == (2,) for pair in bounds):
            ranges = np.asarray(bounds, dtype=np.float64)
        else:
            low, high = bounds
            pair = [np.broadcast_to(np.asarray(bound, dtype=np.float64), n_features) for bound in (low, high)]
            ranges = np.column_stack(pair)
    except (TypeError, ValueError):
        raise ValueError(
            f"bounds must be a pair (low, high) of numbers, or of arrays with one number for each of {n_features} "
            "features"
        ) from None
    if not _rising(ranges).all():
        raise ValueError(
            f"bounds of column {int(np.argmin(_rising(ranges)))}: a range is two finite numbers, the smaller first; "
            "bounds=(low, high) has all lower bounds first, then all upper ones"
        )
    lists = n_features == 2 and not any(isinstance(bound, np.ndarray) for bound in (bounds, *bounds))
    if lists and all(np.shape(bound) == (2,) for bound in bounds):
        # A pair for each feature would look the same.
        other = ranges.T
        if _rising(other).all() and not np.array_equal(ranges, other):
            raise ValueError(
                "bounds can be read in two ways: say bounds=(np.array(low), np.array(high)), with the lower bounds of "
                "both features first"
            )
    listed: list[list[float]] = ranges.tolist()
    return listed


def _rising(ranges: NDArray[np.float64]) -> NDArray[np.bool_]:
    rising: NDArray[np.bool_] = np.isfinite(ranges).all(axis=1) & (ranges[:, 0] < ranges[:, 1])
    return rising
