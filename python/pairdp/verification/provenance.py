"""Whether a certificate is of the weights that it lies beside."""

from __future__ import annotations

import hashlib
import re
import struct
from typing import TYPE_CHECKING

from .reading import fields, number
from .relations import require

if TYPE_CHECKING:
    from .facts import Facts

RELATION = "the weights are those that the certificate names, if it names any"


def check(facts: Facts) -> None:
    """Compare the digest of the weights with the one that the certificate has."""
    if "provenance" not in facts.certificate:
        return
    stated = fields(facts.certificate["provenance"], "software date weights", "data_set run schema")
    texts = all(
        isinstance(text, str) and 0 < len(text.encode()) <= 1024 and "\n" not in text for text in stated.values()
    )
    require(texts, "a name is not written as it must be")
    require(
        re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", stated["date"], re.ASCII), "the date is not written as it must be"
    )
    digests = [stated["weights"], stated.get("schema", stated["weights"])]
    require(all(re.fullmatch("[0-9a-f]{64}", text) for text in digests), "the digest is not written as it must be")
    weights = [*facts.predictor["parameters"], *facts.predictor.get("representation", {}).get("weights", [])]
    doubles = struct.pack(f"<{len(weights)}d", *map(number, weights))
    found = hashlib.sha256(b"pairdp-weights/1\n" + doubles).hexdigest()
    message = f"the digest of the weights is {found}, and the certificate is of {stated['weights']}"
    require(found == stated["weights"], message)
