"""Every example in the package's documentation answers as printed."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import pairdp

# Those that need Ray or Dask, and the program, have no examples.
ELSEWHERE = ("_ray", "_dask", "__main__")
MODULES = [
    found.name for found in pkgutil.walk_packages(pairdp.__path__, "pairdp.") if not found.name.endswith(ELSEWHERE)
]


def examples(name):
    return [example for test in doctest.DocTestFinder().find(import_module(name)) for example in test.examples]


@pytest.mark.parametrize("name", [name for name in MODULES if examples(name)])
def test_examples_answer_as_printed(name):
    results = doctest.testmod(import_module(name))
    assert results.attempted == len(examples(name))
    assert results.failed == 0


def test_whatever_trains_plans_audits_or_accounts_has_an_example():
    tasks = {"ranking", "metric", "classification", "regression", "baseline"}
    tools = {"planning", "auditing", "accounting", "ledger", "schema", "datasets", "verification"}
    assert {name for name in tasks | tools if not examples(f"pairdp.{name}")} == set()
