"""Choosing among valid actions by likelihood, with a tiny randomly initialised Llama."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.llm.language import fill
from gym_memory.baselines.llm.saycan import Choose
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Spec
from gym_memory.core.records import Observation
from gym_memory.llm.client import OpenAIChat
from gym_memory.llm.prompts import load_prompt
from gym_memory.run import rollout
from gym_memory.testing.fake_env import FAKE_ID

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

WORDS = "you are in the kitchen take red key go north south east west open door user assistant"
OBS = Observation(
    text="you are in the kitchen", task="take red key", inventory="", memory="", triples=(),
    episodes=(), lessons=(), valid_actions=("go north", "take red key", "open door", "east"),
)  # fmt: skip


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder = tmp_path_factory.mktemp("weights")
    known = dict.fromkeys(["<unk>", "<s>", "</s>", *WORDS.split()])
    words = Tokenizer(models.WordLevel({w: i for i, w in enumerate(known)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", bos_token="<s>", eos_token="</s>"
    )
    tokenizer.chat_template = "{% for m in messages %}<s> {{ m['content'] }} </s> {% endfor %}"
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(known), hidden_size=16, intermediate_size=24, num_hidden_layers=1,
        num_attention_heads=2, max_position_embeddings=2048, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def choose(weights: Path, **kwargs: Any) -> Choose:
    policy = make_policy(Spec.of("choose", {"model": str(weights), **kwargs}))
    assert isinstance(policy, Choose)
    policy.reset({}, 0)
    return policy


def test_the_most_likely_action_is_taken(weights: Path) -> None:
    policy = choose(weights)
    valid = OBS["valid_actions"]
    scores = policy.llm.score(fill(load_prompt("plain"), policy.situation(OBS)), valid)
    assert len(set(scores)) == len(valid)
    per_character = [score / len(action) for score, action in zip(scores, valid, strict=True)]
    assert policy.act(OBS, {}) == valid[int(np.argmax(per_character))]
    assert choose(weights, score="sum").act(OBS, {}) == valid[int(np.argmax(scores))]
    tokens = choose(weights, score="token").scores(OBS)
    assert tokens == pytest.approx(np.array(scores) / policy.llm.lengths(valid))


def test_the_likelihood_without_the_situation_is_subtracted(weights: Path) -> None:
    policy, prompt, valid = choose(weights, score="pmi"), load_prompt("plain"), OBS["valid_actions"]
    nothing = fill(prompt, dict.fromkeys(prompt.slots, "") | {"recalled_lessons": ""})
    prior = np.array([policy.llm.score(nothing, [action])[0] for action in valid])
    for _ in range(2):
        found = policy.scores(OBS)
        assert found + prior == pytest.approx(choose(weights, score="sum").scores(OBS))


def test_a_temperature_draws_by_the_seed(weights: Path) -> None:
    policy = choose(weights, temperature=5.0)

    def drawn(seed: int) -> list[str]:
        policy.reset({}, seed)
        return [policy.act(OBS, {}) for _ in range(12)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert len(set(drawn(1))) > 1


def test_choose_plays_an_episode_and_counts_tokens(weights: Path) -> None:
    result = rollout(gym.make(FAKE_ID, memory="arigraph"), choose(weights), 0, limit=4)
    assert result.steps == 4
    assert result.n_invalid == 0
    assert result.counters["llm_calls_score"] == 4
    assert result.counters["fallbacks"] == 0


def test_too_long_prompt_is_a_counted_fallback(weights: Path) -> None:
    policy = choose(weights)
    long = Observation(**{**OBS, "text": "kitchen " * 3000})  # type: ignore[typeddict-item]
    assert policy.act(long, {}) in OBS["valid_actions"]
    assert policy.counters()["fallbacks"] == 1


def test_arguments_are_checked(weights: Path) -> None:
    with pytest.raises(UnknownNameError):
        choose(weights, score="word")
    with pytest.raises(InvalidArgumentError, match="temperature"):
        choose(weights, temperature=-1)
    with pytest.raises(InvalidArgumentError, match="scores"):
        Choose(OpenAIChat("m", "http://127.0.0.1:9/v1"))
