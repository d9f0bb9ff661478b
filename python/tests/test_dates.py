"""Columns of dates: the same day in every kind of frame, in files, and on the command line."""

import datetime
import json

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from pairdp import PrivateRanker, Schema

DAYS = [datetime.date(2023, 12, 31), datetime.date(2024, 2, 29), None, datetime.date(2026, 1, 1)]
SCHEMA = {
    "label": {"column": "y", "positive": 1, "negative": 0},
    "column": [
        {"name": "day", "kind": "date", "range": [datetime.date(2024, 1, 1), "2024-12-31"], "missing": "own"},
        {"name": "age", "range": [0, 100]},
    ],
}
# 2024 is a leap year: 365 days from its first to its last.
EXPECTED = [[-1.0, 0.0], [2 * 59 / 365 - 1, 0.0], [0.0, 1.0], [1.0, 0.0]]


def frames():
    moments = [None if day is None else datetime.datetime(day.year, day.month, day.day, 23, 59) for day in DAYS]
    zoned = [None if moment is None else moment.replace(tzinfo=datetime.UTC) for moment in moments]
    texts = [None if day is None else day.isoformat() for day in DAYS]
    ages = [10.0, 20.0, 30.0, 40.0]
    for name, values in {"dates": DAYS, "moments": moments, "zoned": zoned, "texts": texts}.items():
        columns = {"day": values, "age": ages}
        yield f"pandas objects, {name}", pandas.DataFrame({"day": pandas.Series(values, dtype=object), "age": ages})
        yield f"polars, {name}", polars.DataFrame(columns)
        yield f"arrow, {name}", pyarrow.table(columns)
        if name != "texts":
            yield f"pandas, {name}", pandas.DataFrame({"day": pandas.to_datetime(values), "age": ages})
    yield "arrow in pandas", pyarrow.table({"day": DAYS, "age": ages}).to_pandas(types_mapper=pandas.ArrowDtype)


def trained(n=400):
    rng = np.random.default_rng(0)
    first = np.datetime64("2024-01-01")
    table = pandas.DataFrame({"day": first + rng.integers(0, 366, n), "age": rng.uniform(0, 100, n)})
    y = (table["day"] > pandas.Timestamp("2024-07-01")).astype(int)
    return PrivateRanker(epsilon=4.0, delta=1e-6, schema=SCHEMA, representation="ranges").fit(table, y), table, y


def test_a_day_is_the_same_in_every_frame():
    model, *_ = trained()
    expected = model.encode(pandas.DataFrame({"day": DAYS, "age": [10.0, 20.0, 30.0, 40.0]}))
    # Rows are scaled down alike.
    np.testing.assert_allclose(
        expected[:, :2] / np.abs(expected[:, 2:]), np.array(EXPECTED) / [[0.8], [0.6], [0.4], [0.2]]
    )
    for name, frame in frames():
        np.testing.assert_array_equal(model.encode(frame), expected, err_msg=name)


def test_models_with_dates_are_trained_verified_and_read_again(tmp_path):
    model, table, y = trained()
    assert model.verify()
    assert model.score(table, y) > 0.8
    model.save(tmp_path / "model.json")
    again = type(model).load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.decision_function(table), model.decision_function(table))
    columns = json.loads(model.model_)["predictor"]["encoding"]["columns"]
    assert columns[0]["range"] == ["2024-01-01", "2024-12-31"]
    shape = next(shape for shape in model.shapes() if shape["column"] == "day")
    assert (shape["cells"][0], shape["cells"][-1]) == (datetime.date(2024, 1, 1), datetime.date(2024, 12, 31))
    effects = model.coefficients_
    assert set(effects[effects["column"] == "day"]["of"]) == {"day", "empty"}


@pytest.mark.parametrize(
    "cells",
    [
        ["29.02.2024", "2024-02-29"],
        [20240229, 20240301],
        [19782.0, 19783.0],
        [True, False],
        [datetime.date(2024, 2, 29), 20240229],
        [datetime.time(1), datetime.time(2)],
        [datetime.timedelta(1), datetime.timedelta(2)],
        [object(), object()],
    ],
)
def test_what_is_no_date_is_refused_without_being_quoted(cells):
    model, *_ = trained()
    frame = pandas.DataFrame({"day": pandas.Series(cells, dtype=object), "age": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"column `day`, row [01]: not a date") as refusal:
        model.decision_function(frame)
    assert "2024" not in str(refusal.value).replace("2024-02-29, with or without", "")


def test_absurd_days_are_cut_off():
    model, *_ = trained()
    ages = [50.0, 50.0]
    ends = model.decision_function(pandas.DataFrame({"day": ["2024-01-01", "2024-12-31"], "age": ages}))
    far = model.decision_function(pandas.DataFrame({"day": ["0001-01-01", "9999-12-31"], "age": ages}))
    beyond = np.array(["-20000-01-01", "+20000-01-01"], dtype="datetime64[D]")
    farther = model.decision_function(_named(beyond, ages))
    np.testing.assert_array_equal(far, ends)
    np.testing.assert_array_equal(farther, ends)


def _named(days, ages):
    return pandas.DataFrame({"day": pandas.Series(days.astype("datetime64[s]")), "age": ages})


def test_schemas_say_how_files_are_written():
    plain = Schema(SCHEMA)
    assert plain.text is None
    other = Schema(SCHEMA | {"delimiter": ";", "decimal": ","})
    assert other.text == {"delimiter": ";", "decimal": ","}
    assert other.form != plain.form
    _, table, y = trained()
    other = PrivateRanker(epsilon=4.0, delta=1e-6, schema=other).fit(table, y)
    assert json.loads(other.model_)["predictor"]["encoding"]["text"] == {"delimiter": ";", "decimal": ","}
    assert other.verify()


def test_a_runtime_takes_dates_as_days(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    model, table, _ = trained()
    model.to_onnx(tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"])
    days = table["day"].to_numpy().astype("datetime64[D]").astype(float)
    numbers = np.column_stack([days, table["age"]])
    numbers[0, 0] = np.nan
    table.loc[0, "day"] = pandas.NaT
    (scores,) = session.run(["score"], {"numbers": numbers})
    np.testing.assert_allclose(scores, model.decision_function(table), rtol=0, atol=1e-6)
