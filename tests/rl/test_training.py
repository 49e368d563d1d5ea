"""The training loop on the fake house: same weights after a break, honest errors, Ctrl-C."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.rl.bc import BcLearner, BcSettings
from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings
from gym_memory.baselines.rl.players import Drrn
from gym_memory.baselines.rl.shared.envs import LocalEnvs
from gym_memory.baselines.rl.shared.trainer import Trainer
from gym_memory.baselines.rl.shared.training import TrainSettings, evaluate
from gym_memory.cli import main
from gym_memory.core.errors import CheckpointError, InvalidArgumentError
from gym_memory.core.names import import_plugin
from gym_memory.core.tensors import read_tensors, write_tensors
from gym_memory.core.training_folder import BEST, LAST, TRAINING
from gym_memory.run import rollout
from gym_memory.testing.fake_env import FakeHouse, register_fake
from gym_memory.wrappers import MemoryObservation

pytestmark = pytest.mark.slow

TINY = DrrnSettings(
    dim=8,
    hidden=8,
    vocabulary=512,
    batch=8,
    capacity=64,
    learn_start=40,
    target_every=5,
    epsilon_steps=100,
    n_steps=2,
)
SHORT = TrainSettings(
    steps=180, games=3, valid_games=2, envs=3, evaluate_every=60, checkpoint_every=60
)


def make_env(split: str, memory: str = "arigraph") -> Any:
    return MemoryObservation(FakeHouse(split=split, max_steps=25), memory=memory)


def trainer(
    folder: Path,
    learner: DrrnLearner | None = None,
    settings: DrrnSettings = TINY,
    memory: str = "arigraph",
    **changes: Any,
) -> Trainer:
    how = dataclasses.replace(SHORT, **changes)
    chosen = learner or DrrnLearner(settings, seed=how.seed)
    config = {"env": "FakeHouse", "memory": memory}
    envs = LocalEnvs(lambda split: make_env(split, memory))
    return Trainer(chosen, envs, how, folder, config)


def weights(folder: Path) -> dict[str, Any]:
    tensors, _ = read_tensors(folder / LAST)
    return {name: tensor.numpy() for name, tensor in tensors.items()}


def equal(one: dict[str, Any], two: dict[str, Any]) -> bool:
    return one.keys() == two.keys() and all(np.array_equal(one[k], two[k]) for k in one)


# The stores are cleaned up twice on the way: the replay holds 64 of the 180 steps.
@pytest.mark.parametrize("memory", ["arigraph", "none", "clin"])
def test_resumed_run_ends_with_weights_of_uninterrupted_one(tmp_path: Path, memory: str) -> None:
    whole = trainer(tmp_path / "whole", memory=memory).run()
    trainer(tmp_path / "half", memory=memory, steps=90).run()
    rest = trainer(tmp_path / "half", memory=memory).run()
    assert equal(weights(tmp_path / "whole"), weights(tmp_path / "half"))
    compared = ("steps", "updates", "loss", "valid_score", "valid_steps")
    assert [[row[key] for key in compared] for row in whole] == [
        [row[key] for key in compared] for row in rest if row["steps"] != 90
    ]
    other = trainer(tmp_path / "other", memory=memory, seed=1)
    other.run()
    assert not equal(weights(tmp_path / "whole"), weights(tmp_path / "other"))


def test_training_learns_and_best_player_plays_in_one_loop(tmp_path: Path) -> None:
    settings = dataclasses.replace(TINY, dim=16, hidden=32, batch=32, capacity=4096, lr=3e-3)
    run = trainer(tmp_path, settings=settings, steps=2000, evaluate_every=250, stop_at=0.5)
    before = evaluate(run.learner, LocalEnvs(make_env), range(2), at_once=1).score
    curve = run.run()
    best = max(row["valid_score"] for row in curve)
    assert before < 0.5 <= best
    policy = make_policy(f"drrn?checkpoint={tmp_path}")
    scores = [rollout(make_env("valid"), policy, seed).normalized for seed in range(2)]
    assert np.mean(scores) == best
    # Greedy play has no chance in it.
    again = [rollout(make_env("valid"), policy, seed, policy_seed=9) for seed in range(2)]
    assert [result.normalized for result in again] == scores


def test_cut_training_file_says_how_to_start_again(tmp_path: Path) -> None:
    trainer(tmp_path, steps=60).run()
    whole = (tmp_path / TRAINING).read_bytes()
    (tmp_path / TRAINING).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match=rf"{TRAINING}.*: delete it to start again"):
        trainer(tmp_path).run()


def test_memory_whose_state_is_no_json_is_named(tmp_path: Path) -> None:
    code = "from gym_memory.memory.controls import NoMemory\n"
    code += "class Sets(NoMemory):\n    def state(self):\n        return {'seen': {1, 2}}\n"
    (tmp_path / "own.py").write_text(code)
    memory = f"{tmp_path / 'own.py'}:Sets"
    import_plugin(str(tmp_path / "own.py"))
    with pytest.raises(InvalidArgumentError, match=r"Sets.state to return lists.*own.py:3"):
        trainer(tmp_path / "run", memory=memory).run()


def test_other_run_is_refused_and_longer_one_continues(tmp_path: Path) -> None:
    trainer(tmp_path, steps=60).run()
    with pytest.raises(CheckpointError, match=r"run \(lr is 0.001 there and 0.5 here\)"):
        trainer(tmp_path, settings=dataclasses.replace(TINY, lr=0.5)).run()
    with pytest.raises(CheckpointError, match="memory is 'arigraph' there and 'none' here"):
        trainer(tmp_path, memory="none").run()
    curve = trainer(tmp_path, steps=120).run()
    assert [row["steps"] for row in curve] == [60, 120]
    lines = (tmp_path / "curve.jsonl").read_text().splitlines()
    assert [json.loads(line)["steps"] for line in lines] == [60, 120]


def test_damaged_and_foreign_checkpoints_say_so(tmp_path: Path) -> None:
    trainer(tmp_path, steps=60).run()
    best = tmp_path / BEST
    whole = best.read_bytes()
    for torn in (b"", whole[:50], whole[:-7], b"\x80\x04pickle" + whole):
        best.write_bytes(torn)
        with pytest.raises(CheckpointError, match=r"expected a checkpoint at .*best\.safetensors"):
            Drrn(str(tmp_path))
    tensors, record = read_tensors(tmp_path / LAST)
    write_tensors(best, tensors, {**record, "baseline": "gata"})
    with pytest.raises(CheckpointError, match="got one of 'gata'"):
        Drrn(str(tmp_path))
    write_tensors(best, {"a": tensors["head.bias"]}, record)
    with pytest.raises(CheckpointError, match="this version"):
        Drrn(str(tmp_path))
    with pytest.raises(CheckpointError, match="expected a player, got the state of a training"):
        Drrn(str(tmp_path / TRAINING))
    training = tmp_path / TRAINING
    training.write_bytes(training.read_bytes()[:-100])
    with pytest.raises(CheckpointError, match=r"training\.safetensors"):
        trainer(tmp_path, steps=120).run()
    with pytest.raises(CheckpointError, match="expected a checkpoint at"):
        Drrn(str(tmp_path / "nowhere"))
    with pytest.raises(InvalidArgumentError, match=r"drrn\?checkpoint=FOLDER"):
        make_policy("drrn")


def test_every_flipped_bit_of_a_checkpoint_is_noticed(tmp_path: Path) -> None:
    import torch

    path, chance = tmp_path / "c.safetensors", random.Random(0)
    tensors = {"a": torch.arange(60.0).reshape(6, 10), "b": torch.tensor(True)}
    write_tensors(path, tensors, {"baseline": "drrn", "step": 7})
    whole = path.read_bytes()
    refused = 0
    for bit in chance.sample(range(8 * len(whole)), 400):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            found, record = read_tensors(path)
        except CheckpointError:
            refused += 1
        else:  # a bit of the digest's name
            assert record == {"baseline": "drrn", "step": 7}
            assert all(torch.equal(found[name], tensors[name]) for name in tensors)
    assert refused > 380


def test_setting_that_fails_at_start_leaves_the_folder_free(tmp_path: Path) -> None:
    learner = BcLearner(BcSettings(teacher=str(tmp_path / "nowhere")))
    with pytest.raises(InvalidArgumentError, match="teacher"):
        Trainer(learner, LocalEnvs(make_env), SHORT, tmp_path, {}).run()
    trainer(tmp_path, steps=60).run()


def test_impossible_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match=r"cannot keep a training run in .*file"):
        trainer(tmp_path / "file").run()
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(CheckpointError, match="to be that of a training run"):
        trainer(tmp_path).run()


def test_stopped_run_keeps_its_progress(tmp_path: Path) -> None:
    run = trainer(tmp_path)
    run.listener = lambda steps, row: run.stop() if steps >= 75 else None
    run.run()
    assert run.steps == 75
    trainer(tmp_path).run()
    trainer(tmp_path / "whole").run()
    assert equal(weights(tmp_path), weights(tmp_path / "whole"))


class Mute(gym.Wrapper[Any, Any, Any, Any]):
    """Lists no actions in every fourth observation, or never any."""

    def __init__(self, env: Any, always: bool = False):
        super().__init__(env)
        self._always, self._count = always, 0

    def _shown(self, obs: Any) -> Any:
        self._count += 1
        mute = self._always or self._count % 4 == 0
        return {**obs, "valid_actions": ()} if mute else obs

    def reset(self, **options: Any) -> Any:
        obs, info = self.env.reset(**options)
        self._count = 0
        return self._shown(obs), info

    def step(self, action: Any) -> Any:
        obs, *rest = self.env.step(action)
        return self._shown(obs), *rest


def test_learner_looks_if_no_action_is_listed(tmp_path: Path) -> None:
    how = dataclasses.replace(SHORT, steps=60)
    learner = DrrnLearner(TINY)
    envs = LocalEnvs(lambda split: Mute(make_env(split)))
    run = Trainer(learner, envs, how, tmp_path / "some", {})
    run.run()
    assert run.steps == 60
    assert any(slot.actions[3::4] == ["look"] * len(slot.actions[3::4]) for slot in run.episodes)
    policy = Drrn(str(tmp_path / "some"))
    assert rollout(Mute(make_env("valid")), policy, seed=0).steps > 3
    mute = LocalEnvs(lambda split: Mute(make_env(split), True))
    none = Trainer(learner, mute, how, tmp_path / "no", {})
    with pytest.raises(InvalidArgumentError, match="expected games that list valid actions"):
        none.run()


def train_in_house(out: Path, *words: str) -> None:
    house = ["drrn", "-e", "FakeHouse?max_steps=25", "--games", "3", "--valid-games", "1"]
    short = ["--steps", "60", "--evaluate-every", "60", "--valid-max-steps", "10", "--envs", "2"]
    main(["train", *house, *short, "--out", str(out), *words])


def test_training_starts_from_player_of_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    register_fake()
    one, two, other = (tmp_path / name for name in ("one", "two", "other"))
    small = ("--set", "dim=8", "--set", "vocabulary=512", "--set", "batch=8")
    learning, still = (*small, "--set", "learn_start=20"), (*small, "--seed", "1")
    for out, words in ((one, learning), (two, (*still, "--start", str(one)))):
        with pytest.raises(SystemExit, match="0"):
            train_in_house(out, *words)
    assert read_tensors(one / BEST)[0]["encoder.bag.weight"].any()
    assert equal(weights(two), {k: v.numpy() for k, v in read_tensors(one / BEST)[0].items()})
    assert read_tensors(two / TRAINING)[0]["progress/target/head.bias"]
    with pytest.raises(SystemExit, match="2"):
        train_in_house(other, "--start", str(one))
    assert "give --set dim=8 --set vocabulary=512 --set batch=8" in capsys.readouterr().err


CTRL_C = """
import sys
from gym_memory.testing.fake_env import register_fake
register_fake()
from gym_memory.cli import main
main(sys.argv[1:])
"""


def test_interrupted_run_is_resumed_by_the_same_command(tmp_path: Path) -> None:
    words = ["train", "drrn", "-e", "FakeHouse?max_steps=25", "--games", "3", "--valid-games", "1"]
    words += ["--envs", "2", "--evaluate-every", "100", "--valid-max-steps", "10"]
    for setting in ("dim=8", "hidden=8", "batch=8", "vocabulary=512", "learn_start=40"):
        words += ["--set", setting]
    words += ["--out", str(tmp_path)]
    tests = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(tests), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", CTRL_C, *words]
    running = subprocess.Popen([*command, "--steps", "1000000"], env=environment)
    curve = tmp_path / "curve.jsonl"
    for _ in range(600):
        if curve.exists() and curve.read_text():
            break
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(0.2)
    running.send_signal(signal.SIGINT)
    assert running.wait(600) == 130
    _, record = read_tensors(tmp_path / TRAINING)
    steps = record["steps"]
    assert steps >= 100
    done = subprocess.run(
        [*command, "--steps", str(steps + 20), "--json"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["steps"] == steps + 20
    assert json.loads((tmp_path / "result.json").read_text())["steps"] == steps + 20
