"""The client against a real HTTP server with every kind of fault."""

from __future__ import annotations

import copy
import http.server
import os
import pickle
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pydantic
import pytest

from gym_memory.core.errors import (
    BudgetExceededError,
    GymMemoryError,
    InvalidArgumentError,
    ModelError,
    ModelSetupError,
    UnknownNameError,
)
from gym_memory.llm import Price, Request, episode_usage, make_model
from gym_memory.llm.client import OpenAIChat, read_tokens
from gym_memory.llm.model import prompt_ceiling
from gym_memory.llm.prompts import load_prompt
from gym_memory.memory.base import count_tokens
from gym_memory.testing.chat import ScriptedServer

KEY = "sk-THIS-IS-THE-SECRET-0123456789"
HELLO = [{"role": "user", "content": "Hello"}]
EXPLORE = load_prompt("explore").messages(task="", plan="find the red key")


@pytest.fixture(autouse=True)
def key(environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a key that must appear nowhere."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


class Depths(pydantic.RootModel[dict[str, int]]):
    """The form of the answer to the prompt ``entities``."""


ENTITIES = load_prompt("entities").messages(
    task="cook", plan="take the apple.", observation="", inventory=""
)


def ask(model, messages=EXPLORE, **options):
    return model.complete(Request(messages, role="explore", **options))


def test_answer_has_its_cost(serve, connect):
    server = serve()
    model = connect(server, prompt_price=2.0, completion_price=8.0)
    answer = ask(model)
    assert answer.text == "True"
    assert (answer.finish, answer.hit, answer.parsed) == ("stop", False, None)
    text = "\n".join(f"{m['role']}: {m['content']}" for m in EXPLORE)
    assert answer.tokens.prompt == count_tokens(text)
    assert answer.tokens.completion == 1
    usage = model.meter.by_role()["explore"]
    assert (usage.calls, usage.hits, usage.failures, usage.unpriced) == (1, 0, 0, 0)
    assert usage.cost_usd == pytest.approx((answer.tokens.prompt * 2 + 8) / 1e6)
    assert usage.seconds > 0


def test_the_answer_is_cut_at_max_tokens(serve, connect):
    answer = connect(serve()).complete(Request(ENTITIES, max_tokens=2))
    assert (len(answer.text), answer.finish) == (8, "length")


def test_a_repeated_prefix_is_counted_as_cached_and_priced(serve, connect):
    model = connect(serve(), prompt_price=1.0, completion_price=0.0, cached_price=0.25)
    first = ask(model)
    second = ask(model, load_prompt("explore").messages(task="", plan="cook the meal"))
    assert first.tokens.cached == 0
    assert 16 <= second.tokens.cached <= second.tokens.prompt
    paid = first.tokens.prompt + second.tokens.prompt - 0.75 * second.tokens.cached
    assert model.meter.total().cost_usd == pytest.approx(paid / 1e6)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("429", "rate_limit"),
        ("500", "server"),
        ("503", "server"),
        ("400", "request"),
        ("timeout", "timeout"),
        ("cut", "connection"),
        ("half_json", "server"),
        ("no_choice", "server"),
        ("refusal", "refusal"),
        ("huge", "answer"),
    ],
)
def test_failures_are_distinguished(serve, connect, fault, kind):
    model = connect(serve(fault), **({"timeout": 0.5} if fault == "timeout" else {}))
    with pytest.raises(ModelError) as caught:
        ask(model)
    model.timeout = 120.0
    assert caught.value.kind == kind
    assert pickle.loads(pickle.dumps(caught.value)).kind == kind
    billed = fault in ("refusal", "huge")
    total = model.meter.total()
    assert (total.failures, total.calls, total.unpriced) == (1, 0, billed)
    assert bool(total.prompt_tokens and total.completion_tokens) == billed
    assert ask(model).text == "True", "the next call works"


