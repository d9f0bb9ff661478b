"""The Python examples of the README and the guide run as printed."""

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[2] / "README.md"
GUIDE = README.parent / "docs" / "python.md"


@pytest.mark.skipif(not README.exists(), reason="the README is not beside the tests")
def test_the_example_in_the_readme(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
    auc, verified, _ = capsys.readouterr().out.split(" ", 2)
    assert float(auc) > 0.9
    assert verified == "True"


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is not beside the tests")
def test_the_examples_in_the_guide(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(examples[0].splitlines()) == 8
    names = {}
    for example in examples:
        exec(compile(example, "python.md", "exec"), names)
    accuracy, verified = capsys.readouterr().out.split()[:2]
    assert float(accuracy) > 0.85
    assert verified == "True"
