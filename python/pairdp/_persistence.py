"""Model files: those of the ``pairdp`` command, in both directions."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _core, _places
from ._reasons import Reasons
from .exceptions import PrivacyPlanWarning
from .scores._condition import condition_of, is_score


class Persistence(Reasons):
    """Writes and reads models."""

    _task: ClassVar[str]
    # Whether models are trained under a guarantee, and have a certificate.
    _certified: ClassVar[bool]

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write the model file, as the ``pairdp`` command reads it.

        Parameters
        ----------
        path : path-like
        force : bool, default False
            Replace a model that is there already; the budget it cost does not come back. Nothing else is ever replaced: no ledger, key,
            schema, table or other file.

        Raises
        ------
        FileExistsError
            For a file that is not replaced.
        """
        check_is_fitted(self, "model_")
        _places.write_model(path, self.model_, paid=self._certified, force=force)

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
        _places.write_onnx(path, self._model.to_onnx())

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
        if ("certificate" in document) != cls._certified:
            trained, wanted = ("with", "without") if "certificate" in document else ("without", "with")
            raise ValueError(f"the model was trained {trained} privacy, and {cls.__name__} is for models {wanted} it")
        loaded = cls(**cls._parameters_from(label or {}) | parameters)
        loaded._note_columns(names)
        loaded._restore()
        loaded._accept(_core.Model(text))
        _compare_functions(document.get("certificate", {}).get("condition"), parameters.get("scores"))
        return loaded

    def _note_columns(self, names: list[str]) -> None:
        """Note the columns of a model, as ``fit`` notes those of a table."""
        self.n_features_in_ = len(names)
        if names != default_names(len(names)):
            self.feature_names_in_ = np.array(names, dtype=object)

    @classmethod
    def _parameters_from(cls, label: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that a model file's label stands for."""
        raise NotImplementedError

    def _restore(self) -> None:
        """Set what ``fit`` sets from public parameters; those that are given here go before the estimator's own."""
        raise NotImplementedError


def _compare_functions(condition: Any, given: Any) -> None:
    """Warn where a model is to be scored by another function than the one that its certificate names."""
    if not condition or not is_score(given):
        return
    stated, found = condition["function"], json.loads(condition_of(given))["function"]
    if stated != found:
        what = [f"`{one['name']}` (SHA-256 {one['sha256']})" for one in (stated, found)]
        text = f"the certificate is about the function {what[0]}, and {what[1]} was given: its scores need not be those of the model"
        warnings.warn(text, PrivacyPlanWarning, stacklevel=3)


def default_names(n_features: int) -> list[str]:
    """Return what columns without names are called in files."""
    return [f"x{column}" for column in range(n_features)]
