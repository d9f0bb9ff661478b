"""What all estimators share: the budget, public bounds, settings, training, files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _copies, _core, _places
from ._cells import labels_of, readable, rows_of
from .exceptions import PrivacyBudgetError

Bounds = tuple[ArrayLike, ArrayLike]

# The file of a ledger, the command that gives its key, the data set that pays, and the form that its table is read by.
Booking = tuple[str, str | None, str, str]

ALGORITHMS = (
    "auto",
    "noisy-gd",
    "noisy-sgd",
    "online-pair",
    "output-gd",
    "output-sgd",
    "phased-gd",
    "localized-sgd",
    "offline-pair",
    "matching-sgd",
    "moments",
)
LOSSES = ("logistic", "capped-logistic", "hinge", "squared", "q-hinge", "q-norm")
MECHANISMS = ("gaussian", "laplace", "euclidean")
COMMON = (
    "algorithm",
    "loss",
    "q",
    "ridge",
    "feature_bound",
    "radius",
    "public_labels",
    "steps",
    "step_size",
    "mechanism",
)
OPTIONS = (
    "positive_rate",
    "risk",
    "intercept",
    "max_records",
    "representation",
    "representation_share",
    "momentum",
    "domain",
    "form",
    "average",
    "expected_pairs",
    "shuffle",
    "order_seed",
    "calibration",
    "paper",
)

WHOLE_NUMBERS = ("steps", "max_records", "order_seed")
NUMBERS = (
    "q",
    "ridge",
    "feature_bound",
    "radius",
    "step_size",
    "positive_rate",
    "representation_share",
    "momentum",
    "expected_pairs",
)

# Shares of a metric's pairs, where an engine does not say how many workers it has.
DEFAULT_SHARES = 8

# The name of the label's column in model files, which NumPy arrays do not have.
LABEL_COLUMN = "y"


def check_budget(epsilon: float | None, delta: float | None, example: str) -> tuple[float, float]:
    """Return the budget as numbers, or refuse to guess one."""
    if epsilon is None or delta is None:
        missing = " and ".join(name for name, value in (("epsilon", epsilon), ("delta", delta)) if value is None)
        raise PrivacyBudgetError(
            f"no privacy budget ({missing} missing): set epsilon and delta, for example {example}. Smaller is more "
            "private; epsilon about 1 and delta well below 1 / number of records are usual"
        )
    return float(epsilon), float(delta)


def settings_text(task: str, settings: Mapping[str, Any]) -> str:
    """Return settings as the core reads them; ``None`` leaves a choice to it."""
    unknown = sorted(set(settings) - {*COMMON, *OPTIONS})
    if unknown:
        raise ValueError(f"no setting is called {unknown[0]!r}; there are {', '.join((*COMMON, *OPTIONS))}")
    for name, choices in (("algorithm", ALGORITHMS), ("loss", LOSSES), ("mechanism", MECHANISMS)):
        value = settings.get(name)
        if value is not None and value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    said = {name: value for name, value in settings.items() if value is not None}
    for name in {*WHOLE_NUMBERS, *NUMBERS} & set(said):
        kind, words = (Integral, "a whole number of at least 0") if name in WHOLE_NUMBERS else (Real, "a number")
        value = said[name]
        if isinstance(value, bool | np.bool_) or not isinstance(value, kind) or (kind is Integral and value < 0):
            raise ValueError(f"{name} must be {words}, not {value!r}")
    if said.get("algorithm") == "auto":
        del said["algorithm"]
    return json.dumps({"task": task} | said, default=_plain)


def _plain(value: Any) -> Any:
    """Return NumPy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a setting cannot be a {type(value).__name__}")


def ranges_of(bounds: Bounds | None, n_features: int) -> list[list[float]]:
    """Return a range for each feature."""
    if bounds is None:
        raise ValueError("no public bounds: set bounds=(low, high), from public knowledge and never from the data")
    try:
        low, high = bounds
        pair = [np.broadcast_to(np.asarray(bound, dtype=np.float64), n_features) for bound in (low, high)]
    except (TypeError, ValueError):
        raise ValueError(
            f"bounds must be a pair (low, high) of numbers, or of arrays with one number for each of {n_features} "
            "features"
        ) from None
    ranges: list[list[float]] = np.column_stack(pair).tolist()
    return ranges


def refuse_unsupported(arguments: Mapping[str, Any]) -> None:
    """Refuse what ``fit`` cannot take into account."""
    if arguments.get("sample_weight") is not None:
        raise ValueError(
            "sample_weight is not supported: the noise is scaled to what one record of weight 1 can change, and a "
            "heavier record would be protected less than the certificate says"
        )
    others = sorted(set(arguments) - {"sample_weight"})
    if others:
        raise TypeError(f"fit() has no parameter {others[0]!r}")


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


