"""Training a language model on steps: it clones, takes over, resumes, and plays from the disk."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from tiny_llama import save_tiny_llama
from trained import assert_same_training

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.rl.shared.envs import LocalEnvs
from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.baselines.rl.shared.trainer import Trainer
from gym_memory.baselines.rl.shared.training import TrainSettings
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Spec
from gym_memory.core.tensors import read_tensors
from gym_memory.core.training_folder import BEST
from gym_memory.llm import make_model
from gym_memory.run import rollout
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.train.lm import LmLearner, LmSettings
from gym_memory.train.steps import AdvisedObservation
from gym_memory.wrappers import MemoryObservation

pytestmark = pytest.mark.slow

for package in ("transformers", "peft"):
    if find_spec(package) is None:  # imported by the tests: each worker reads all files
        pytest.skip(f"{package} is not installed", allow_module_level=True)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> LmSettings:
    folder = save_tiny_llama(tmp_path_factory.mktemp("tiny"), spread=6.0)
    model = Spec.of("transformers", {"model": folder, "dtype": "float32"})
    return LmSettings(model=model, batch=4, update_every=2, learn_start=4, lr=1e-2, tokens=600)


def house(split: str = "train") -> Any:
    return MemoryObservation(FakeHouse(split=split, max_steps=10), memory="arigraph", budget=60)


def trainer(folder: Path, settings: LmSettings, steps: int) -> Trainer:
    def make(split: str) -> Any:
        return AdvisedObservation(house()) if split == "train" else house("valid")

    how = TrainSettings(
        steps=steps, games=2, valid_games=1, envs=2, evaluate_every=20, checkpoint_every=20
    )
    return Trainer(LmLearner(settings), LocalEnvs(make), how, folder, {"env": "FakeHouse"})


def teach(learner: LmLearner) -> tuple[float, float]:
    """Label a dozen states of the house, update, and return the first and the last losses."""
    env = AdvisedObservation(house())
    obs, _ = env.reset(seed=0)
    for _ in range(12):
        seen = learner.see(obs, "game")
        learner.shown.append((seen.prompt, seen.actions[seen.label]))
        obs, _, terminated, truncated, _ = env.step(obs["advice"])
        if terminated or truncated:
            obs, _ = env.reset(seed=0)
    losses = [learner.update()["clone_loss"] for _ in range(50)]
    return float(np.mean(losses[:5])), float(np.mean(losses[-5:]))


class Student(NamedTuple):
    """A learner after fifty updates on the teacher's labels of twelve states."""

    learner: LmLearner
    before: dict[str, torch.Tensor]
    """Its weights before the first of them."""
    first: float
    last: float
    """Its losses."""


@pytest.fixture(scope="module")
def student(tiny: LmSettings) -> Callable[[str], Student]:
    """Return a function of the method, which teaches each student once."""

    @functools.cache
    def taught(method: str) -> Student:
        learner = LmLearner(dataclasses.replace(tiny, method=method))
        before = {name: p.detach().clone() for name, p in learner.network.named_parameters()}
        return Student(learner, before, *teach(learner))

    return taught


@pytest.mark.parametrize("method", ["alora", "full", "lora"])
def test_student_learns_from_teacher_into_its_own_weights(
    tiny: LmSettings, student: Callable[[str], Student], method: str
) -> None:
    learner, before, first, last = student(method)
    changed = {n for n, p in learner.network.named_parameters() if not torch.equal(p, before[n])}
    assert changed == set(learner.weights()[0])
    assert method == "full" or all(".lora_" in name for name in changed)
    assert len(changed) < len(before) or method == "full"
    assert last < 0.8 * first
    # What others play with is as it was.
    _, shared = make_model(tiny.model).load()
    theirs = dict(shared.named_parameters())
    if method == "full":
        assert all(torch.equal(theirs[name], before[name]) for name in theirs)


def adapted(learner: LmLearner, prompt: list[int], answer: list[int]) -> Any:
    """Return logits of an answer's tokens, the prompt but for its last token read unadapted.

    What was read is rounded to 16 bits, as it is kept.
    """
    network = learner.network
    with torch.no_grad():
        with network.disable_adapter():
            past = network(torch.tensor([prompt[:-1]]), use_cache=True).past_key_values
        for layer in past.layers:
            layer.keys, layer.values = layer.keys.half().float(), layer.values.half().float()
        ids = torch.tensor([[prompt[-1], *answer[:-1]]])
        return network(ids, past_key_values=past).logits[0]


def whole(learner: LmLearner, prompt: list[int], answer: list[int]) -> Any:
    """Return logits of an answer's tokens, with everything read by the trained weights."""
    with torch.no_grad():
        logits = learner.network(torch.tensor([[*prompt, *answer]]), use_cache=False).logits
    return logits[0, len(prompt) - 1 : -1]


def assert_as_alone(
    learner: LmLearner, several: list[int], alone: Callable[..., Any], atol: float
) -> None:
    """Assert that texts in one batch have the logits that each has alone."""
    with torch.no_grad():
        together = list(learner.logits(several))
    assert len({len(learner.shown[n][0]) for n in several}) > 1  # so that some are padded
    for number, (logits, answer) in zip(several, together, strict=True):
        prompt, shown = learner.shown[number]
        assert answer.tolist() == shown
        np.testing.assert_allclose(logits, alone(learner, prompt, shown), atol=atol)


