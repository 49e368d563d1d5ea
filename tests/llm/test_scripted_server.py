"""The scripted server on the wire: format, streaming, faults, the command."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import openai
import pytest

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Spec
from gym_memory.llm.prompts import load_prompt, prompt_names
from gym_memory.run.config import Job
from gym_memory.run.play import play_job
from gym_memory.testing.chat import FAULTS, Faults, ScriptedServer, answer, answers
from gym_memory.testing.chat.registry import ANSWERS, UNKNOWN_PROMPT

EXPLORE = load_prompt("explore").messages(task="", plan="find the red key")
SUMMARY = load_prompt("summary").messages(
    task="cook", previous="", trace="Step 0\nObservation: You are in a kitchen. You see a table."
)


def post(url: str, body: bytes, **headers: str) -> tuple[int, dict]:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=600) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


@pytest.fixture
def client(serve):
    return openai.OpenAI(base_url=serve().base_url, api_key="none", max_retries=0)


@pytest.mark.parametrize("name", prompt_names())
def test_every_prompt_has_an_answer(name):
    prompt = load_prompt(name)
    messages = prompt.messages(**dict.fromkeys(prompt.slots, "[]"))
    assert answer(messages) not in ("", UNKNOWN_PROMPT)
    assert answer(messages) == answer(messages)


def test_other_prompts_get_a_plain_answer(client):
    chat = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
    assert chat.choices[0].message.content == UNKNOWN_PROMPT


def test_a_prompt_is_taught_by_one_function(monkeypatch):
    assert answer(EXPLORE) == "True"
    monkeypatch.setitem(ANSWERS, "explore", ANSWERS["explore"])  # restored at the end

    @answers("explore")
    def explore(slots):
        return f"Is {slots['plan']} exploring?"

    assert answer(EXPLORE) == "Is find the red key exploring?"


def test_the_official_client_reads_a_completion(client):
    chat = client.chat.completions.create(model="m", messages=EXPLORE)
    assert chat.choices[0].message.content == "True"
    assert chat.usage.total_tokens == chat.usage.prompt_tokens + chat.usage.completion_tokens
    assert [model.id for model in client.models.list()] == ["scripted"]


def test_streaming_gives_the_same_answer(client):
    whole = client.chat.completions.create(model="m", messages=SUMMARY)
    stream = client.chat.completions.create(
        model="m", messages=SUMMARY, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole.choices[0].message.content
    assert len(chunks) > 3
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"


def test_a_stream_that_is_cut(serve):
    client = openai.OpenAI(base_url=serve("cut").base_url, api_key="none", max_retries=0)
    stream = client.chat.completions.create(model="m", messages=SUMMARY, stream=True)
    with pytest.raises(openai.APIConnectionError):
        list(stream)


def test_fault_replaces_any_action_by_impossible_one(serve):
    slots = dict.fromkeys(("task", "lessons", "history", "memory", "inventory"), "")
    messages = load_prompt("react").messages(
        **slots, observation="A hall.", actions="go east\nlook"
    )
    right, wrong = (
        openai.OpenAI(base_url=serve(*faults).base_url, api_key="none", max_retries=0)
        .chat.completions.create(model="m", messages=messages)
        .choices[0]
        .message.content
        for faults in ((), ("other_action",))
    )
    assert right.splitlines()[1] in ("Action: go east", "Action: look")
    assert wrong.splitlines()[1] == "Action: fly to the moon"


@pytest.mark.parametrize("fault", sorted(FAULTS.keys() - {"timeout", "slow"}))
def test_a_request_may_ask_for_its_fault(serve, fault):
    server = serve()
    body = json.dumps({"model": "m", "messages": EXPLORE}).encode()
    url = f"{server.base_url}/chat/completions"
    expected = {"429": 429, "quota": 429, "401": 401, "400": 400, "500": 500, "503": 503}
    for place, headers in ((f"{url}?fault={fault}", {}), (url, {"X-Scripted-Fault": fault})):
        if fault in ("cut", "half_json"):
            with pytest.raises((OSError, ValueError, http.client.HTTPException)):
                post(place, body, **headers)
            continue
        status, value = post(place, body, **headers)
        assert status == expected.get(fault, 200)
        if status != 200:
            assert value["error"]["message"]
        elif fault not in ("no_choice", "other_action"):  # no action stands in this prompt
            assert value["choices"][0]["message"]["content"] != "True"
    assert post(url, body)[1]["choices"][0]["message"]["content"] == "True"


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/chat/completions", b"{", 400),
        ("/chat/completions", b"[]", 400),
        ("/chat/completions", b'{"messages": 3}', 400),
        ("/chat/completions", b'{"messages": [], "max_tokens": "many"}', 400),
        ("/chat/completions", b'{"messages": [], "max_tokens": 1e999}', 400),
        ("/chat/completions", b'{"messages": [], "stream": true, "stream_options": "x"}', 400),
        ("/chat/completions", b'{"messages": ' + b"[" * 100_000, 400),
        ("http://[/chat/completions", b"{", 400),
        ("/chat/completions?fault=x", b'{"messages": []}', 400),
        ("/embeddings", b"{}", 404),
        ("/chat/completions", b'{"messages": []}', 200),
        ("/chat/completions", b'{"messages": [{"role": "user", "content": [{"x": 1}]}]}', 200),
    ],
)
def test_bad_requests_are_answered(serve, path, body, status):
    server = serve()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=600)
    with contextlib.closing(connection):
        connection.request("POST", path if path[0] != "/" else f"/v1{path}", body, {"Host": "x"})
        response = connection.getresponse()
        assert response.status == status
        assert isinstance(json.load(response), dict)


@pytest.mark.slow
def test_slow_clients_are_cut_off(serve):
    """Neither silence, nor drops of a request, nor an answer that is not taken holds a thread."""
    server = serve("huge", patience=2.0)
    body = json.dumps({"messages": EXPLORE}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n"
    others = set(threading.enumerate())

    def held() -> int:
        return len(set(threading.enumerate()) - others)

    deadline = time.monotonic() + 600
    with contextlib.ExitStack() as stack:
        clients = [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 600))
            for _ in range(40)
        ]
        clients[0].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        clients[0].sendall(head % len(body) + body)
        for client in clients[20:]:
            client.sendall(head % 100)
        while held() < len(clients) - 1:  # all are let in; the first may be done
            assert time.monotonic() < deadline
            time.sleep(0.001)
        while held():
            assert time.monotonic() < deadline
            with contextlib.suppress(ConnectionError):
                clients[30].sendall(b"x")
            time.sleep(0.02)
    assert post(f"{server.base_url}/chat/completions", body)[0] == 200


@pytest.mark.slow
def test_the_prefix_cache_is_bounded(serve):
    url = f"{serve().base_url}/chat/completions"

    def cached(text: str) -> int:
        body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
        return post(url, body)[1]["usage"]["prompt_tokens_details"]["cached_tokens"]

    first, long = "first " * 40, "long " * 900_000
    assert cached(first) == 0
    assert cached(first) > 0
    assert cached(long) == 0
    assert cached(long) == 0
    assert cached(first) == 0


def test_health_and_unknown_paths(serve):
    server = serve()
    with urllib.request.urlopen(f"{server.base_url}/health", timeout=600) as response:
        assert json.load(response) == {"status": "ok"}
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(f"{server.base_url}/nothing", timeout=600)


def test_faults_are_drawn_at_their_rates_and_repeat():
    faults = Faults(["500", ""], {"429": 0.25, "cut": 0.25}, seed=3)
    drawn = [faults.of(n) for n in range(2002)]
    assert drawn[:2] == ["500", ""]
    assert 400 < drawn.count("429") < 600
    assert 400 < drawn.count("cut") < 600
    assert drawn == [faults.of(n) for n in range(2002)]
    assert drawn != [Faults(["500", ""], faults.rates, seed=4).of(n) for n in range(2002)]
    with pytest.raises(UnknownNameError):
        Faults(["4290"])
    with pytest.raises(InvalidArgumentError):
        Faults(rates={"429": 0.7, "500": 0.7})


def test_bug_in_an_answer_is_visible(serve, monkeypatch):
    def broken(slots):
        raise KeyError("a bug")

    monkeypatch.setitem(ANSWERS, "explore", broken)
    body = json.dumps({"messages": EXPLORE}).encode()
    status, value = post(f"{serve().base_url}/chat/completions", body)
    assert status == 500
    assert "KeyError" in value["error"]["message"]


def test_the_port_is_free_after_close():
    with ScriptedServer() as server:
        port = server.port
    with ScriptedServer(port) as again:
        assert again.port == port


@pytest.mark.slow
def test_the_command_serves():
    command = [sys.executable, "-m", "gym_memory", "serve-scripted", "--fault", "500=0.0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            url = next(word for word in line.split() if word.startswith("http"))
            body = json.dumps({"messages": EXPLORE}).encode()
            assert post(f"{url}/chat/completions", body)[0] == 200
        finally:
            process.terminate()
    wrong = subprocess.run(
        [*command, "--fault", "500"], capture_output=True, text=True, timeout=600
    )
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)


@pytest.mark.slow
@pytest.mark.parametrize("memory", ["none", "arigraph"])
def test_scripted_react_wins_a_household(serve, memory):
    pytest.importorskip("alfworld", reason="households need the extra alfworld")
    llm = str(Spec.of("openai", {"model": "m", "base_url": serve().base_url}))
    env = Spec("ALFWorld?path=generated")
    (row,) = play_job(Job(env, Spec(memory), Spec.of("react", {"llm": llm}), 1))
    assert row.result.score == 1.0
    assert row.result.counters["fallbacks"] == row.result.counters["invalid_actions"] == 0
