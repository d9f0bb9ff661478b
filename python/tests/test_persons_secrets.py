"""Ids of persons, and that no refusal, model or certificate tells how many records there are."""

import json
import re
import traceback

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from pairdp._persons import numbers_of
from person_trials import MARK, RECORDS, SMALL, X, every_estimator, fresh, groups, said, y

# Ids.

SEVENTY = np.arange(70) // 2
IDS = {
    "whole numbers": SEVENTY,
    "small whole numbers": SEVENTY.astype(np.uint8),
    "a list": SEVENTY.tolist(),
    "a list of NumPy's numbers": list(SEVENTY),
    "text": SEVENTY.astype(str),
    "objects": SEVENTY.astype(object),
    "bytes": SEVENTY.astype("S4"),
    "text with space around it": [f" {number}" if row % 2 else f"{number} " for row, number in enumerate(SEVENTY)],
    "numbers and their text": [number if row % 2 else str(number) for row, number in enumerate(SEVENTY)],
    "a pandas column": pandas.Series(SEVENTY, index=range(100, 170)),
    "pandas' whole numbers": pandas.Series(SEVENTY, dtype="Int64"),
    "pandas' text": pandas.Series(SEVENTY.astype(str), dtype="string"),
    "categories": pandas.Categorical(SEVENTY.astype(str)),
    "a column of categories": pandas.Series(SEVENTY).astype("category"),
    "a Polars column": polars.Series(SEVENTY),
    "Polars' text": polars.Series(SEVENTY.astype(str).tolist()),
    "an Arrow column": pyarrow.array(SEVENTY),
    "Arrow's text": pyarrow.array(SEVENTY.astype(str).tolist()),
}


@pytest.mark.parametrize("ids", IDS)
def test_whole_numbers_text_and_categories_name_persons(ids):
    numbers = np.array(numbers_of(IDS[ids], 70))
    assert np.array_equal(numbers[:, None] == numbers, SEVENTY[:, None] == SEVENTY)
    fitted = fresh(algorithm="moments").fit(X[:70], y[:70], groups=IDS[ids])
    assert fitted.certificate_["records"] == 35


def test_ids_are_one_if_they_read_the_same():
    assert numbers_of(["7", "007", " 7", "seven"], 4) == [0, 1, 0, 2]
    assert numbers_of(["7", "007", "+7", 7, "-0", "0"], 6, integer=True) == [0, 0, 0, 0, 1, 1]
    for odd in ("7.0", "seven", "1_000", "٧"):
        assert "not a whole number" in said(lambda odd=odd: numbers_of(["7", odd], 2, integer=True))


TEXT = np.full(70, MARK, dtype=object)


def with_id(entry, ids=TEXT):
    ids = np.array(ids, dtype=object)
    ids[41] = entry
    return ids


BAD_IDS = {
    "None": with_id(None),
    "None in a list": with_id(None).tolist(),
    "NaN": with_id(np.nan),
    "NaN in a list": with_id(float("nan")).tolist(),
    "NaN among numbers": with_id(np.nan, SEVENTY).astype(float),
    "NA": pandas.Series(with_id(None), dtype="string"),
    "NA among numbers": pandas.Series(with_id(None, SEVENTY), dtype="Int64"),
    "no category": pandas.Categorical(with_id(None)),
    "null in Polars": polars.Series(with_id(None).tolist()),
    "null in Arrow": pyarrow.array(with_id(None).tolist()),
    "nothing": with_id(""),
    "space": with_id("  "),
    "numbers with a point": SEVENTY / 1,
    "one number with a point": with_id(7.0),
    "truths": SEVENTY > 10,
    "a truth": with_id(True),
    "times": np.full(70, "2031-05-07", dtype="M8[D]"),
    "a list of a list": with_id([MARK]),
    "complex numbers": SEVENTY * 1j,
    "two columns": np.full((70, 2), MARK),
    "one word": MARK,
    "too few": SEVENTY[:69],
    "too many": np.arange(71),
}


@pytest.mark.parametrize("bad", BAD_IDS)
@every_estimator
def test_what_may_or_may_not_be_the_same_person_is_refused(name, bad):
    text = said(lambda: fresh(name).fit(X[:70], y[:70], groups=BAD_IDS[bad]))
    assert "groups" in text
    assert MARK not in text and "2031" not in text
    # Neither the row nor how many there are.
    assert not re.search(r"\d\d|row \d|4", text.replace("7.0", "")), text


# What nobody learns.


@every_estimator
def test_refusals_of_a_table_of_persons_name_no_row_and_no_number_of_records(name):
    bad_rows, bad_labels = X.copy(), y.astype(object)
    bad_rows[RECORDS - 1, 1] = np.nan
    bad_labels[RECORDS - 1] = "neither"
    bad_targets = y.astype(float)
    bad_targets[RECORDS - 1] = np.nan
    for rows, labels, owners in [
        (bad_rows, y, groups),
        (bad_rows.astype(object), y, groups),
        (X, bad_labels, groups),
        (X, bad_targets, groups),
        (X, y + 5.25, groups),
        (X, y[:-1], groups),
        (X[:-1], y, groups),
        (X, y, groups[:-1]),
        (X[:, :0], y, groups),
    ]:
        try:
            fresh(name).fit(rows, labels, groups=owners)
        except (ValueError, TypeError) as error:
            text = "\n".join(line for line in traceback.format_exception_only(error))
            assert not re.search(r"43\d\d|\brow \d", text), text
        else:
            # Whatever is not the positive label is negative, and targets are cut off.
            assert name in ("ranker", "regressor")


def values(entry):
    """Return every number, and the length of every list, in what may hold others."""
    if isinstance(entry, dict):
        return [value for one in entry.values() for value in values(one)]
    if isinstance(entry, list | tuple):
        return [len(entry), *(value for one in entry for value in values(one))]
    if isinstance(entry, np.ndarray):
        return [*entry.shape, *entry.ravel().tolist()]
    return [entry]


@every_estimator
def test_nothing_of_a_fitted_model_tells_how_many_records_there_are(name):
    fitted = fresh(name).fit(X, y, groups=groups)
    attributes = {key: value for key, value in vars(fitted).items() if key != "_model"}
    known = values(attributes) + values(json.loads(fitted.model_))
    assert RECORDS not in known and str(RECORDS) not in map(str, known)


def test_two_tables_with_equally_many_persons_have_the_same_certificate():
    fixed = {"algorithm": "moments", "representation": "ranges"}
    few, many = (fresh(**fixed).fit(*table[:2], groups=table[2]).certificate_ for table in (SMALL, (X, y, groups)))
    # Each is of weights of its own, which were released.
    assert few["provenance"].pop("weights") != many["provenance"].pop("weights")
    assert few == many


def test_too_few_persons_are_refused_by_their_number_alone():
    text = said(lambda: fresh().fit(X, y, groups=np.zeros(RECORDS, dtype=int)))
    assert "at least 2" in text and "not 1" in text and not re.search(r"43\d\d", text)