def counted(learner: LmLearner, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the list of prompts that the frozen model reads from now on, whole or in part."""
    prefix, reads = learner.frozen.latest, []  # type: ignore[union-attr]

    def start(ids: list[int], **kwargs: Any) -> Any:
        reads.append(ids)
        return type(prefix).start(prefix, ids, **kwargs)

    monkeypatch.setattr(prefix, "start", start)
    return reads


def test_prompts_are_read_once_and_answers_go_through_together(
    student: Callable[[str], Student], monkeypatch: pytest.MonkeyPatch
) -> None:
    learner, several = student("alora").learner, [0, 5, 3]
    assert_as_alone(learner, several, adapted, 2e-2)
    reads = counted(learner, monkeypatch)
    list(learner.logits(several))
    assert not reads
    frozen: Any = learner.frozen
    frozen.kept.clear()
    monkeypatch.setattr(frozen, "most", 2)
    for _ in range(2):
        list(learner.logits([0, 5, 3, 4]))
    assert len(reads) == 4 + 2  # the first two are kept, the others are read again


@pytest.mark.parametrize("method", ["lora", "full"])
def test_whole_texts_may_go_through_together(
    student: Callable[[str], Student], method: str
) -> None:
    """As they do on a GPU."""
    assert_as_alone(student(method).learner, [0, 5, 3], whole, 1e-3)


def test_state_of_an_action_is_not_read_again(
    tiny: LmSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = LmLearner(dataclasses.replace(tiny, beta_steps=1))
    learner.steps = 1  # the teacher plays no more
    reads = counted(learner, monkeypatch)
    env = AdvisedObservation(house())
    obs, _ = env.reset(seed=0)
    for number in range(3):
        seen = learner.see(obs, "game")
        action = learner.act([seen], explore=True)[0]
        assert len(reads) == number + 1
        learner.observe(0, Experience(seen, action, 0.0, seen, False, False))
        obs = env.step(obs["valid_actions"][action])[0]
    list(learner.logits([0, 1, 2]))
    assert len(reads) == 3


@pytest.mark.parametrize(
    ("method", "logits"), [("alora", adapted), ("lora", whole), ("full", whole)]
)
def test_the_played_action_is_the_likeliest_whole_answer(
    student: Callable[[str], Student], method: str, logits: Callable[..., Any]
) -> None:
    learner = student(method).learner
    seen = learner.see(house().reset(seed=1)[0])
    scores = []
    for answer in seen.actions:
        logs = logits(learner, seen.prompt, answer).log_softmax(-1)
        scores.append(sum(float(logs[i, token]) for i, token in enumerate(answer)))
    assert learner.act([seen], explore=False) == [int(np.argmax(scores))]


def test_a_prompt_keeps_within_its_tokens(tiny: LmSettings) -> None:
    obs, _ = house().reset(seed=0)
    long = {**obs, "memory": "the apple is on the table\n" * 100}
    whole = len(LmLearner(tiny).see({**obs, "memory": ""}).prompt)
    learner = LmLearner(dataclasses.replace(tiny, tokens=whole + 100))
    prompt = learner.see(long).prompt
    assert whole < len(prompt) <= whole + 100
    assert learner.tokenizer.decode(prompt).count("apple is on the table") >= 1
    short = LmLearner(dataclasses.replace(tiny, tokens=50))
    assert len(short.see(long).prompt) == 50


def test_resumed_run_equals_uninterrupted_one_and_plays(tiny: LmSettings, tmp_path: Path) -> None:
    dagger = dataclasses.replace(tiny, beta_steps=20)
    curve = trainer(tmp_path / "whole", dagger, 40).run()
    trainer(tmp_path / "half", dagger, 20).run()
    trainer(tmp_path / "half", dagger, 40).run()
    assert_same_training(tmp_path / "whole", tmp_path / "half")
    assert curve[-1]["updates"] == 18
    tensors, _ = read_tensors(tmp_path / "half" / BEST)
    assert all(".lora_" in name for name in tensors)
    result = rollout(house("test"), make_policy(f"lm?checkpoint={tmp_path / 'half'}"), 0)
    assert result.steps > 0
    assert not result.failed


def test_recorded_steps_are_cloned(tiny: LmSettings, tmp_path: Path) -> None:
    from gym_memory.cli import main

    env = "TreasureHunt?level=easy&split=train&max_steps=6"
    with pytest.raises(SystemExit, match="0"):
        main(["run", "-e", env, "-m", "none", "-p", "walkthrough", "--out", str(tmp_path / "r")])
    learner = LmLearner(dataclasses.replace(tiny, records=str(tmp_path / "r")))
    learner.show_recorded()
    assert len(learner.shown) == 6
    prompt, answer = learner.shown[0]
    assert "treasure" in learner.tokenizer.decode(prompt).lower()
    assert answer[-1] == learner.tokenizer.eos_token_id


def test_mistakes_are_named(tiny: LmSettings) -> None:
    with pytest.raises(UnknownNameError, match="method"):
        LmSettings(method="half")
    with pytest.raises(InvalidArgumentError, match="local model"):
        LmLearner(LmSettings(model="openai?model=x&base_url=http://localhost:1/v1"))
    with pytest.raises(InvalidArgumentError, match="tokens"):
        LmSettings(tokens=1)
