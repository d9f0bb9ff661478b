"""The Python files of the repository are formatted and free of what linters find."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ruff")
PACKAGE = Path(__file__).resolve().parents[1]
FOLDERS = [".", *(f"../{name}" for name in ("bench", "testdata", "docs", "oracle"))]

pytestmark = pytest.mark.skipif(
    not (PACKAGE / "pyproject.toml").exists() or not (PACKAGE / "../bench").exists(),
    reason="the repository is not around the tests",
)


@pytest.mark.parametrize("task", [("check",), ("format", "--check")], ids=["lints", "format"])
def test_ruff_finds_nothing(task):
    command = [sys.executable, "-m", "ruff", *task, "--no-cache", "--config", "pyproject.toml", *FOLDERS]
    found = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
