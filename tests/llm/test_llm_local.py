"""Local weights: a tiny randomly initialised Llama with a tokenizer made here."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_llama import save_llama

from gym_memory.core.errors import (
    BudgetExceededError,
    MissingDependencyError,
    ModelError,
    ModelSetupError,
)
from gym_memory.llm import Request, make_model
from gym_memory.llm.local import TransformersChat
from gym_memory.llm.smollm import SmolLM

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

WORDS = "you are in the kitchen take red key go north south east west open door user assistant"
TEMPLATE = (
    "{% for m in messages %}<s> {{ m['role'] }} {{ m['content'] }} </s> {% endfor %}"
    "{% if add_generation_prompt %}<s> assistant {% endif %}"
)
CHAT = [{"role": "user", "content": "you are in the kitchen"}]
ACTIONS = ["go north", "take the red key", "open door", "east"]


def save(folder: Path, template: str | None) -> str:
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {
        w: i for i, w in enumerate(dict.fromkeys(["<unk>", "<s>", "</s>", *WORDS.split()]))
    }
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return save_llama(folder, words, template, 32, 48, 128)


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> str:
    return save(tmp_path_factory.mktemp("weights"), TEMPLATE)


@pytest.fixture(scope="module")
def model(weights) -> TransformersChat:
    return TransformersChat(weights)


def test_greedy_answers_repeat_and_count(weights):
    model = make_model(f"transformers?model={weights}")
    first = model.complete(Request(CHAT, role="plan", max_tokens=12))
    assert first == model.complete(Request(CHAT, role="plan", max_tokens=12))
    assert first.tokens.prompt == len(f"<s> user {CHAT[0]['content']} </s> <s> assistant".split())
    assert 1 <= first.tokens.completion <= 12
    assert first.finish == ("length" if first.tokens.completion == 12 else "stop")
    usage = model.meter.by_role()["plan"]
    assert (usage.calls, usage.cost_usd, usage.unpriced) == (2, 0.0, 0)


def test_sampling_depends_on_its_seed_alone(model):
    state = torch.random.get_rng_state()
    texts = [
        model.complete(Request(CHAT, temperature=2.0, seed=seed, max_tokens=12)).text
        for seed in (1, 2, 1)
    ]
    assert texts[0] == texts[2] != texts[1]
    assert torch.equal(state, torch.random.get_rng_state())


def test_likelihoods_equal_those_of_the_whole_text(model):
    scores = model.score(CHAT, [*ACTIONS, ""])
    tokenizer, network = model.load()
    prompt = tokenizer.apply_chat_template(CHAT, tokenize=False, add_generation_prompt=True)
    for action, score in zip(ACTIONS, scores, strict=False):
        whole = tokenizer(prompt + action, add_special_tokens=False, return_tensors="pt").input_ids
        size = len(action.split())
        with torch.no_grad():
            logits = network(whole).logits[0, -size - 1 : -1].log_softmax(-1)
        expected = logits.gather(1, whole[0, -size:, None]).sum().item()
        assert score == pytest.approx(expected, abs=1e-4)
    assert scores[-1] == 0.0
    assert len(set(scores)) == len(scores)
    assert model.score(CHAT, [*ACTIONS, ""]) == scores


def test_one_token_continuations_make_a_distribution(model):
    tokenizer, _ = model.load()
    scores = model.score(CHAT, list(tokenizer.get_vocab()))
    assert torch.tensor(scores).exp().sum().item() == pytest.approx(1.0, abs=1e-4)


def test_a_tokenizer_without_a_chat_template(tmp_path):
    answer = TransformersChat(save(tmp_path, None)).complete(Request(CHAT, max_tokens=4))
    assert answer.tokens.prompt == len(
        ["user:", "you", "are", "in", "the", "kitchen", "assistant:"]
    )


def test_too_long_prompt_is_a_model_error(model):
    long = [{"role": "user", "content": "key " * 200}]
    for call in (
        lambda: model.complete(Request(long)),
        lambda: model.score(long, ["key"]),
        lambda: model.complete(Request(CHAT, max_tokens=500)),
    ):
        with pytest.raises(ModelError, match="context of 128") as caught:
            call()
        assert caught.value.kind == "request"


def test_the_hard_stop_and_the_cache(weights, tmp_path):
    model = TransformersChat(weights, cache=str(tmp_path / "c"), max_tokens=400)
    first = model.complete(Request(CHAT, max_tokens=8))
    spent = model.budget.spent()
    assert model.complete(Request(CHAT, max_tokens=8)) == first._replace(hit=True)
    assert model.budget.spent() == spent == (first.tokens.prompt + first.tokens.completion, 0.0)
    with pytest.raises(BudgetExceededError):
        model.complete(Request(CHAT, max_tokens=600))
    with pytest.raises(BudgetExceededError):
        model.score([{"role": "user", "content": "key " * 100}], ACTIONS)


def test_missing_weights_are_one_line(tmp_path):
    with pytest.raises(ModelSetupError, match="download=true") as caught:
        TransformersChat(str(tmp_path / "nothing")).complete(Request(CHAT))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("model", "extra"), [("folder", "semantic"), ("smollm", "smollm")])
def test_missing_package_is_named_with_its_extra(monkeypatch, model, extra):
    chat = SmolLM() if model == "smollm" else TransformersChat(model)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=rf"gym-memory\[{extra}\]"):
        chat.preflight()


def test_weights_are_loaded_once_a_process(weights):
    one, two = TransformersChat(str(weights)), TransformersChat(str(weights), prefix=False)
    assert one.load()[1] is two.load()[1]