@pytest.mark.parametrize("fault", ["401", "quota"])
def test_permanent_failure_is_not_a_model_error(serve, connect, fault):
    server = serve(fault)
    with pytest.raises(ModelSetupError):
        ask(connect(server, retries=5))
    assert server.received == 1


@pytest.mark.parametrize("fault", ["429", "500", "503", "cut", "half_json", "no_choice"])
def test_passing_failures_are_retried(serve, connect, fault):
    server = serve(fault, fault)
    model = connect(server, retries=2)
    assert ask(model).text == "True"
    assert (server.received, model.meter.total().failures) == (3, 2)


@pytest.mark.parametrize("fault", ["400", "refusal", "huge"])
def test_lasting_failures_are_not_retried(serve, connect, fault):
    server = serve(fault)
    with pytest.raises(ModelError):
        ask(connect(server, retries=5))
    assert server.received == 1


def test_retry_after_is_honoured_up_to_max_wait(serve, connect, monkeypatch):
    waited, asking, sleep = [], threading.get_ident(), time.sleep

    def note(seconds):  # other threads of the process sleep too
        (waited.append if threading.get_ident() == asking else sleep)(seconds)

    monkeypatch.setattr("gym_memory.llm.model.time.sleep", note)
    ask(connect(serve("429", retry_after=0.4), retries=1, backoff=0.0))
    ask(connect(serve("429", retry_after=3600), retries=1, max_wait=0.05))
    assert waited == [0.4, 0.05]


def test_a_proxy_of_the_environment_is_used(serve, monkeypatch):
    server = serve()
    monkeypatch.setenv("http_proxy", f"http://user:word@127.0.0.1:{server.port}")
    assert ask(OpenAIChat("m", "http://model.invalid/v1")).text
    assert server.received == 1


def test_connections_are_kept_and_replaced_once_closed(serve):
    server = serve()
    for _ in range(3):
        ask(OpenAIChat("m", server.base_url, retries=0))
    (only,) = server.connections
    only.shutdown(socket.SHUT_RDWR)
    ask(OpenAIChat("m", server.base_url, retries=0))
    assert server.received == 4


def test_unreachable_port_is_reported():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        model = OpenAIChat("m", url, retries=1, backoff=0.0, max_tokens=10_000)
        with pytest.raises(ModelError, match="cannot reach") as caught:
            ask(model)
    assert caught.value.kind == "connection"
    assert model.budget.spent() == (0, 0.0), "what was never sent costs nothing"


# --- JSON ---------------------------------------------------------------------------------------


def test_json_is_validated(serve, connect):
    answer = connect(serve()).complete(Request(ENTITIES, schema=Depths))
    assert answer.parsed == Depths({"apple": 2})


@pytest.mark.parametrize("fault", ["wrong_json", "half_answer", "empty"])
def test_bad_json_is_repaired_once(serve, connect, fault):
    server = serve(fault)
    model = connect(server)
    assert model.complete(Request(ENTITIES, role="e", schema=Depths)).parsed == Depths({"apple": 2})
    assert server.received == 2
    assert model.meter.by_role()["e"].repairs == 1


def test_bad_json_is_not_repaired_twice(serve, connect):
    server = serve("wrong_json", "wrong_json", "wrong_json")
    with pytest.raises(ModelError, match="unasked") as caught:
        connect(server, retries=5).complete(Request(ENTITIES, schema=Depths))
    assert (caught.value.kind, server.received) == ("answer", 2)


@pytest.mark.parametrize("mode", ["object", "schema"])
def test_json_modes_are_sent(serve, connect, mode):
    model = connect(serve(), json_mode=mode)
    assert model.complete(Request(ENTITIES, schema=Depths)).parsed == Depths({"apple": 2})


