"""Check a model's privacy certificate without the code that wrote it.

This package shares nothing with the compiled core: it reads the JSON of a model file and derives every number of its
certificate again, from the published formulas (``docs/verify.md`` has them in words, the folder ``proofs`` has the
proofs). It needs NumPy and SciPy and no other file of ``pairdp``, so that a reviewer can copy this folder out, read it
and run it alone::

    python verification model.json            # this folder by itself
    python -m pairdp.verification model.json  # the same, installed

With ``--signed-by PUBLIC_KEY`` yes also means that the holder of this key signed the file, as ``MODEL.signature`` beside it.

The exit code is 0 for yes, 1 for no and 2 for a file that cannot be read. Where records were scored by code that is not part of pairdp the answer is
*yes, if the clip was as stated*, which counts as yes with ``--accept-foreign`` alone.

*Yes* means: if the noise was drawn as stated, the public facts in the file imply the claimed (epsilon, delta) for the
claimed neighbours: tables that differ in one record (``replace-one``), in the features of one record
(``replace-features``), by one record (``add-remove-one``), or in one person with any number of records
(``replace-one-person``, ``add-remove-one-person``). Numbers must not be much larger than they need be either, so that a changed number shows.

Letters as in the proofs: κ bounds the norm of a record's features, B that of the parameters w, n is the number of
records, p the number of released coordinates, φ a loss, ε and δ the claim. Of one pair (or one record, for pointwise
losses), over all records and parameters, G bounds the gradient; H how far it moves between two parameters; D, and D_sym
for both orders of the pair together, how far it moves when a record is replaced; L is its Lipschitz constant.

Read the modules in this order: ``reading``, ``constants``, ``facts`` with ``former`` and ``ranges``, then one for each kind
of release, ``gradients``, ``samples``, ``arrivals``, ``moments`` and ``results``, the last with ``work``, ``orders`` and
``paths``. The verifier in Rust, ``crates/verify``, has files of the same names about the same things.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import arrivals, gradients, moments, results, samples, signature
from .facts import PATIENCE, RESTS_ON, Facts
from .reading import load
from .relations import Mismatch, require

__all__ = ["Check", "Verdict", "verify"]

FAMILIES = {family.KIND: family for family in (arrivals, gradients, moments, results, samples)}
"""Modules of what can be released, by how certificates call it."""


@dataclass(frozen=True)
class Check:
    """One relation between the numbers of a certificate."""

    name: str
    relation: str
    failure: str | None
    """What was found instead; ``None`` if the relation holds."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of a verification."""

    checks: list[Check]
    condition: str | None = None
    """What the claim rests on that nobody can recompute, where there is something: what foreign code did that scored records."""

    @property
    def holds(self) -> bool:
        """Whether the claim follows from the public facts, whatever anybody else did: every relation holds, and there is no condition."""
        return self.relations_hold and self.condition is None

    @property
    def relations_hold(self) -> bool:
        """Whether every relation holds: the claim follows if its condition is met, where it has one."""
        return all(check.failure is None for check in self.checks)


def verify(
    model: str | os.PathLike[str] | dict[str, Any],
    *,
    patience: float = PATIENCE,
    signed_by: str | os.PathLike[str] | None = None,
) -> Verdict:
    """Derive the numbers of a model's certificate again.

    Parameters
    ----------
    model : str, path or dict
        The text of a model file, its path, or the document itself.
    patience : float, default 600
        Seconds that it may take; longer work is refused before it is begun.
    signed_by : path, optional
        The file of a public key: the answer is yes only if its holder signed the file. ``model`` is then a path, and the signature lies
        beside it under the ending ``.signature``.

    Returns
    -------
    Verdict
        Whether the claim holds, and every relation that was examined.

    Examples
    --------
    >>> from pairdp import verification
    >>> verification.verify("{}").holds
    False
    """
    checks = []
    if signed_by is not None:
        if not isinstance(model, str | os.PathLike):
            raise TypeError("a signature is of a file: give the path of the model")
        path, model = Path(model), Path(model).read_bytes().decode()
        checks.append(_signature(path, model.encode(), Path(signed_by)))
    # A hostile file can hold any numbers: what overflows or is no number fails its relation.
    with np.errstate(all="ignore"):
        try:
            facts = Facts(load(model), patience)
            family = FAMILIES[facts.released["kind"]]
            require(facts.algorithm in family.ALGORITHMS, f"{facts.algorithm} does not release this")
            relations = facts.relations() + family.relations(facts)
        except (
            Mismatch,
            LookupError,
            TypeError,
            ValueError,
            ArithmeticError,
            AttributeError,
            RecursionError,
        ) as error:
            return Verdict(
                [*checks, Check("format", "a model file of a known format, with nothing else in it", _why(error))]
            )
        for name, relation, check in relations:
            try:
                check()
                checks.append(Check(name, relation, None))
            except (
                Mismatch,
                LookupError,
                TypeError,
                ValueError,
                ArithmeticError,
                AttributeError,
                MemoryError,
            ) as error:
                checks.append(Check(name, relation, _why(error)))
    return Verdict(checks, None if facts.problem.foreign is None else RESTS_ON)


def _signature(model: Path, file: bytes, key: Path) -> Check:
    try:
        signature.check(file, key, Path(f"{model}.signature"))
    except (Mismatch, LookupError, TypeError, ValueError, RecursionError) as error:
        return Check("signature", signature.RELATION, _why(error))
    return Check("signature", signature.RELATION, None)


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__


def main(arguments: list[str]) -> int:
    """Print every relation of a model file and the answer; return the exit code."""
    accepts = "--accept-foreign" in arguments
    files = [argument for argument in arguments if argument != "--accept-foreign"]
    key = files.pop(1 + files.index("--signed-by")) if "--signed-by" in files[:-1] else None
    files = [argument for argument in files if key is None or argument != "--signed-by"]
    if len(files) != 1 or files[0].startswith("-"):
        print("usage: python -m pairdp.verification MODEL [--accept-foreign] [--signed-by PUBLIC_KEY]", file=sys.stderr)
        return 2
    try:
        verdict = verify(Path(files[0]), signed_by=key)
    except (OSError, UnicodeDecodeError) as error:
        print(f"the model file cannot be read: {error}", file=sys.stderr)
        return 2
    for check in verdict.checks:
        print(f"{'holds' if check.failure is None else 'FAILS'}  {check.name:15} {check.relation}")
        if check.failure is not None:
            print(f"{'':23}{check.failure}")
    if verdict.relations_hold and verdict.condition is not None:
        print(f"yes, if the clip was as stated: the claim follows from the public facts if {verdict.condition}")
        return 0 if accepts else 1
    if verdict.holds:
        print("yes: if training did what the certificate says, the claim follows from the public facts")
    else:
        unread = any(check.name == "format" and check.failure is not None for check in verdict.checks)
        print("no: this is not a model file that can be checked" if unread else "no: a relation does not hold")
    return 0 if verdict.holds else 1
