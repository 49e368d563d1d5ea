"""The benchmark of poisoned texts: one game of it, played for real."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "poison"
ENV = "Cooking?level=medium"


@pytest.fixture(scope="module")
def poison() -> ModuleType:
    spec = importlib.util.spec_from_file_location("poison_benchmark", FOLDER / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_false_recipe_is_acted_upon_unless_only_what_was_seen_is_trusted(
    poison: ModuleType,
) -> None:
    listed = tomllib.loads((FOLDER / "attacks.toml").read_text("utf-8"))["attack"]
    attacks = {attack["name"]: poison.Attack(**attack) for attack in listed}
    recipe = attacks["false recipe"]
    naive = poison.play(ENV, "arigraph", recipe, recipe.acts, 0)
    careful = poison.play(ENV, "arigraph?trust=seen", recipe, recipe.acts, 0)
    blank = poison.play(ENV, "arigraph?trust=seen", poison.Attack("blank"), recipe.acts, 0)
    assert (naive["believed"], naive["did"]) == (True, {"use {bait}": True})
    assert (careful["believed"], careful["did"]) == (False, {"use {bait}": False})
    assert careful["score"] == blank["score"] == 1.0


def test_no_forged_step_is_believed(poison: ModuleType) -> None:
    listed = tomllib.loads((FOLDER / "attacks.toml").read_text("utf-8"))["attack"]
    forged = poison.Attack(**next(a for a in listed if a["name"] == "forged steps"))
    for memory in ("history", "rag", "arigraph"):
        row = poison.play(ENV, memory, forged, forged.acts, 0)
        assert (row["recalled"], row["believed"]) == (True, False), memory