def _as_compared(label: Any) -> str | float:
    """Return a label so that two are the same if, and only if, they are the same to whoever looks for them in ``y``."""
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, (bool, int, float)) and math.isfinite(label):
        # 1, 1.0 and True are found in the same places.
        return int(label) if label == int(label) else float(label)
    return label if isinstance(label, str) else repr(label)


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


class Estimator(BaseEstimator):
    """The part that does not depend on the task or on whether it is private."""

    _task: ClassVar[str]

    def fit(self, X: ArrayLike, y: ArrayLike, **unsupported: Any) -> Self:
        """Train. A private estimator spends its budget on every call.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        **unsupported
            ``sample_weight`` is refused with the reason; nothing else is known.

        Returns
        -------
        self
        """
        refuse_unsupported(unsupported)
        return self._fit(X, y, self._trainer())

    def _fit(self, X: ArrayLike, y: ArrayLike, train: Callable[..., str]) -> Self:
        secret = self._secret_size()
        table = readable(X)
        # Where the number of records is secret, no number of them is an error.
        rows = rows_of(table, least=0 if secret else 2, secret=secret)
        labels = labels_of(y, len(rows), secret=secret)
        self._check_columns(table, rows, reset=True)
        targets = np.ascontiguousarray(self._targets(labels), dtype=np.float64)
        text = train(rows, targets, self._ranges(rows), settings_text(self._task, self._settings()))
        self._accept(self._named(text))
        return self

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write the model file, as the ``pairdp`` command reads it.

        Parameters
        ----------
        path : path-like
        force : bool, default False
            Replace a model that is there already; what it cost stays spent. Nothing else is ever replaced: no ledger, key,
            schema, table or other file.

        Raises
        ------
        FileExistsError
            For a file that is not replaced.
        """
        check_is_fitted(self, "model_")
        _places.write_model(path, self.model_, paid=self._certified(), force=force)

    def to_onnx(self, path: str | PathLike[str]) -> None:
        """Write the model for ONNX runtimes.

        The file takes the columns of ``X`` as they are (input ``numbers``, float64) and does all that this model does to
        them. Its output is ``score``, for regressors ``prediction``, and for metrics ``embedding``.

        Parameters
        ----------
        path : path-like
            An earlier export is replaced, and nothing else.

        Raises
        ------
        FileExistsError
            For a file that is not replaced.
        """
        check_is_fitted(self, "model_")
        _places.write_onnx(path, _core.to_onnx(self.model_))

    @classmethod
    def load(cls, path: str | PathLike[str], **parameters: Any) -> Self:
        """Read a model file that ``save`` or the ``pairdp`` command wrote.

        Parameters
        ----------
        path : path-like
        **parameters
            Of the estimator. The file has what is needed to predict, but labels only as text: say ``classes`` or
            ``positive_label`` again if they are neither text nor numbers.

        Returns
        -------
        Estimator, fitted
        """
        text = Path(path).read_text(encoding="utf-8")
        try:
            document = json.loads(text)
            predictor = document["predictor"]
            task, columns, label = predictor["task"], predictor["encoding"]["columns"], predictor.get("label")
            names = [column["name"] for column in columns]
        except (ValueError, KeyError, TypeError):
            raise ValueError("not a pairdp model file") from None
        if task != cls._task:
            raise ValueError(f"the model is for {task}, but {cls.__name__} is for {cls._task}")
        if ("certificate" in document) != cls._certified():
            trained, wanted = ("with", "without") if "certificate" in document else ("without", "with")
            raise ValueError(f"the model was trained {trained} privacy, and {cls.__name__} is for models {wanted} it")
        loaded = cls(**cls._parameters_from(label or {}) | parameters)
        loaded.n_features_in_ = len(names)
        if names != [f"x{i}" for i in range(len(names))]:
            loaded.feature_names_in_ = np.array(names, dtype=object)
        loaded._restore()
        loaded._accept(text)
        _core.score_rows(text, np.empty((0, len(names))))
        return loaded

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _settings(self) -> dict[str, Any]:
        options = dict(self.options or {})
        unknown = sorted(set(options) - set(OPTIONS))
        if unknown:
            raise ValueError(f"no option is called {unknown[0]!r}; there are {', '.join(OPTIONS)}")
        return options | {name: getattr(self, name) for name in COMMON if hasattr(self, name)}

    def _named(self, text: str) -> str:
        """Return the model file with the names of columns and labels, which the core does not know."""
        document = json.loads(text)
        predictor = document["predictor"]
        names = list(getattr(self, "feature_names_in_", ()))
        if len(set(names)) == self.n_features_in_:
            for column, name in zip(predictor["encoding"]["columns"], names, strict=True):
                column["name"] = str(name)
        label = self._label()
        if label is not None:
            column = LABEL_COLUMN
            while column in names:
                column = f"_{column}"
            predictor["label"] = {"column": column} | label
        named = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        try:
            _core.score_rows(named, np.empty((0, self.n_features_in_)))
        except ValueError:
            # The budget is spent: a file without names is better than none.
            return text
        return named

    def _accept(self, text: str) -> None:
        document = json.loads(text)
        self.model_ = text
        predictor = document["predictor"]
        self.coef_ = np.array(predictor["parameters"], dtype=np.float64)
        self.intercept_ = 0.0
        if "constant" in predictor:
            self.intercept_ = float(self.coef_[-1] * predictor["constant"])
            self.coef_ = self.coef_[:-1]
        if self._certified():
            self.certificate_ = document["certificate"]
            self.plan_ = document["training"]

    def encode(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return rows as the model sees them: what its scores are linear in.

        Features are cut off at the bounds and mapped to [-1, 1], and rows longer than the feature bound are scaled down to
        it. So a score is ``encode(X) @ coef_ + intercept_``, and not a linear function of ``X`` where a row is cut off or
        scaled down.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        rows = self._rows(X)
        return _core.encode_rows(self.model_, rows)

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        rows = self._rows(X)
        return _core.score_rows(self.model_, rows)

    def _rows(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self, "model_")
        table = readable(X)
        rows = rows_of(table, least=1)
        self._check_columns(table, rows, reset=False)
        return rows

    def _check_columns(self, table: Any, rows: NDArray[np.float64], *, reset: bool) -> None:
        """Note the number and names of columns, or compare them with those of ``fit``: all that scikit-learn looks at."""
        validate_data(self, table if hasattr(table, "shape") else rows, reset=reset, skip_check_array=True)

    def _secret_size(self) -> bool:
        return (self.options or {}).get("max_records") is not None

    @classmethod
    def _certified(cls) -> bool:
        raise NotImplementedError

    def _trainer(self) -> Callable[..., str]:
        """Check what is said publicly, and return what trains."""
        raise NotImplementedError

    def _ranges(self, X: NDArray[np.float64]) -> list[list[float]]:
        raise NotImplementedError

    def _targets(self, y: NDArray[Any]) -> NDArray[np.float64]:
        raise NotImplementedError

    def _label(self) -> dict[str, Any] | None:
        """Return the public values of the label as model files have them."""
        return None

    @classmethod
    def _parameters_from(cls, label: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that a model file's label stands for."""
        return {}

    def _restore(self) -> None:
        """Set what ``fit`` sets from public parameters."""


