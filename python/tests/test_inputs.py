"""Tables of other libraries, other orders and other numbers."""

import numpy as np
import pytest
from scipy import sparse

from pairdp import PrivateRanker

X = np.random.default_rng(2).uniform(-1, 1, size=(1500, 3))
y = (X[:, 0] > 0).astype(int)
NAMES = ["age", "dose", "weight"]


def fit(table, labels=y):
    return PrivateRanker(epsilon=2.0, delta=1e-6, bounds=(-1, 1)).fit(table, labels)


@pytest.mark.parametrize(
    "table",
    [X.astype(np.float32), np.asfortranarray(X), X[::-1][::-1], np.repeat(X, 2, axis=1)[:, ::2], X.tolist()],
    ids=["float32", "Fortran", "reversed twice", "strided", "lists"],
)
def test_arrays_of_any_make(table):
    fitted = fit(table)
    assert fitted.verify()
    np.testing.assert_allclose(fitted.decision_function(table), fitted.decision_function(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "table",
    [np.asfortranarray(X), X[::-1], X[::2], X.T[::-1].T, X[:1]],
    ids=["columns", "reversed", "every other", "columns reversed", "one row"],
)
def test_the_order_in_which_cells_lie_says_nothing(table):
    fitted = fit(X)
    np.testing.assert_array_equal(fitted.encode(table), fitted.encode(np.ascontiguousarray(table)))


@pytest.mark.parametrize("table", [X, np.asfortranarray(X)], ids=["rows", "columns"])
def test_doubles_are_not_copied(monkeypatch, table):
    from pairdp import _core

    handed_over = []
    trained = _core.fit

    def watched(rows, *others, **named):
        handed_over.append(rows)
        return trained(rows, *others, **named)

    monkeypatch.setattr(_core, "fit", watched)
    fit(table)
    assert np.shares_memory(handed_over[0], table)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_of_other_libraries(library):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    table = make(dict(zip(NAMES, X.T, strict=True)))
    column = module.array(y) if library == "pyarrow" else module.Series(y)
    fitted = fit(table, column)
    assert fitted.verify()
    np.testing.assert_array_equal(fitted.decision_function(table), fitted.decision_function(make(table)))
    assert fitted.score(table, column) > 0.9
    if library == "polars" and not hasattr(fitted, "feature_names_in_"):
        pytest.skip("this scikit-learn does not read the names of Polars' columns")
    assert list(fitted.feature_names_in_) == NAMES
    with pytest.raises(ValueError, match="feature names"):
        fitted.decision_function(make(dict(zip(reversed(NAMES), X.T, strict=True))))


def test_tables_behind_the_arrow_interface():
    pyarrow = pytest.importorskip("pyarrow")

    class Stream:
        """All that some libraries offer."""

        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    fitted = fit(Stream(pyarrow.table(dict(zip(NAMES, X.T, strict=True)))))
    assert list(fitted.feature_names_in_) == NAMES
    assert fitted.score(Stream(pyarrow.table(dict(zip(NAMES, X.T, strict=True)))), y) > 0.9


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_tables_are_refused_with_the_reason(make):
    with pytest.raises(TypeError, match=r"sparse.*zeros do not stay zeros.*toarray"):
        fit(make(X))
    with pytest.raises(TypeError, match="sparse"):
        fit(X).decision_function(make(X))