# --- cache --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_exact_repeat_makes_no_call(serve, connect, tmp_path, python):
    server, path = serve(), tmp_path / "sub" / "answers.sqlite"
    options = {"cache": str(path), "prompt_price": 1.0, "completion_price": 1.0}
    model = connect(server, **options)
    first, again = ask(model), ask(model)
    assert (first.hit, again.hit, server.received) == (False, True, 1)
    assert again == first._replace(hit=True)
    total = model.meter.total()
    assert (total.calls, total.hits) == (2, 1)
    assert total.prompt_tokens == 2 * first.tokens.prompt
    assert total.cost_usd == pytest.approx((first.tokens.prompt + first.tokens.completion) / 1e6)
    code = (
        "import sys; from gym_memory.llm import *; from gym_memory.llm.prompts import *\n"
        "m = make_model(sys.argv[1])\n"
        "chat = load_prompt('explore').messages(task='', plan='find the red key')\n"
        "print(m.complete(Request(chat)).hit)"
    )
    spec = f"openai?model=scripted&base_url={server.base_url}&cache={path}"
    assert python(code, spec).strip() == "True"
    assert server.received == 1


def test_changed_request_is_sent_again(serve, connect, tmp_path):
    server = serve()
    model = connect(server, cache=str(tmp_path / "answers.sqlite"))
    for options in ({}, {"temperature": 0.5}, {"max_tokens": 9}, {"seed": 1}, {"seed": 2}):
        assert not ask(model, **options).hit
    assert not ask(model, HELLO).hit
    other = serve()
    assert not ask(connect(other, cache=str(tmp_path / "answers.sqlite"))).hit
    assert (server.received, other.received) == (6, 1)


def test_failures_are_not_cached(serve, connect, tmp_path):
    model = connect(serve("500"), cache=str(tmp_path / "answers.sqlite"))
    with pytest.raises(ModelError):
        ask(model)
    assert not ask(model).hit
    assert ask(model).hit


# --- hard stops ---------------------------------------------------------------------------------


def test_a_stop_is_never_exceeded_by_many_threads(serve, connect):
    server = serve(latency=0.02)
    ceiling = prompt_ceiling(HELLO) + 512
    model = connect(server, max_tokens=ceiling + 300)

    def call(_: int) -> bool:
        try:
            model.complete(Request(HELLO))
        except BudgetExceededError:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        done = list(pool.map(call, range(64)))
    tokens, _ = model.budget.spent()
    assert server.most_active == 1, "a second call under way could have gone over the stop"
    assert tokens <= model.budget.max_tokens
    usage = model.meter.total()
    assert usage.prompt_tokens + usage.completion_tokens == tokens
    assert 1 <= sum(done) == usage.calls < 64


def test_the_money_stop_holds_and_needs_a_price(serve, connect):
    server = serve()
    model = connect(server, prompt_price=1000.0, completion_price=1000.0, max_cost_usd=1.0)
    calls = 0
    with suppress(BudgetExceededError):
        while calls < 1000:
            model.complete(Request(HELLO, max_tokens=64))
            calls += 1
    assert calls == server.received == model.meter.total().calls < 1000
    assert 0.5 < model.meter.total().cost_usd <= 1.0
    with pytest.raises(ModelSetupError, match="price"):
        connect(server, max_cost_usd=1.0)


class WithoutUsage(ScriptedServer):
    """A server that reports no usage, or zeros."""

    usage: Any = None

    def complete(self, messages: list[dict[str, Any]], max_tokens: int) -> dict[str, Any]:
        return {**super().complete(messages, max_tokens), "usage": self.usage}


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": 0, "completion_tokens": 0}])
@pytest.mark.parametrize("stop", [{"max_tokens": 1500}, {"max_cost_usd": 0.001}])
def test_stops_hold_where_a_server_reports_no_usage(connect, usage, stop):
    with WithoutUsage() as server:
        server.usage = usage
        model = connect(server, prompt_price=1.0, completion_price=1.0, **stop)
        with suppress(BudgetExceededError):
            for _ in range(200):
                ask(model, max_tokens=64)
        total = model.meter.total()
        assert 1 <= server.received == total.calls == total.estimated < 20
    tokens = count_tokens("".join(m["content"] for m in EXPLORE))
    assert total.prompt_tokens / total.calls == pytest.approx(tokens, abs=10)
    assert model.budget.spent()[0] == total.prompt_tokens + total.completion_tokens
    assert total.cost_usd > 0


