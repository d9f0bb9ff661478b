"""Signatures of model files: our arithmetic against the standard's, the core's and another library's."""

import json
import os
import random
import stat

import numpy as np
import pytest

from pairdp import PrivateRanker, signing, verification
from pairdp.verification import signature

# RFC 8032, section 7.1: public key, message and signature.
STANDARD = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


@pytest.fixture
def signed(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 3))
    model = PrivateRanker(epsilon=1.0, delta=1e-6, bounds=(np.zeros(3), np.ones(3))).fit(X, X[:, 0] > 0.5)
    model.save(tmp_path / "model.json")
    signing.new_key(tmp_path / "custodian.key")
    signing.sign(tmp_path / "model.json", tmp_path / "custodian.key")
    return tmp_path


@pytest.mark.parametrize(("public", "message", "signed"), STANDARD)
def test_signatures_are_those_of_the_standard(public, message, signed):
    public, message, signed = map(bytes.fromhex, (public, message, signed))
    assert signature.verify(public, message, signed)
    for k in range(0, 512, 7):
        changed = bytearray(signed)
        changed[k // 8] ^= 1 << k % 8
        assert not signature.verify(public, message, bytes(changed))
    assert not signature.verify(public, message + b"\0", signed)
    # The same number modulo the order: another text of one signature.
    s = int.from_bytes(signed[32:], "little") + signature.L
    assert not signature.verify(public, message, signed[:32] + s.to_bytes(32, "little"))


def test_keys_under_which_anything_is_signed_are_refused():
    for weak in ("00" * 32, "01" + "00" * 31, "ff" * 32, "ec" + "ff" * 30 + "7f", "ed" + "ff" * 30 + "7f"):
        assert not signature.verify(bytes.fromhex(weak), b"", bytes.fromhex("01" + "00" * 63))


def test_another_library_agrees(signed):
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    rng = random.Random(0)
    for k in range(20):
        key = ed25519.Ed25519PrivateKey.from_private_bytes(rng.randbytes(32))
        message = rng.randbytes(k)
        public = key.public_key().public_bytes_raw()
        assert signature.verify(public, message, key.sign(message))
        assert not signature.verify(public, message + b"x", key.sign(message))
    stated = json.loads((signed / "model.json.signature").read_text())
    public = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(stated["key"]))
    public.verify(bytes.fromhex(stated["signature"]), b"pairdp-signature/1\n" + (signed / "model.json").read_bytes())


def test_a_signed_model_verifies_by_its_key_alone(signed):
    model, key = signed / "model.json", signed / "custodian.key.pub"
    verdict = verification.verify(model, signed_by=key)
    assert verdict.holds
    assert verdict.checks[0].name == "signature"
    other = signed / "other.key"
    signing.new_key(other)
    assert not verification.verify(model, signed_by=f"{other}.pub").holds
    assert not verification.verify(model, signed_by=signed / "custodian.key").holds
    text = model.read_text()
    model.write_text(text.replace('"ridge":', '"ridge" :'))
    assert verification.verify(model).holds
    assert not verification.verify(model, signed_by=key).holds
    model.write_text(text)
    assert verification.main([str(model), "--signed-by", str(key)]) == 0
    assert verification.main([str(model), "--signed-by", f"{other}.pub"]) == 1
    for odd in ("{}", "[]", "nothing", '{"format": "pairdp-signature/1", "key": 1, "signature": 2}'):
        (signed / "model.json.signature").write_text(odd)
        assert not verification.verify(model, signed_by=key).holds
    (signed / "model.json.signature").unlink()
    with pytest.raises(FileNotFoundError):
        verification.verify(model, signed_by=key)
    with pytest.raises(TypeError, match="give the path of the model"):
        verification.verify(json.loads(text), signed_by=key)


def test_keys_are_their_owner_s_and_never_overwritten(signed):
    key = signed / "custodian.key"
    before = key.read_text()
    with pytest.raises(FileExistsError, match="never overwritten"):
        signing.new_key(key)
    assert key.read_text() == before
    with pytest.raises(FileExistsError, match="replace a signature with force=True"):
        signing.sign(signed / "model.json", key)
    assert signing.sign(signed / "model.json", key, force=True).name == "model.json.signature"
    (signed / "table.json").write_text("{}")
    (signed / "table.json.signature").write_text("notes")
    with pytest.raises(FileExistsError, match="it is not a signature"):
        signing.sign(signed / "table.json", key, force=True)
    with pytest.raises(ValueError, match="no signing key"):
        signing.sign(signed / "model.json", _own(signed / "cut.key", before[:-4]), force=True)
    if os.name == "posix":
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        key.chmod(0o640)
        with pytest.raises(PermissionError, match="chmod 600"):
            signing.sign(signed / "model.json", key, force=True)


def _own(path, text):
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_a_certificate_is_of_its_own_weights(signed):
    document = json.loads((signed / "model.json").read_text())
    stated = document["certificate"]["provenance"]
    assert stated["software"].startswith("pairdp ")
    assert len(stated["schema"]) == 64
    assert verification.verify(document).holds
    document["predictor"]["parameters"][0] += 1e-9
    failed = [check.name for check in verification.verify(document).checks if check.failure]
    assert failed == ["provenance"]
    document["predictor"]["parameters"][0] -= 1e-9
    del document["certificate"]["provenance"]
    assert verification.verify(document).holds