class PrivateEstimator(Estimator):
    """Trains within a budget and keeps a certificate."""

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        bounds: Bounds | None = None,
        algorithm: str | None = None,
        loss: str | None = None,
        q: float = 1.5,
        ridge: float = 0.0,
        feature_bound: float | None = None,
        radius: float | None = None,
        public_labels: bool = False,
        steps: int | None = None,
        step_size: float | None = None,
        mechanism: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.algorithm = algorithm
        self.loss = loss
        self.q = q
        self.ridge = ridge
        self.feature_bound = feature_bound
        self.radius = radius
        self.public_labels = public_labels
        self.steps = steps
        self.step_size = step_size
        self.mechanism = mechanism
        self.options = options

    def fit_partitions(self, data: str | PathLike[str], schema: str | PathLike[str], engine: Any = "local:2") -> Self:
        """Train on a table that is kept in many files, by the processes or machines of an engine.

        The model is the one that :meth:`fit` would find on all files together, for any engine and any division of the table
        into files. Workers read the files themselves and keep their rows in memory; the noise is drawn here, once.

        Parameters
        ----------
        data : path-like
            A folder of tables (CSV, Parquet, LIBSVM), or a pattern such as ``"parts/*.parquet"``, which workers can read.
        schema : path-like
            What is publicly known about columns and label, as for the ``pairdp`` command. ``bounds`` are not used.
        engine : str, distributed.Client or pairdp.engines.Engine, default="local:2"
            ``"local:N"``, ``"ray:auto"``, ``"ray:host:port"``, ``"ray://host:port"`` or ``"dask://host:port"``: see
            :func:`pairdp.engines.connect`.

        Returns
        -------
        self
        """
        from .engines import connect

        epsilon, delta = check_budget(
            self.epsilon, self.delta, f"{type(self).__name__}(epsilon=1.0, delta=1e-6)"
        )
        _copies.warn_of_tuning(self, epsilon, delta)
        settings = settings_text(self._task, self._settings())
        workers = re.search(r"(?:^local:|workers=)([0-9]+)$", engine) if isinstance(engine, str) else None
        count = int(workers[1]) if workers else DEFAULT_SHARES
        parts, encoding, label = _core.describe_parts(str(data), str(schema), settings, count)
        with connect(engine, parts) as asked:
            text = _core.fit_parts(asked.ask, encoding, label, settings, epsilon, delta)
        _copies.note_spent(self, epsilon, delta)
        names = [column["name"] for column in json.loads(encoding)["columns"]]
        # What the schema's label stands for, as in a file that is loaded.
        twin = type(self)(**self._parameters_from(json.loads(label)))
        twin._restore()
        self.__dict__.update({name: value for name, value in vars(twin).items() if name.endswith("_")})
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        self._accept(text)
        return self

    def table_schema(self, n_features: int) -> dict[str, Any]:
        """Return what decides which tables this estimator refuses, for :meth:`pairdp.ledger.Ledger.add`.

        Parameters
        ----------
        n_features : int
            Columns of ``X``.

        Returns
        -------
        dict
            The number of features and the public values of the label.
        """
        schema: dict[str, Any] = {"features": int(n_features)}
        for name in ("classes", "positive_label", "target_bounds"):
            value = getattr(self, name, None)
            if value is not None:
                # One by one: in an array with text in it numbers would be text, and 1 and "1" refuse different tables.
                entries = value if isinstance(value, (list, tuple)) else np.ravel(np.asarray(value)).tolist()
                schema[name] = [_as_compared(entry) for entry in entries]
        return schema

    def verify(self) -> bool:
        """Recompute the certificate by a second method and say whether it holds."""
        check_is_fitted(self, "model_")
        return all(failure is None for _, _, failure in _core.verify_model(self.model_))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def __sklearn_clone__(self) -> Self:
        copy: Self = super().__sklearn_clone__()
        _copies.note_copy(self, copy)
        return copy

    def __getstate__(self) -> dict[str, Any]:
        # Searches send copies to other processes.
        state: dict[str, Any] = super().__getstate__() | {"_copy": _copies.number_of(self)}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        _copies.set_number(self, state.pop("_copy", 0))
        super().__setstate__(state)

    @classmethod
    def _certified(cls) -> bool:
        return True

    def _trainer(self, booking: Booking | None = None) -> Callable[..., str]:
        budget = check_budget(
            self.epsilon, self.delta, f"{type(self).__name__}(epsilon=1.0, delta=1e-6, bounds=...)"
        )
        self._restore()
        # What a ledger pays for, it also counts.
        if booking is None:
            _copies.warn_of_tuning(self, *budget)
        return partial(self._spend, booking, *budget)

    def _spend(
        self,
        booking: Booking | None,
        epsilon: float,
        delta: float,
        rows: NDArray[np.float64],
        targets: NDArray[np.float64],
        ranges: list[list[float]],
        settings: str,
    ) -> str:
        text = _core.fit(rows, targets, ranges, settings, epsilon, delta, booking)
        if booking is None:
            _copies.note_spent(self, epsilon, delta)
        return text

    def _ranges(self, X: NDArray[np.float64]) -> list[list[float]]:
        return ranges_of(self.bounds, X.shape[1])


class BaselineEstimator(Estimator):
    """Descends over all pairs without noise."""

    def __init__(
        self,
        *,
        bounds: Bounds | None = None,
        loss: str | None = None,
        q: float = 1.5,
        ridge: float = 0.0,
        feature_bound: float | None = None,
        radius: float | None = None,
        steps: int | None = None,
        step_size: float | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.bounds = bounds
        self.loss = loss
        self.q = q
        self.ridge = ridge
        self.feature_bound = feature_bound
        self.radius = radius
        self.steps = steps
        self.step_size = step_size
        self.options = options

    @classmethod
    def _certified(cls) -> bool:
        return False

    def _secret_size(self) -> bool:
        return False

    def _trainer(self) -> Callable[..., str]:
        return _core.fit_baseline

    def _ranges(self, X: NDArray[np.float64]) -> list[list[float]]:
        if self.bounds is not None:
            return ranges_of(self.bounds, X.shape[1])
        low, high = X.min(axis=0), X.max(axis=0)
        # A constant column needs a range, too.
        return ranges_of((low, np.where(high > low, high, low + np.maximum(1.0, np.abs(low)))), X.shape[1])
