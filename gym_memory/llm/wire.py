"""Reading of a server's answers and errors in any of the usual formats."""

from __future__ import annotations

import contextlib
import email.utils
import json
import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from gym_memory.core.tokens import count_tokens
from gym_memory.llm.base import Tokens
from gym_memory.llm.thinking import message_parts

__all__ = ["Choice", "ErrorReport", "error_in", "read_choice", "read_events", "read_tokens"]
__all__ += ["retry_after"]

_MOST_TOKENS = 1 << 40
"""Most tokens of a valid count."""
_NAMES: dict[str, tuple[str, ...]] = {}
_NAMES["prompt"] = ("prompt_tokens", "input_tokens", "prompt_eval_count", "prompt_n")
_NAMES["prompt"] += ("promptTokenCount", "promptTokens", "inputTokens")
_NAMES["completion"] = ("completion_tokens", "output_tokens", "eval_count", "predicted_n")
_NAMES["completion"] += ("candidatesTokenCount", "completionTokens", "outputTokens")
_NAMES["total"] = ("total_tokens", "totalTokenCount", "totalTokens")
_NAMES["cached"] = ("cached_tokens", "cache_read_input_tokens", "prompt_cache_hit_tokens")
_NAMES["cached"] += ("cachedContentTokenCount",)
_NAMES["reasoning"] = ("reasoning_tokens", "thoughts_tokens", "thinking_tokens")
_NAMES["reasoning"] += ("thoughtsTokenCount", "reasoningTokens")
_DEEPEST_COUNT = 4
"""Levels of a usage that are searched."""
_MOST_LINES = 1000
"""Most lines of an event of a stream."""

_CUT = (
    "length", "max_tokens", "max_output_tokens", "model_length", "limit", "token_limit",
    "max_length", "incomplete",
)  # fmt: skip
"""Finish reasons that mean the limit of the answer."""


class Choice(NamedTuple):
    """A first choice of a completion."""

    text: str
    thought: str
    finish: str
    refusal: str


def read_choice(content: Any) -> Choice | None:
    """Return the answer in a completion; None without one."""
    try:
        choice = min(content["choices"], key=lambda one: one.get("index") or 0)
        places = ("message", "delta", "text")
        message = next(choice[name] for name in places if choice.get(name) is not None)
        message = message if isinstance(message, Mapping) else {"content": message}
        thought, text = message_parts(message)
        text = "\n".join(filter(str.strip, (text, _tool_calls(message))))
        finish = str(choice.get("finish_reason") or choice.get("native_finish_reason") or "stop")
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError, StopIteration):
        return None
    if finish.lower() in _CUT:
        finish = "length"
    return Choice(text, thought, finish, str(message.get("refusal") or _refusal(message)))


def _refusal(message: Mapping[str, Any]) -> str:
    """Return the refusal among the parts of a content; empty without one."""
    parts = (part for part in _listed(message.get("content")) if isinstance(part, Mapping))
    return next((str(part["refusal"]) for part in parts if part.get("refusal")), "")


def _tool_calls(message: Mapping[str, Any]) -> str:
    """Return as JSON the tool calls that a server took the answer for."""
    calls = message.get("tool_calls") or [{"function": message.get("function_call")}]
    functions = (call.get("function") for call in calls if isinstance(call, Mapping))
    return "\n".join(_call_text(one) for one in functions if isinstance(one, Mapping))


def _call_text(function: Mapping[str, Any]) -> str:
    """Return a call with its name, which may be the action; without a name, its arguments."""
    given = function.get("arguments") or {}
    if isinstance(given, str):
        with contextlib.suppress(ValueError, RecursionError):
            given = json.loads(given)
    if function.get("name"):
        given = {"name": function["name"], "arguments": given}
    return given if isinstance(given, str) else json.dumps(given) if given else ""


def read_events(body: str) -> Any:
    """Return a stream of server-sent events as one completion; None for another text."""
    texts: dict[str, list[str]] = {}
    calls: dict[str, dict[str, str]] = {}
    whole: dict[str, Any] = {}
    finish = None
    for event in _events(body):
        if not isinstance(event, Mapping):
            continue
        if event.get("error") or not isinstance(event.get("choices", []), list):
            return event
        whole |= {name: value for name, value in event.items() if name in ("usage", "model")}
        for choice in event.get("choices") or []:
            if not isinstance(choice, Mapping) or choice.get("index"):
                continue
            if choice.get("error"):
                return event
            finish = choice.get("finish_reason") or finish
            delta = choice.get("delta") or choice.get("message") or {}
            for name, value in delta.items() if isinstance(delta, Mapping) else ():
                if name != "role" and isinstance(value, str):
                    texts.setdefault(name, []).append(value)
                elif isinstance(value, list) and name == "content":
                    texts.setdefault(name, []).extend(value)
                elif isinstance(value, list) and name == "tool_calls":
                    _join_calls(calls, value)
    if finish is None and not (texts or calls):
        return None
    message: dict[str, Any] = {
        name: "".join(parts) if all(isinstance(part, str) for part in parts) else parts
        for name, parts in texts.items()
    }
    if calls:
        message["tool_calls"] = [{"function": function} for function in calls.values()]
    # A stream without a finish reason was interrupted.
    done = finish is not None or "[DONE]" in body[-64:]
    choices = [{"message": message, "finish_reason": finish}] if done else []
    return {**whole, "choices": choices}


