"""No message, warning, log line or traceback quotes a cell, and none tells how many records there are where that is secret."""

import json
import logging
import re
import subprocess
import sys
import traceback
import warnings

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

from pairdp import PrivateClassifier, PrivateMetric, PrivateRanker, PrivateRegressor, baseline

MARK = "P00000SECRET"
# A number that nothing else prints.
NUMBER = 73219.4625
PUBLIC = {"epsilon": 1.0, "delta": 1e-6, "bounds": (-1, 1)}
ESTIMATORS = {
    "ranker": PrivateRanker(**PUBLIC),
    "metric": PrivateMetric(**PUBLIC, classes=[0, 1]),
    "classifier": PrivateClassifier(**PUBLIC, classes=(0, 1)),
    "regressor": PrivateRegressor(**PUBLIC, target_bounds=(0, 1)),
    "open ranker": baseline.Ranker(),
    "open metric": baseline.Metric(steps=5),
    "open classifier": baseline.Classifier(),
    "open regressor": baseline.Regressor(),
}
X = np.random.default_rng(5).uniform(-1, 1, size=(20, 2))
y = (X[:, 0] > 0).astype(int)


def everything_said(work, caplog):
    """Return every word that can be had: warnings, log lines, the traceback with its causes and contexts."""
    said = []
    caplog.clear()
    with warnings.catch_warnings(record=True) as caught, caplog.at_level(logging.DEBUG):
        warnings.simplefilter("always")
        try:
            work()
        except Exception as error:
            said.append("".join(traceback.format_exception(error)))
            seen = [error]
            while seen:
                one = seen.pop()
                said += [str(one), repr(one), repr(one.args), *getattr(one, "__notes__", ())]
                seen += [other for other in (one.__cause__, one.__context__) if other is not None]
    said += [str(one.message) for one in caught]
    return "\n".join([*said, caplog.text])


def with_cell(cell, dtype=object):
    table = X.astype(dtype)
    table[7, 1] = cell
    return table


class Reading:
    """Shows itself when it is printed, and cannot be read as a number."""

    def __repr__(self):
        return MARK

    def __float__(self):
        raise ValueError(MARK)


BAD_TABLES = {
    "text": with_cell(MARK),
    "texts": [*X.astype("U32").tolist()[:19], [MARK, "1"]],
    "bytes": np.array([[MARK.encode(), b"1"]] * 20),
    "an object": with_cell(Reading()),
    "a dictionary": with_cell({MARK: 1}),
    "a list": with_cell([MARK]),
    "a complex number": with_cell(complex(NUMBER, 1)),
    "complex numbers": X.astype(complex) + NUMBER * 1j,
    "a structured array": np.array([(MARK, NUMBER)] * 20, dtype=[("name", "U20"), ("age", "f8")]),
    "a missing value": with_cell(None),
    "NaN beside it": np.where(X[7, 1] == X, np.nan, NUMBER),
    "infinity beside it": np.where(X[7, 1] == X, np.inf, NUMBER),
    "one dimension": np.array([NUMBER] * 20),
    "three dimensions": np.full((20, 2, 2), NUMBER),
    "rows of many lengths": [[NUMBER], [NUMBER, NUMBER], *X.tolist()[2:]],
    "one word": MARK,
    "a pandas frame of text": pandas.DataFrame({"age": [MARK] * 20, "dose": X[:, 1]}),
    "a pandas frame of categories": pandas.DataFrame({"age": pandas.Categorical([MARK] * 20), "dose": X[:, 1]}),
    "a pandas frame with gaps": pandas.DataFrame({"age": pandas.array([NUMBER, None] * 10), "dose": X[:, 1]}),
    "a polars frame of text": polars.DataFrame({"age": [MARK] * 20, "dose": X[:, 1]}),
    "a polars frame with gaps": polars.DataFrame({"age": [NUMBER, None] * 10, "dose": X[:, 1]}),
    "an Arrow table of text": pyarrow.table({"age": [MARK] * 20, "dose": X[:, 1]}),
    "an Arrow table of lists": pyarrow.table({"age": [[MARK]] * 20, "dose": X[:, 1]}),
    "an Arrow table with gaps": pyarrow.table({"age": [NUMBER, None] * 10, "dose": X[:, 1]}),
    "times": np.full((20, 2), "2031-05-07", dtype="M8[D]"),
}
BAD_LABELS = {
    "text": np.array([MARK] * 20),
    "one text": np.array([*[0, 1] * 9, 0, MARK], dtype=object),
    "objects": np.array([Reading()] * 20, dtype=object),
    "lists": [[MARK]] * 20,
    "many lists": [[MARK], [MARK, MARK]] * 10,
    "numbers": np.full(20, NUMBER),
    "complex numbers": np.full(20, NUMBER * 1j),
    "a structured array": np.array([(MARK,)] * 20, dtype=[("name", "U20")]),
    "too few": np.full(19, NUMBER),
    "NaN": np.array([np.nan, *[NUMBER] * 19]),
    "two columns": np.full((20, 2), NUMBER),
    "a pandas column": pandas.Series([MARK] * 20),
    "pandas categories": pandas.Series(pandas.Categorical([MARK] * 20)),
    "a polars column": polars.Series([MARK] * 20),
    "an Arrow column": pyarrow.array([MARK] * 20),
    "times": np.full(20, "2031-05-07", dtype="M8[D]"),
    "one word": MARK,
}


