"""Types are complete, and those of the core are true."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
PACKAGE = Path(__file__).resolve().parents[1]


def run(tmp_path, *arguments):
    return subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=tmp_path)


@pytest.mark.skipif(not (PACKAGE / "pyproject.toml").exists(), reason="the sources are not around the tests")
def test_the_package_is_typed(tmp_path):
    config = ("--config-file", str(PACKAGE / "pyproject.toml"))
    checked = run(tmp_path, "mypy", "--strict", *config, str(PACKAGE / "pairdp"))
    assert checked.returncode == 0, checked.stdout


def test_the_stubs_of_the_core_are_true(tmp_path):
    # The list of names is made by the binding itself.
    (tmp_path / "allowed").write_text("pairdp._core.__all__")
    checked = run(tmp_path, "mypy.stubtest", "pairdp._core", "--allowlist", "allowed")
    assert checked.returncode == 0, checked.stdout + checked.stderr
