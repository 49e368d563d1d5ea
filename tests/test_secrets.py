"""No secret reaches an error, a log or a results folder, whatever raises."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

from gym_memory.core.errors import ModelSetupError
from gym_memory.core.names import Spec
from gym_memory.core.secrets import add_secret, has_secret, scrubbed
from gym_memory.llm import Request
from gym_memory.llm.client import OpenAIChat
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig
from gym_memory.testing.chat import ScriptedServer

KEY = "sk-THIS-MUST-NOT-BE-FOUND-0123456789"
HELLO = Request([{"role": "user", "content": "Hello"}])


def test_final_line_break_of_key_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\r\n")
    with ScriptedServer(key=KEY) as server:
        assert OpenAIChat("m", server.base_url, retries=0).complete(HELLO).text


@pytest.mark.parametrize("inside", ["\n", "\r\n", " ", "\x00", "é", "\u2028"])
@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "LLM", "OPENAI_ORG_ID"])
def test_key_that_no_header_takes_is_refused_unseen(
    name: str, inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if inside == "\x00":
        monkeypatch.setattr(os, "environ", {**os.environ, name: KEY + inside + KEY[::-1]})
    else:
        monkeypatch.setenv(name, KEY + inside + KEY[::-1])
    if name == "OPENAI_ORG_ID":
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        model = OpenAIChat("m")
    else:
        model = OpenAIChat("m", "http://127.0.0.1:9/v1", key_env=name, retries=0)
    with pytest.raises(ModelSetupError, match=f"expected {name} as one line") as caught:
        model.complete(HELLO)
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY not in shown
    assert KEY[::-1] not in shown


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"Invalid header value b'Bearer {KEY}\\n'", "Invalid header value b'Bearer ***\\n'"),
        ("at https://me:pass@host:80/v1", "at https://***@host:80/v1"),
        ("http://host/v1?api_key=12345&n=1", "http://host/v1?api_key=***&n=1"),
        ("headers {'Authorization': 'Bearer eyJ0.abc'}", "headers {'Authorization': 'Bearer ***'}"),
        ("postgresql://me:word@db/x?sslpassword=w", "postgresql://***@db/x?sslpassword=***"),
        ("model ollama, 500 tokens, key=value", "model ollama, 500 tokens, key=value"),
    ],
)
def test_secret_in_text_is_replaced(text: str, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("LM_API_KEY", "ollama")
    assert scrubbed(text) == kept


@pytest.mark.parametrize(
    "name",
    ["api_key", "sslpassword", "access_token", "X-Amz-Signature", "AWSAccessKeyId", "auth", "key2"],
)
def test_refused_part_of_a_url_is_hidden(name: str) -> None:
    url = f"https://host/v1?n=1&{name}=S3cret&m=2"
    assert has_secret(url)
    assert scrubbed(f"no answer from {url}") == f"no answer from {url.replace('S3cret', '***')}"


@pytest.mark.parametrize("name", ["max_tokens", "keys", "author", "keyboard"])
def test_parameter_of_similar_name_is_no_secret(name: str) -> None:
    url = f"https://host/v1?n=1&{name}=7"
    assert not has_secret(url)
    assert scrubbed(url) == url


def test_added_secret_is_replaced() -> None:
    assert scrubbed(f"failed for {add_secret('Passw0rd-of-no-variable')}") == "failed for ***"


BAD = """
import os
from gym_memory.baselines.base import Policy

class Talking(Policy):
    def act(self, obs, info):
        print("sending", os.environ["OPENAI_API_KEY"])
        raise ValueError("Invalid header value b'Bearer %s'" % os.environ["OPENAI_API_KEY"])

class Unmakeable(Policy):
    def act(self, obs, info):
        return "look"

    def __init__(self):
        raise ValueError("no connection with " + os.environ["OPENAI_API_KEY"])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "status"), [("Talking", 1), ("Unmakeable", 2)])
@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_no_error_prints_or_keeps_a_key(
    policy: str, status: int, debug: list[str], tmp_path: Path
) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "gym_memory", "run", "-e", "Fetch", "-p", f"./bad.py:{policy}"),
            *("-m", "none", "-w", "1", "--out", "r", *debug),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "OPENAI_API_KEY": KEY},
        capture_output=True,
        text=True,
    )
    assert done.returncode == (1 if debug else status), done.stderr
    assert KEY not in done.stdout + done.stderr
    files = [path for path in (tmp_path / "r").rglob("*") if path.is_file()]
    assert any("***" in path.read_text(errors="replace") for path in files)
    assert not any(KEY.encode() in path.read_bytes() for path in files)


@pytest.mark.slow
def test_server_that_sends_the_key_back_leaves_no_trace(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    class Echo(ScriptedServer):
        def complete(self, messages: list[dict[str, Any]], max_tokens: int) -> dict[str, Any]:
            completion = super().complete(messages, max_tokens)
            message = completion["choices"][0]["message"]
            message["content"] = f"Thought: my key is {KEY}\n{message['content']}"
            return completion

    with Echo() as server:
        llm = Spec.of("openai", {"model": "scripted", "base_url": server.base_url})
        policy = Spec.of("react", {"llm": llm})
        compare(RunConfig(("Fetch?max_steps=3",), ("none",), (policy,), (0,)), tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 5
    for path in files:
        content = path.read_bytes()
        text = gzip.decompress(content) if path.suffix == ".gz" else content
        assert KEY.encode() not in text