@pytest.mark.parametrize("fault", ["timeout", "cut", "half_json"])
def test_lost_answer_counts_in_full(serve, connect, fault):
    model = connect(serve(fault), timeout=0.3, max_tokens=100_000)
    with pytest.raises(ModelError):
        model.complete(Request(HELLO, max_tokens=100))
    assert model.budget.spent()[0] == prompt_ceiling(HELLO) + 100


@pytest.mark.parametrize("fault", ["429", "500", "400"])
def test_a_rejected_call_counts_nothing(serve, connect, fault):
    model = connect(serve(fault), max_tokens=100_000)
    with pytest.raises(ModelError):
        model.complete(Request(HELLO))
    assert model.budget.spent() == (0, 0.0)


def test_a_run_counts_and_stops_whatever_model_is_used(serve, connect, tmp_path):
    from gym_memory.llm import Budget

    server = serve()
    one, two = connect(server), connect(server)
    run = Budget(max_tokens=3 * (prompt_ceiling(HELLO) + 512), path=tmp_path / "run.sqlite")
    with episode_usage(run) as meter:
        one.complete(Request(HELLO, role="a"))
        with episode_usage() as inner:
            two.complete(Request(HELLO, role="b"))
    one.complete(Request(HELLO, role="a"))
    assert set(meter.by_role()) == {"a", "b"}
    assert set(inner.by_role()) == {"b"}
    assert one.meter.total().calls == 2
    total = meter.total()
    assert run.spent() == (total.prompt_tokens + total.completion_tokens, 0.0)
    with episode_usage(Budget(max_tokens=5)), pytest.raises(BudgetExceededError):
        one.complete(Request(HELLO))
    with episode_usage(Budget(max_cost_usd=1)), pytest.raises(ModelSetupError):
        one.complete(Request(HELLO))


# --- many at once -------------------------------------------------------------------------------


class Crowded(ScriptedServer):
    """Answers when all of a crowd have asked; where they do not, with an error."""

    def __init__(self, crowd: int):
        super().__init__()
        self._crowd = threading.Barrier(crowd, timeout=60)

    def complete(self, messages: list[dict[str, Any]], max_tokens: int) -> dict[str, Any]:
        self._crowd.wait()
        return super().complete(messages, max_tokens)


def test_many_calls_are_under_way_at_once(connect):
    with Crowded(32) as server, ThreadPoolExecutor(32) as pool:
        model = connect(server, timeout=60.0)
        answers = list(pool.map(lambda _: ask(model).text, range(32)))
    assert answers == ["True"] * 32


# --- secrets and settings -----------------------------------------------------------------------


class _Echo(http.server.BaseHTTPRequestHandler):
    """Answers 500 with the request's own Authorization header in the message."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"error": {"message": "bad %s"}}' % self.headers["Authorization"].encode()
        self.send_response(500)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Print nothing."""


def test_key_appears_in_no_output(serve, connect, tmp_path):
    server = serve(key=KEY)
    model = connect(
        server, cache=str(tmp_path / "a"), budget=str(tmp_path / "b"), max_tokens=100_000
    )
    assert ask(model).text == "True", "the key is sent"
    assert KEY not in repr(model) + repr(vars(model)) + repr(model.meter.by_role())
    with pytest.raises(TypeError):
        pickle.dumps(model)
    assert copy.deepcopy(model) is model
    echo = http.server.HTTPServer(("127.0.0.1", 0), _Echo)
    threading.Thread(target=echo.serve_forever, args=(0.02,), daemon=True).start()
    try:
        with pytest.raises(ModelError) as caught:
            ask(OpenAIChat("m", f"http://127.0.0.1:{echo.server_port}/v1", retries=0))
    finally:
        echo.shutdown()
        echo.server_close()
    assert "bad Bearer ***" in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    for path in tmp_path.iterdir():
        assert KEY.encode() not in path.read_bytes()


