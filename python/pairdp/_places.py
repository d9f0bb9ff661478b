"""Where files may be written: what the command does not overwrite, Python does not either."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

# A ledger's key, and the journals of its database, which would be played back into it.
_LEDGER_ENDINGS = (".key", "-journal", "-wal", "-shm")


def write_model(path: str | os.PathLike[str], text: str, *, paid: bool, force: bool) -> None:
    """Write a model file; one that cost budget is replaced by force only.

    Parameters
    ----------
    path : path-like
    text : str
    paid : bool
        Whether the model that is written has a certificate. One without can be had again, and is replaced by its like.
    force : bool
    """
    found = _found(Path(path))
    if found == "baseline" and not paid:
        found = None
    if found == "model" and not force:
        raise FileExistsError(
            f"{path}: there is a model already, which cost budget; name another file, or pass force=True"
        )
    if found == "baseline" and not force:
        raise FileExistsError(f"{path}: there is a model already; name another file, or pass force=True")
    if found not in (None, "model", "baseline"):
        raise FileExistsError(_refusal(path, found, "a model"))
    _put(Path(path), text.encode())


def write_onnx(path: str | os.PathLike[str], content: bytes) -> None:
    """Write an exported model, over an earlier one if need be: it can be had again."""
    found = _found(Path(path))
    if found not in (None, "an ONNX file"):
        raise FileExistsError(_refusal(path, found, "an ONNX file of pairdp"))
    _put(Path(path), content)


def _refusal(path: str | os.PathLike[str], found: str | None, wanted: str) -> str:
    said = {
        "ledger": "this is a ledger",
        "key": "this is the key of a ledger",
        "journal": "this name belongs to a ledger",
        "schema": "there is a schema already",
        "model": "there is a model already",
        "baseline": "there is a model already",
    }.get(found or "", f"there is a file already, and it is not {wanted}")
    return f"{path}: {said}; name another file to write"


def _found(path: Path) -> str | None:
    """Return what lies there, by its beginning; None for nothing, an empty file, or something to write through."""
    name = path.name
    for ending in _LEDGER_ENDINGS:
        if name.endswith(ending) and _is_ledger(path.parent.resolve() / name.removesuffix(ending)):
            return "journal"
    if not path.exists() or not path.is_file():
        return None
    with path.open("rb") as file:
        beginning = file.read(1024)
    if not beginning:
        return None
    if _is_ledger(path):
        return "ledger"
    stripped = beginning.strip()
    if len(stripped) == 64 and all(byte in b"0123456789abcdefABCDEF" for byte in stripped):
        return "key"
    if name.endswith(".schema.toml"):
        return "schema"
    if beginning.startswith(b"\x08") and b"pairdp" in beginning:
        return "an ONNX file"
    if stripped.startswith(b"{"):
        return _document(path)
    return "other"


def _is_ledger(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def _document(path: Path) -> str:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return "other"
    stated = document.get("format") if isinstance(document, dict) else None
    # Of any version: a model of another one cost as much.
    known = {"pairdp-model": "model", "pairdp-baseline": "baseline"}
    return known.get(stated.split("/")[0], "other") if isinstance(stated, str) else "other"


def _put(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, under the name that links lead to; a pipe or a device stays what it is."""
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    place = path.resolve()
    new = not place.exists()
    if new:
        # It has the mode that new files have.
        place.touch()
    handle, draft = tempfile.mkstemp(prefix=".pairdp-draft-", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(place, draft)
        os.replace(draft, place)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        if new:
            place.unlink(missing_ok=True)
        raise
