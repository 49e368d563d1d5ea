"""Every agent's call against servers of every dialect, over real HTTP."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from gym_memory.core.errors import (
    BudgetExceededError,
    ContextExceededError,
    ModelError,
    ModelSetupError,
)
from gym_memory.core.names import Spec
from gym_memory.llm import Budget, Request, episode_usage, make_model
from gym_memory.llm.client import OpenAIChat
from gym_memory.llm.dialect import LearntDialect
from gym_memory.llm.prompts import load_prompt
from gym_memory.llm.wire import error_in, read_choice, read_events, read_tokens
from gym_memory.run.config import Job
from gym_memory.run.play import play_job
from gym_memory.testing.chat import ZOO, ZooServer
from gym_memory.testing.chat.zoo import Personality, Refusal, Refuse

SLOTS = {**dict.fromkeys(load_prompt("react").slots, ""), "observation": "A hall."}
CHAT = load_prompt("react").messages(**{**SLOTS, "actions": "look\ngo east"})
THINKING = ("reasoning_field", "reasoning_content", "apart", "think", "think_closed")
THINKING += ("channels", "parts", "ollama")


def model(server: ZooServer, **options: object) -> OpenAIChat:
    settings = {"backoff": 0.01, "max_wait": 0.2, "timeout": 30.0, **options}
    return OpenAIChat("unknown", server.base_url, **settings)


def ask(chat: OpenAIChat, **options: object) -> str:
    return chat.complete(Request(CHAT, role="react", temperature=0.2, **options)).text


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n == "slow")) for n in ZOO]
)
def test_answer_is_that_of_plain_server_in_every_dialect(name: str) -> None:
    with ZooServer("plain") as plain:
        expected = ask(model(plain))
    with ZooServer(name) as server:
        chat = model(server)
        chat.preflight()
        answers = {ask(chat, max_tokens=64) for _ in range(8)}
    assert answers == {expected}
    assert expected.startswith("Thought: ")


@pytest.mark.parametrize("name", [*THINKING, "reasoning"])
def test_thought_is_kept_apart_and_counted(name: str) -> None:
    with ZooServer(name) as server:
        chat = model(server)
        reply = chat.complete(Request(CHAT, max_tokens=64))
    assert "poison" not in reply.text
    assert ("poison" in reply.thought) == (name != "reasoning")
    assert reply.tokens.completion > 100
    assert chat.reasons


def test_refused_parameter_is_learnt_once_and_reported() -> None:
    with ZooServer("reasoning") as server, episode_usage() as meter:
        for _ in range(3):  # each episode has its own client
            ask(model(server))
        assert server.received == 3 + 2
    notes = "\n".join(meter.notes())
    assert "no temperature is sent: Unsupported value" in notes
    assert "sent as 'max_completion_tokens'" in notes
    assert meter.total().failures == 0


def test_lasting_rejection_reports_the_first_message(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = Refusal(400, {"error": {"message": "this model is closed on Sundays"}})
    closed = Personality("refuses all", lambda request, number: refusal)
    monkeypatch.setitem(ZOO, "closed", closed)
    with ZooServer("closed") as server:
        chat = model(server)
        with pytest.raises(ModelSetupError, match="closed on Sundays"):
            chat.preflight()
        tried = server.received
        with pytest.raises(ModelError, match="closed on Sundays"):
            ask(chat)
        assert server.received == tried + 1, "a guess that failed is not repeated"


@pytest.mark.parametrize("limit", [{"max_tokens": 6000}, {"max_cost_usd": 0.006}])
@pytest.mark.parametrize("name", ["no_usage", "llama_cpp", "think", "apart"])
def test_stop_holds_within_one_call(name: str, limit: dict[str, float]) -> None:
    stop = Budget(**limit)  # type: ignore[arg-type]
    price = {"prompt_price": 1.0, "completion_price": 1.0, "reasoning": False}
    with ZooServer(name) as server, episode_usage(stop) as meter:
        chat = model(server, **price)
        with pytest.raises(BudgetExceededError):  # noqa: PT012 - which call it is, is the question
            for _ in range(300):
                ask(chat, max_tokens=512)
    total = meter.total()
    spent = total.prompt_tokens + total.completion_tokens
    assert stop.spent()[0] == spent <= 6000
    most = spent / total.calls + 512 + sum(len(m["content"].encode()) + 16 for m in CHAT)
    assert spent > 6000 - most - 16


@pytest.mark.parametrize("limit", [{"max_tokens": 12_000}, {"max_cost_usd": 0.012}])
def test_stop_counts_used_thoughts_and_not_their_limit(limit: dict[str, float]) -> None:
    stop = Budget(**limit)  # type: ignore[arg-type]
    with ZooServer("think") as server, episode_usage(stop) as meter:
        chat = model(server, prompt_price=1.0, completion_price=1.0)
        with pytest.raises(BudgetExceededError):  # noqa: PT012 - which call it is, is the question
            for _ in range(100):
                ask(chat, max_tokens=64)
    assert chat.reasons
    spent = stop.spent()[0]
    assert 10_000 < spent <= 12_000
    assert spent == meter.total().prompt_tokens + meter.total().completion_tokens


def test_parallel_calls_wait_for_reservations() -> None:
    with ZooServer("think", latency=0.05) as server:
        chat = model(server, reasoning=True, max_tokens=40_000)
        with ThreadPoolExecutor(8) as pool:
            answers = set(pool.map(lambda _: ask(chat), range(8)))
        assert server.most_active > 1
    assert len(answers) == 1
    assert chat.budget is not None
    assert chat.budget.spent()[0] < 8000


def test_answer_that_the_stop_cuts_is_not_played() -> None:
    with ZooServer("think") as server:
        chat = model(server, reasoning=True, max_tokens=1250)
        with pytest.raises(BudgetExceededError, match="too few"):
            ask(chat, max_tokens=16)
        assert server.received == 1
    assert chat.budget is not None
    assert 0 < chat.budget.spent()[0] <= 1250


def test_server_that_cuts_prompts_is_noticed_and_reported() -> None:
    with ZooServer("ollama_cut") as server, episode_usage() as meter:
        chat = model(server, retries=0)
        fits, long, longer = ("word " * count for count in (900, 2600, 2800))
        for text in (fits, long):
            chat.complete(Request([{"role": "user", "content": text}]))
        for _ in range(2):
            with pytest.raises(ContextExceededError, match="1600 tokens of a prompt"):
                chat.complete(Request([{"role": "user", "content": longer}]))
        assert server.received == 3, "what would be cut is no longer sent"
        chat.complete(Request([{"role": "user", "content": fits}]))
    assert any("OLLAMA_CONTEXT_LENGTH" in note for note in meter.notes())


@pytest.mark.parametrize("counts", [(900, 700, 40, 700, 890), (960, 990, 1000, 1000, 1500)])
def test_counts_of_whole_prompts_are_no_cut(counts: tuple[int, ...]) -> None:
    learnt = LearntDialect()
    for estimate, counted in zip((900, 950, 1000, 1010, 1600), counts, strict=True):
        learnt.note_prompt(estimate, counted)
    assert not learnt.cuts


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vllm", "llama_cpp", "ollama_cut"])
def test_long_history_is_cut_to_a_small_context(name: str) -> None:
    with ZooServer(name) as server:
        llm = str(Spec.of("openai", {"model": "m", "base_url": server.base_url, "backoff": 0.01}))
        policy = Spec.of("plain", {"llm": llm})
        (row,) = play_job(Job(Spec("Cooking?level=medium&max_steps=40"), Spec("none"), policy, 0))
    counters = row.result.counters
    assert row.result.failed == ""
    assert counters["fallbacks"] == 0
    assert 1 <= counters["history_cuts"] <= 8
    assert any("oldest steps" in note for note in row.result.notes)


@pytest.mark.slow
def test_cut_answer_under_low_limit_is_counted_and_reported() -> None:
    with ZooServer("think") as server:
        llm = str(Spec.of("openai", {"model": "m", "base_url": server.base_url, "retries": 0}))
        policy = Spec.of("react", {"llm": llm, "max_tokens": 50})
        (row,) = play_job(Job(Spec("Fetch?level=easy&max_steps=3"), Spec("none"), policy, 0))
    assert row.result.counters["llm_cut"] >= 3
    assert row.result.counters["fallbacks"] == 3
    assert any("higher max_tokens" in note for note in row.result.notes)


@pytest.mark.slow
def test_step_without_models_decision_is_recorded_and_strict_ends(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from gym_memory.core.trajectory import read_rows
    from gym_memory.testing.chat import Faults, ScriptedServer

    path = str(tmp_path / "steps.jsonl.gz")
    with ScriptedServer(faults=Faults(rates={"unasked_text": 1.0})) as server:
        llm = str(Spec.of("openai", {"model": "m", "base_url": server.base_url}))
        env, none = Spec("Fetch?level=easy&max_steps=3"), Spec("none")
        (row,) = play_job(Job(env, none, Spec.of("react", {"llm": llm}), 0), record=path)
        strict = Spec.of("react", {"llm": llm, "strict": True})
        (ended,) = play_job(Job(env, none, strict, 0))
    assert row.result.counters["invalid_actions"] == 3
    marks = [one.get("substitute") for one in read_rows(path)]
    assert marks[0] is None
    assert all("not among" in mark["reason"] for mark in marks[1:])
    assert all(mark["answer"] == "What a lovely day for a walk." for mark in marks[1:])
    assert "strict=true" in ended.result.failed


def test_missing_price_is_an_error_before_play() -> None:
    with pytest.raises(ModelSetupError, match="needs the price"):
        make_model("openai?model=m&base_url=http://127.0.0.1:9/v1").check_price(
            Budget(max_cost_usd=1.0)
        )


def test_model_may_be_called_by_a_number() -> None:
    assert make_model("openai?model=500&base_url=http://127.0.0.1:9/v1").name == "500"


@pytest.mark.parametrize("name", ["per_minute", "error_list"])
def test_limit_that_server_refuses_is_lowered_to_its_own(name: str) -> None:
    with ZooServer(name) as server:
        chat = model(server, reasoning=True)
        ask(chat, max_tokens=64)
        tried = server.received
        assert tried <= 3
        ask(chat, max_tokens=64)
        assert server.received == tried + 1, "what was learnt is not tried again"
    assert any("tokens: " in note for note in chat.notes())


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": None, "tool_calls": [{"function": {"arguments": '{"action": "look"}'}}]},
         '{"action": "look"}'),
        ({"content": "", "function_call": {"name": "act", "arguments": {"action": "look"}}},
         '{"name": "act", "arguments": {"action": "look"}}'),
        ({"content": None, "tool_calls": [{"function": {"name": "open door", "arguments": "{}"}}]},
         '{"name": "open door", "arguments": {}}'),
        ({"content": "look", "tool_calls": [{"function": {"arguments": "{}"}}]}, "look"),
        ({"content": "I call it.", "tool_calls": [{"function": {"arguments": "take key"}}]},
         "I call it.\ntake key"),
        ({"content": None, "tool_calls": [None], "function_call": "no"}, ""),
    ],
)  # fmt: skip
def test_answer_as_the_call_of_a_tool_is_text(message: dict[str, object], text: str) -> None:
    choice = read_choice({"choices": [{"message": message, "finish_reason": "tool_calls"}]})
    assert choice is not None
    assert choice.text == text


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        (
            [{"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}],
            429,
            "slow",
        ),
        (
            {"base_resp": {"status_code": 1004, "status_msg": "no key"}, "choices": None},
            200,
            "no key",
        ),
        ({"code": 1302, "msg": "too many", "success": False}, 200, "too many"),
        ({"fault": {"faultstring": "quota of the gateway"}}, 200, "quota of the gateway"),
        ("<html><head><title>502 Bad Gateway</title></head></html>", 502, "502 Bad Gateway"),
    ],
)
def test_error_is_found_wherever_a_server_puts_it(content: object, status: int, words: str) -> None:
    error = error_in(status, content)
    assert error is not None
    assert error.message == words
    assert error.status >= 400


@pytest.mark.parametrize(
    ("usage", "prompt", "completion"),
    [
        ({"prompt_tokens": "300", "completion_tokens": 12.0}, 300, 12),
        ({"tokens": {"billed": {"input_tokens": 300, "output_tokens": 12}}}, 300, 12),
        ([{"prompt_tokens": 300, "completion_tokens": 12}], 300, 12),
        ({"promptTokenCount": 300, "candidatesTokenCount": 12, "totalTokenCount": 812}, 300, 512),
        ({"total_tokens": 812}, 280, 532),
        ({"prompt_tokens": True, "completion_tokens": "many", "total_tokens": -1}, 0, 0),
    ],
)
def test_counts_are_read_in_any_form(usage: object, prompt: int, completion: int) -> None:
    tokens = read_tokens(usage, "go east", estimate=280)
    assert (tokens.prompt, tokens.completion) == (prompt, completion)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (': ping\r\n\r\ndata: {"choices": [{"delta": {"content": "a"}}]}\r\n\r\n: ping\r\n'
         'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\r\n\r\ndata: [DONE]', "a"),
        ('data: {"choices":\ndata: [{"delta": {"content": "a"}, "finish_reason": "stop"}]}\n\n',
         "a"),
        ('data: {"choices": [{"delta": {"content": "a\u2028b"}, "finish_reason": "stop"}]}\n',
         "a\u2028b"),
        ('data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "1", "function":'
         ' {"name": "act", "arguments": ""}}]}}]}\n\n'
         'data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "function":'
         ' {"arguments": "{\\"action\\": "}}]}}]}\n\n'
         'data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "function":'
         ' {"arguments": "\\"look\\"}"}}]}, "finish_reason": "tool_calls"}]}\n',
         '{"name": "act", "arguments": {"action": "look"}}'),
    ],
)  # fmt: skip
def test_stream_of_any_layout_is_read_whole(body: str, text: str) -> None:
    choice = read_choice(read_events(body))
    assert choice is not None
    assert choice.text == text


def test_answer_in_another_format_is_no_error() -> None:
    message = {"role": "assistant", "content": "look"}
    assert error_in(200, {"model": "m", "message": message, "done": True}) is None


def test_stream_with_a_broken_event_is_an_error() -> None:
    whole = 'data: {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}'
    error = error_in(200, read_events(f'{whole}\n\ndata: {{"cho\n\n{whole}\n\ndata: [DONE]'))
    assert error is not None
    assert error.status == 502


def refuse_low_limit(request: dict[str, object], number: int) -> Refusal | None:
    limit = request.get("max_tokens", 0)
    message = f"Invalid 'max_tokens': integer below minimum value. Expected >= 100, got {limit}."
    return None if limit >= 100 else Refusal(400, {"error": {"message": message}})  # type: ignore[operator]


def refuse_short_thought(request: dict[str, object], number: int) -> Refusal | None:
    message = "Could not finish the message because max_tokens or model output limit was reached."
    return None if request["max_tokens"] >= 1000 else Refusal(400, {"error": {"message": message}})  # type: ignore[operator]


def refuse_unnumbered(request: dict[str, object], number: int) -> Refusal | None:
    message = (
        "`max_tokens` must be greater than `thinking.budget_tokens`: https://x.org/#context-window"
    )
    return None if request["max_tokens"] >= 4000 else Refusal(400, {"error": {"message": message}})  # type: ignore[operator]


@pytest.mark.parametrize("refuse", [refuse_low_limit, refuse_short_thought, refuse_unnumbered])
def test_limit_that_is_too_low_is_raised_and_kept(
    refuse: Refuse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ZOO, "strict", Personality("refuses a low limit", refuse))
    with ZooServer("strict") as server:
        chat = model(server)
        chat.preflight()
        assert ask(chat, max_tokens=64).startswith("Thought: ")
        assert chat.learnt.now.limit == "max_tokens", "an answer without a limit ends at no stop"


def test_money_that_is_gone_ends_run_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = Refusal(402, {"error": {"message": "Insufficient credits"}})
    monkeypatch.setitem(ZOO, "broke", Personality("no money", lambda request, number: refusal))
    with ZooServer("broke") as server, pytest.raises(ModelSetupError, match="Insufficient credits"):
        ask(model(server))


def test_address_of_the_call_itself_is_taken() -> None:
    with ZooServer() as server:
        assert ask(OpenAIChat("m", f"{server.base_url}/chat/completions"))


def test_missing_path_of_an_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = Refusal(404, {"error": {"message": "page not found"}})
    monkeypatch.setitem(ZOO, "lost", Personality("no path", lambda request, number: refusal))
    with ZooServer("lost") as server, pytest.raises(ModelSetupError, match="Is /v1 missing"):
        OpenAIChat("m", server.base_url.removesuffix("/v1")).preflight()