def _join_calls(calls: dict[str, dict[str, str]], pieces: Iterable[Any]) -> None:
    """Add pieces of tool calls to their calls, by the index of each."""
    for piece in pieces:
        function = piece.get("function") if isinstance(piece, Mapping) else None
        if isinstance(function, Mapping):
            call = calls.setdefault(str(piece.get("index")), {})
            for name in ("name", "arguments"):
                value = function.get(name) or ""
                text = value if isinstance(value, str) else json.dumps(value)
                call[name] = call.get(name, "") + text


def _events(body: str) -> Iterator[Any]:
    """Yield the values of a stream; the data of an event may have several lines."""
    waiting: list[str] = []
    for line in re.split(r"\r\n|\r|\n", body):  # other line breaks may be part of a text
        if waiting and (not line.strip() or len(waiting) == _MOST_LINES):
            break
        if line.startswith("data:") and (waiting or line[5:].strip() not in ("", "[DONE]")):
            waiting.append(line[5:])
            with contextlib.suppress(ValueError, RecursionError):
                yield json.loads("\n".join(waiting))
                waiting.clear()
    if waiting:  # otherwise the text would have a gap
        yield {"error": {"code": 502, "message": "an event of the stream is not whole"}}


class ErrorReport(NamedTuple):
    """An error of a server: an HTTP status, its code and its message."""

    status: int
    code: str
    message: str
    details: Any = None


_STATUS_OF = {
    "rate_limit": 429, "too_many": 429, "throttl": 429, "quota": 429, "exhausted": 429,
    "timeout": 504, "timed out": 504, "overload": 503, "unavailable": 503, "capacity": 503,
    "context_length": 400, "invalid": 400, "unsupported": 400, "bad_request": 400,
    "authentication": 401, "unauthorized": 401, "permission": 403, "not_found": 404,
}  # fmt: skip
"""Status of an error without one, by a part of its code."""


def error_in(status: int, content: Any) -> ErrorReport | None:
    """Return the error in a response of any status; None without one."""
    if isinstance(content, list) and len(content) == 1:  # Gemini's errors are lists
        content = content[0]
    found = _error_object(content)
    if found is None and status < 300:
        return None
    about = (
        found if isinstance(found, Mapping) else {"message": content if found is None else found}
    )
    inner = about.get("error")
    if isinstance(inner, Mapping):
        about = inner
    texts = (about.get(name) for name in ("message", "detail", "msg", "status_msg", "faultstring"))
    message = next(filter(None, texts), about)
    if isinstance(message, str) and "</" in message:
        message = " ".join(re.sub(r"<(?:style|script).*?</|<[^>]*>", " ", message).split())
    codes = [about.get(name) for name in ("code", "type", "status", "status_code")]
    code = " ".join(str(c) for c in codes if c not in (None, ""))
    param = about.get("param")
    if status < 300:
        numbers = [int(str(c)) for c in codes if str(c).isdigit() and 400 <= int(str(c)) < 600]
        words = f"{code} {message}".lower()
        joined = f"{words} {words.replace(' ', '_')}"
        named = [number for part, number in _STATUS_OF.items() if part in joined]
        status = next(iter([*numbers, *named]), 502)
    metadata = about.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("raw"):
        message = f"{message}: {metadata['raw']}"
    text = (
        str(message)
        if param in (None, "") or str(param) in str(message)
        else f"{message} ({param})"
    )
    return ErrorReport(status, code, text, about)


def _error_object(content: Any) -> Any:
    if not isinstance(content, Mapping):
        return None
    for name in ("error", "errors", "detail"):
        if content.get(name):
            found = content[name]
            return found[0] if isinstance(found, list) and len(found) == 1 else found
    if content.get("object") == "error" or content.get("type") == "error":
        return content
    if isinstance(state := content.get("base_resp"), Mapping) and state.get("status_code"):
        return state
    choices = content.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(first, Mapping):
        message = first.get("message")
        found = first.get("error") or (isinstance(message, Mapping) and message.get("error"))
        if found or first.get("finish_reason") == "error":
            return found or "the answer ended with an error"
    says = content.get("message") or content.get("msg") or content.get("fault")
    answered = isinstance(says, Mapping) and "role" in says  # in the format of another interface
    if not choices and says and not answered and "usage" not in content:
        return says if isinstance(says, Mapping) else content
    return None


