"""Answers restricted to a form with local weights: a tiny Llama with random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tiny_llama import save_tiny_llama

from gym_memory.baselines.llm import ariadne, stma
from gym_memory.core.errors import InvalidArgumentError, ModelError
from gym_memory.llm import Form, Request
from gym_memory.llm.base import validate
from gym_memory.llm.local import TransformersChat
from gym_memory.llm.writing import BLOCK, Prefix, Writer, write_json

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

CHAT: Any = [{"role": "user", "content": "A kitchen. There is a door to the east."}]
ACTIONS = ("go", "go east", "take apple", 'say "ok"', "take a pan", "look")


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tiny_llama(tmp_path_factory.mktemp("weights"))


@pytest.fixture(scope="module")
def model(weights: str) -> TransformersChat:
    return TransformersChat(weights)


def writer(model: TransformersChat, **how: Any) -> Writer:
    tokenizer, network = model.load()
    start = Prefix(network).start(model.prompt_ids(tokenizer, CHAT))
    return Writer(tokenizer, network, start, ends=[2], **{"most": 200, **how})


def test_any_seed_gives_one_of_the_options(model: TransformersChat) -> None:
    form = Form("{action}", ACTIONS)
    texts = {
        model.complete(Request(CHAT, schema=form, temperature=3.0, seed=seed)).text
        for seed in range(60)
    }
    assert texts <= set(ACTIONS)
    assert len(texts) >= 4  # held, not fixed
    assert model.complete(Request(CHAT, max_tokens=20)).text not in ACTIONS


def test_greedy_takes_the_most_likely_branch(model: TransformersChat) -> None:
    """The walk by whole passes over the text so far, without keys and values."""
    tokenizer, network = model.load()
    rows = [[*tokenizer(a, add_special_tokens=False)["input_ids"], 2] for a in ACTIONS]
    done: list[int] = []
    prompt = model.prompt_ids(tokenizer, CHAT)
    while len({tuple(row) for row in rows}) > 1:
        with torch.inference_mode():
            logits = network(torch.tensor([prompt + done])).logits[0, -1]
        best = max({row[len(done)] for row in rows}, key=lambda token: float(logits[token]))
        rows = [row for row in rows if row[len(done)] == best]
        done.append(best)
    expected = tokenizer.decode(rows[0][:-1])
    with torch.inference_mode():
        one = writer(model)
        assert one.choose(ACTIONS, last=True) == expected == one.text
    assert one.passes < len(one.ids)
    assert model.complete(Request(CHAT, schema=Form("{action}", ACTIONS))).text == expected


def test_draws_are_those_of_the_branch(model: TransformersChat) -> None:
    with torch.inference_mode():
        logits = writer(model).next_logits()
        tokenizer, _ = model.load()
        ids = sorted(tokenizer.convert_tokens_to_ids(["g", "l"]))
        first = [tokenizer.decode([i]) for i in ids]
        share = float(logits[ids].softmax(-1)[0])
        drawn = [writer(model, temperature=1.0, seed=s).choose(first) for s in range(300)]
    assert drawn.count(first[0]) / 300 == pytest.approx(share, abs=0.1)


def test_equal_tokens_are_settled_by_their_number(tmp_path: Path) -> None:
    flat = TransformersChat(save_tiny_llama(tmp_path, spread=0.0))
    tokenizer, _ = flat.load()
    answers = {
        flat.complete(Request(CHAT, schema=Form("{action}", options))).text
        for options in (("look", "take", "eat"), ("take", "eat", "look"))
    }
    assert answers == {tokenizer.decode([min(tokenizer.convert_tokens_to_ids(list("lte")))]) + "at"}


def test_a_form_with_free_text_ends_in_an_action(model: TransformersChat) -> None:
    form = Form("Thought: {thought}\nAction: {action}", ACTIONS)
    for seed in range(8):
        answer = model.complete(
            Request(CHAT, schema=form, temperature=2.0, seed=seed, max_tokens=80)
        )
        thought, _, action = answer.text.rpartition("\nAction: ")
        assert action in ACTIONS
        assert thought.startswith("Thought: ")
        assert "\n" not in thought
        assert answer.finish == "stop"


SCHEMAS = {
    "plan": lambda: ariadne.plan_schema(True),
    "decision": lambda: ariadne.decision_schema(ACTIONS),
    "one": lambda: ariadne.decision_schema(("look",)),
    "actions": lambda: stma.plan_schema(ACTIONS),
    "verdict": lambda: stma.verdict_schema(),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_json_is_of_its_schema(model: TransformersChat, name: str) -> None:
    pytest.importorskip("pydantic")
    schema = SCHEMAS[name]()
    for seed in range(5):
        answer = model.complete(
            Request(CHAT, schema=schema, strict=True, temperature=2.0, seed=seed, max_tokens=256)
        )
        assert type(answer.parsed) is schema
        json.loads(answer.text)
        assert answer.parsed == validate(answer.text, schema)
    assert model.meter.total().repairs == 0


def test_unreachable_option_is_named(model: TransformersChat) -> None:
    with torch.inference_mode(), pytest.raises(InvalidArgumentError, match="schema of text"):
        write_json(writer(model), {"type": "number"})
    for form in (Form("no slot", ("a",)), Form("{a} ends", ("a",)), Form("{a}", ())):
        with pytest.raises(InvalidArgumentError, match="ends in a slot"):
            form.parts()
    with pytest.raises(ModelError, match="with action"):
        Form("{action}", ("a",)).pour("nonsense")


def test_earlier_requests_change_no_bit(weights: str) -> None:
    _, network = TransformersChat(weights).load()
    ids = [5 + at % 200 for at in range(5 * BLOCK + 7)]
    fork = ids[: 2 * BLOCK + 9] + [7] * 3 * BLOCK
    with torch.inference_mode():
        alone = Prefix(network).start(ids)
        warm = Prefix(network)
        for other in (fork, ids[:-30], ids[:BLOCK], fork):
            warm.start(other)
        again = warm.start(ids)
        whole = network(torch.tensor([ids])).logits[0, -1]
    assert alone.computed == len(ids)
    assert again.computed <= BLOCK + 7
    assert torch.equal(alone.logits, again.logits)
    assert all(
        torch.equal(one.keys, other.keys)
        for one, other in zip(alone.past.layers, again.past.layers, strict=True)
    )
    assert torch.allclose(alone.logits, whole, atol=1e-4)


def test_likelihoods_share_common_prefixes(model: TransformersChat) -> None:
    tokenizer, network = model.load()
    tails = ["take a pan", "take a pot", "take", "go", "", "take a pan"]
    scores = model.score(CHAT, tails)
    assert model.lengths(tails) == [len(tokenizer(tail)["input_ids"]) for tail in tails]
    prompt = model.prompt_ids(tokenizer, CHAT)
    for tail, score in zip(tails, scores, strict=True):
        ids = tokenizer(tail, add_special_tokens=False)["input_ids"]
        with torch.inference_mode():
            logs = network(torch.tensor([prompt + ids])).logits[0].log_softmax(-1)
        expected = sum(float(logs[len(prompt) - 1 + at, i]) for at, i in enumerate(ids))
        assert score == pytest.approx(expected, abs=1e-3)
    assert scores == model.score(CHAT, tails)
