"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import gym_memory
from gym_memory.core.errors import MissingDependencyError

MODULES = [
    module.name
    for module in pkgutil.walk_packages(gym_memory.__path__, "gym_memory.")
    if not module.name.endswith("__main__")
]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except MissingDependencyError as error:
        pytest.skip(str(error))
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testmod(module, optionflags=options).failed == 0


def test_docstrings_have_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    module = importlib.import_module("gym_memory.core.names")
    assert any(test.examples for test in finder.find(module))
    assert {"gym_memory.wrappers.actions", "gym_memory.baselines.base"} <= set(MODULES)
