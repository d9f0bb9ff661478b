"""Public labels: as users say them, as files have them, and as tables are searched for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_classes(classes: Sequence[Any] | None) -> NDArray[Any]:
    """Return the public list of classes as an array."""
    if classes is None:
        raise ValueError("no public classes: set classes to the list of possible labels, never read from the data")
    listed = np.asarray(list(classes))
    if listed.ndim != 1 or len(listed) < 2 or len(set(listed.tolist())) < len(listed):
        raise ValueError("classes must be a list of at least two labels, each listed once")
    return listed


def label_text(label: Any) -> str:
    """Return a label as tables have it."""
    label = label.item() if isinstance(label, np.generic) else label
    return str(label).lower() if isinstance(label, bool) else str(label)


def label_values(texts: Sequence[str]) -> list[Any]:
    """Return labels of a model file: numbers or truth values if all of them are, else text."""
    if set(texts) == {"false", "true"}:
        return [text == "true" for text in texts]
    for number in (int, float):
        try:
            return [number(text) for text in texts]
        except ValueError:
            continue
    return list(texts)


def as_compared(label: Any) -> str | float:
    """Return a label so that two are the same if, and only if, they are the same to whoever looks for them in ``y``."""
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, bool | int | float) and math.isfinite(label):
        # 1, 1.0 and True are found in the same places.
        return int(label) if label == int(label) else float(label)
    return label if isinstance(label, str) else repr(label)
