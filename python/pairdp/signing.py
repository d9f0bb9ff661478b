"""Signatures of model files: who answers for a model.

A certificate says why a model is private, and not who says so. A custodian signs the file with a key that nobody else has; whoever knows
the public half checks it::

    pairdp.signing.new_key("custodian.key")            # and custodian.key.pub, for everybody
    pairdp.signing.sign("model.json", "custodian.key")  # writes model.json.signature
    pairdp.verification.verify(path, signed_by="custodian.key.pub").holds

The commands ``pairdp keygen``, ``pairdp sign`` and ``pairdp verify --signed-by`` do the same with the same files.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from . import _core

__all__ = ["new_key", "sign"]


def new_key(path: str | os.PathLike[str]) -> str:
    """Write a new signing key, readable by its owner alone, and beside it, under the ending .pub, its public half.

    Parameters
    ----------
    path : path-like
        Where nothing is yet: keys are never overwritten.

    Returns
    -------
    str
        The digits of the public key.
    """
    key, public = Path(path), Path(f"{os.fspath(path)}.pub")
    for place in (key, public):
        if place.exists() or place.is_symlink():
            raise FileExistsError(f"{place}: there is a file already; keys are never overwritten")
    secret, shown, digits = _core.new_key()
    _write_new(key, secret, 0o600)
    _write_new(public, shown, 0o644)
    return digits


def sign(model: str | os.PathLike[str], key: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Sign the file of a model, byte by byte; sign what you verified.

    Parameters
    ----------
    model : path-like
        What ``save`` or ``pairdp train`` wrote.
    key : path-like
        What ``new_key`` or ``pairdp keygen`` wrote.
    force : bool, default=False
        Whether to replace a signature that is there already.

    Returns
    -------
    Path
        The signature's file, which is the model's with the ending .signature.
    """
    place = Path(f"{os.fspath(model)}.signature")
    if os.name == "posix" and stat.S_IMODE(Path(key).stat().st_mode) & 0o077:
        raise PermissionError(f"{Path(key)}: others may read or change this key; make it yours alone with chmod 600")
    text = _core.sign(Path(key).read_text(encoding="utf-8"), Path(model).read_bytes())
    if place.exists() and not force:
        raise FileExistsError(f"{place}: there is a file already; replace a signature with force=True")
    if place.exists() and '"pairdp-signature/' not in place.read_text(encoding="utf-8", errors="replace"):
        raise FileExistsError(f"{place}: there is a file already, and it is not a signature")
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    _write_new(beside, text, 0o644)
    beside.replace(place)
    return place


def _write_new(path: Path, text: str, mode: int) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