def test_a_missing_or_wrong_key_says_what_to_do(serve, connect, monkeypatch):
    server = serve(key="another")
    with pytest.raises(ModelSetupError, match="401"):
        ask(connect(server))
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ModelSetupError, match=r"401: .*No key was sent: set OPENAI_API_KEY"):
        ask(connect(server))
    with pytest.raises(ModelSetupError, match="set OPENAI_API_KEY"):
        OpenAIChat("gpt").complete(Request(HELLO))
    assert ask(connect(serve())).text == "True", "a local server needs none"


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        (f"openai?model=m&api_key={KEY}", UnknownNameError),
        (f"openai?model=m&key_env={KEY}", InvalidArgumentError),
        (f"openai?model=m&base_url=http://user:{KEY}@host/v1", InvalidArgumentError),
        (f"openai?model=m&base_url=http://host/v1%3Fkey%3D{KEY}", InvalidArgumentError),
        ("openai?model=m&base_url=host", ModelSetupError),
        ("openai", ModelSetupError),
        ("openai?model=m&json_mode=x", InvalidArgumentError),
        ("openai?model=m&timeout=0", InvalidArgumentError),
        ("openai?model=m&retries=-1", InvalidArgumentError),
        ("openai?model=m&max_tokens=-1", InvalidArgumentError),
        ("openai?model=m&prompt_price=1", InvalidArgumentError),
        *(
            (f"openai?model=m&completion_price=1&prompt_price={price}", InvalidArgumentError)
            for price in ("-1", "cheap", "NaN", "1e999", "true", "")
        ),
        ("openai?model=m&prompt_price=1&completion_price=1&cached_price=-1", InvalidArgumentError),
        ("openai?model=m&timeout=long", InvalidArgumentError),
        ("openai?model=m&backoff=-1", InvalidArgumentError),
        ("openai?model=m&max_wait=long", InvalidArgumentError),
        ("openai?model=m&max_tokens=many", InvalidArgumentError),
        ("opnai?model=m", UnknownNameError),
    ],
)
def test_wrong_spec_is_refused_in_one_line_without_key(spec, error):
    with pytest.raises(error) as caught:
        make_model(spec)
    assert isinstance(caught.value, GymMemoryError)
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_settings_from_the_environment(serve, monkeypatch, tmp_path):
    server = serve()
    monkeypatch.setenv("GYM_MEMORY_MODEL", "scripted")
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("GYM_MEMORY_PRICES", '{"scripted": [1, 2, 0.5]}')
    model = make_model("openai")
    assert (model.name, model.base_url) == ("scripted", server.base_url)
    assert model.price == Price(1, 2, 0.5)
    assert ask(model).text == "True"
    assert make_model(model) is model
    table = tmp_path / "prices.json"
    table.write_text('{"scripted": [3, 4]}')
    monkeypatch.setenv("GYM_MEMORY_PRICES", os.fspath(table))
    assert make_model("openai").price == Price(3, 4)
    monkeypatch.setenv("GYM_MEMORY_PRICES", '{"scripted": ["dear", 4]}')
    with pytest.raises(InvalidArgumentError, match="prices"):
        make_model("openai")


@pytest.mark.parametrize("count", [-5, "many", 1 << 70, None, True])
def test_counts_that_are_none_neither_break_nor_refill_budget(count):
    usage = {
        "prompt_tokens": count,
        "completion_tokens": count,
        "prompt_tokens_details": {"cached_tokens": 10},
    }
    assert all(0 <= number <= 1 for number in read_tokens(usage))
