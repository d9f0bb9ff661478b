"""The README's Python example runs as printed."""

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[2] / "README.md"


@pytest.mark.skipif(not README.exists(), reason="the README is not beside the tests")
def test_the_example_in_the_readme(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
    auc, verified, _ = capsys.readouterr().out.split(" ", 2)
    assert float(auc) > 0.9
    assert verified == "True"