_DURATION = re.compile(
    r"(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|sec\w*|m|min\w*|h|hours?)?(?![a-z])", re.I
)
_UNITS = {"ms": 1e-3, "mi": 60.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_IN_TEXT = re.compile(
    r"(?:try|retry|wait|available|again|reset)\w*.{0,30}?\b(?:in|after|for)\b\s*"
    r"((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|sec\w*|m|min\w*|h|hours?)\b\s*)+)",
    re.IGNORECASE | re.DOTALL,
)
_YEAR_2001 = 1e9
_HEADERS: tuple[str, ...] = (
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "x-ratelimit-reset",
)
_HEADERS += ("ratelimit-reset", "anthropic-ratelimit-requests-reset")


def retry_after(headers: Mapping[str, str], error: ErrorReport | None = None) -> float | None:
    """Return the seconds that a server says to wait, in any format; None without them."""
    if (milliseconds := _seconds(headers.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1e3
    waits = [_seconds(headers.get("retry-after", ""))]
    about = error.details if error and isinstance(error.details, Mapping) else {}
    for source in (about, about.get("metadata"), *_listed(about.get("details"))):
        if isinstance(source, Mapping):
            names = ("retry_after", "retryAfter", "retryDelay", "retry_after_seconds")
            waits += [_seconds(str(source[name])) for name in names if name in source]
    if error and (found := _IN_TEXT.search(error.message)):
        waits.append(_seconds(found[1]))
    waits += [_seconds(headers.get(name, "")) for name in _HEADERS]
    return next((wait for wait in waits if wait is not None), None)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _seconds(text: str) -> float | None:
    """Read seconds, a duration such as ``6m0.5s``, a moment since 1970 or a date.

    >>> [_seconds(text) for text in ("1.5", "6m0s", "20 s", "500ms", "", "soon", "1e999")]
    [1.5, 360.0, 20.0, 0.5, None, None, None]
    """
    text = text.strip()
    try:
        number = float(text)
    except ValueError:
        parts = _DURATION.findall(text)
        if parts and not _DURATION.sub("", text).strip(" ,"):
            return sum(float(n) * _unit(unit.lower()) for n, unit in parts)
        try:
            date = email.utils.parsedate_to_datetime(text)
        except (TypeError, ValueError):
            return None
        return date.timestamp() - time.time()
    if not math.isfinite(number):
        return None
    if number > _YEAR_2001:  # a moment, in seconds or milliseconds
        return number / (1e3 if number > 1e3 * _YEAR_2001 else 1) - time.time()
    return number


def _unit(name: str) -> float:
    if name.startswith(("ms", "milli")):
        return 1e-3
    return next(
        (seconds for unit, seconds in (("m", 60.0), ("h", 3600.0)) if name.startswith(unit)), 1.0
    )


def read_tokens(usage: Any, text: str = "", thought: str = "", estimate: int = 0) -> Tokens:
    """Read token counts; zeros for missing or invalid ones.

    Reasoning that a server counts apart from the completion is added to it, as shown by the
    reported sum, or else by the lengths of answer and thought. If only the sum of prompt and
    completion is reported, the prompt has ``estimate`` tokens.
    """
    counts = list(_counts(usage))

    def count(name: str) -> int:
        return next((value for key, value in counts if key in _NAMES[name]), 0)

    prompt, completion, reasoning = count("prompt"), count("completion"), count("reasoning")
    total = count("total")
    if total and not prompt and not completion:
        prompt = min(estimate, total - 1)
        return Tokens(prompt, 0, total - prompt, min(reasoning, total - prompt), estimated=True)
    if total > prompt + completion and prompt:
        completion = total - prompt
    elif reasoning and _excludes_reasoning(
        completion, reasoning, total - prompt, count_tokens(text)
    ):
        completion += reasoning
    tokens = Tokens(prompt, min(count("cached"), prompt), completion, min(reasoning, completion))
    thinking = count_tokens(thought)
    if completion and not reasoning and thinking > 3 * completion:  # the count has only the answer
        tokens = tokens._replace(completion=completion + thinking, reasoning=thinking)
        return tokens._replace(estimated=True)
    return tokens


def _counts(usage: Any, depth: int = 0) -> Iterator[tuple[str, int]]:
    """Yield the counts of a usage by name, the outer ones first, in any format."""
    if depth == _DEEPEST_COUNT or not isinstance(usage, Mapping | list):
        return
    items = usage.items() if isinstance(usage, Mapping) else [("", one) for one in usage]
    for name, value in items:
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            with contextlib.suppress(ValueError, OverflowError):
                if 0 < (number := int(float(value))) <= _MOST_TOKENS:
                    yield str(name), number
    for _, value in items:
        yield from _counts(value, depth + 1)


def _excludes_reasoning(completion: int, reasoning: int, counted: int, answer: int) -> bool:
    """True if the tokens of a completion exclude those of its reasoning."""
    if completion < reasoning:
        return True
    if counted == completion:
        return False
    return abs(completion - answer) < abs(completion - answer - reasoning)