def quotes(text):
    return MARK in text or "73219" in text or "2031-05-07" in text or "0x" in text


@pytest.mark.parametrize("secret", [False, True], ids=["public size", "secret size"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_issue_18_16_fit_quotes_no_cell(name, secret, caplog):
    estimator = ESTIMATORS[name]
    secret = secret and not name.startswith("open")
    size = {"max_records": 50} if secret else {}
    for bad, (table, labels) in {
        **{f"X: {bad}": (table, y) for bad, table in BAD_TABLES.items()},
        **{f"y: {bad}": (X, labels) for bad, labels in BAD_LABELS.items()},
    }.items():
        fresh = type(estimator)(**estimator.get_params() | size)
        said = everything_said(lambda fresh=fresh, table=table, labels=labels: fresh.fit(table, labels), caplog)
        assert not quotes(said), f"{bad}: {said}"
        assert "mputer" not in said, f"{bad} repeats advice that breaks privacy"
        if secret:
            message = said.split("Error: ")[-1].split("\n")[0]
            assert not re.search(r"row \d", message), f"{bad}: {message}"
            assert "20" not in message and "19" not in message, f"{bad}: {message}"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_issue_18_16_using_a_model_quotes_no_cell(name, caplog):
    fitted = ESTIMATORS[name].fit(X, X[:, 0] > 0)
    for method in ("decision_function", "predict", "transform", "pair_distance", "encode"):
        for bad, table in BAD_TABLES.items() if hasattr(fitted, method) else ():
            said = everything_said(lambda table=table, method=method: getattr(fitted, method)(table), caplog)
            assert not quotes(said), f"{method}, {bad}: {said}"
    for bad, labels in BAD_LABELS.items() if hasattr(fitted, "score") else ():
        said = everything_said(lambda labels=labels: fitted.score(X, labels), caplog)
        assert not quotes(said), f"score, {bad}: {said}"


SCHEMA = """
[label]
column = "ill"
positive = "yes"
negative = "no"

[[column]]
name = "age"
range = [0, 100]
"""


def parts(folder, bad_age=None, bad_label=None):
    """Write a table in two files, one of them with a bad cell, in each format that has names."""
    (folder / "parts.schema.toml").write_text(SCHEMA)
    inside = folder / "parts"
    inside.mkdir()
    good = "age,ill\n" + "40,yes\n50,no\n" * 30
    (inside / "1.csv").write_text(good)
    (inside / "2.csv").write_text(good + f"{bad_age or 40},{bad_label or 'yes'}\n")
    return inside, folder / "parts.schema.toml"


@pytest.mark.parametrize("cells", [(MARK, None), (None, MARK), (f'"{MARK}', None), (f"1,{MARK}", None)])
def test_issue_18_16_workers_name_file_and_column_and_no_row(tmp_path, caplog, capfd, cells):
    data, schema = parts(tmp_path, *cells)
    ranker = PrivateRanker(epsilon=1.0, delta=1e-6)
    said = everything_said(lambda: ranker.fit_partitions(data, schema, "local:2"), caplog)
    said += "".join(capfd.readouterr())
    assert "2.csv" in said and not quotes(said)
    assert "2.csv: line" not in said


def test_issue_18_16_a_bridge_and_its_workers_print_nothing_of_a_cell(tmp_path):
    data, schema = parts(tmp_path, bad_age=MARK)
    from pairdp import _core

    texts, _, _ = _core.describe_parts(str(data), str(schema), json.dumps({"task": "ranking"}), 2)
    body = json.dumps(texts).encode()
    bridge = subprocess.run(
        [sys.executable, "-m", "pairdp.engines", "local:2"],
        input=b"P" + len(body).to_bytes(8, "little") + body,
        capture_output=True,
        timeout=60,
    )
    said = (bridge.stdout + bridge.stderr).decode(errors="replace")
    assert "2.csv: column `age`: not a number" in said
    assert not quotes(said) and "line" not in said
