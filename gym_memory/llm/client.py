"""Client of any OpenAI-compatible endpoint: a cloud service, vLLM, Ollama, llama.cpp, ..."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gym_memory.core.errors import InvalidArgumentError, ModelError, ModelSetupError
from gym_memory.core.files import parse_json
from gym_memory.core.secrets import add_secret, scrubbed, without_known
from gym_memory.core.settings import check_amount
from gym_memory.llm.base import Form, Reply, Request
from gym_memory.llm.dialect import (
    LIMIT_FIELDS,
    Dialect,
    LearntDialect,
    guessed_changes,
    is_about_context,
    is_about_cut,
    named_changes,
    names_a_part,
    reasons_by_name,
)
from gym_memory.llm.endpoint import Endpoint, endpoint
from gym_memory.llm.model import MAX_ANSWER_CHARS, BaseChatModel, Failure
from gym_memory.llm.usage import Price, read_prices, tokens_of
from gym_memory.llm.wire import (
    ErrorReport,
    error_in,
    read_choice,
    read_events,
    read_tokens,
    retry_after,
)

__all__ = ["OpenAIChat", "read_tokens"]

_OPENAI = "https://api.openai.com/v1"
_OF_OPENAI = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
"""Environment variable of each header, for OpenAI itself."""
_PREFLIGHT_SECONDS = 6.0
_PREFLIGHT_CALLS = 5
_JSON_MODES = ("off", "object", "schema", "grammar")
_MOST_CHANGES = 10
"""Most changes of a request that are tried after one refusal."""
_REJECTED = frozenset({400, 405, 406, 413, 415, 422, 429, 500, 501})
"""Statuses with which servers refuse a part of a request."""
_HOPELESS = frozenset({401, 402, 403, 404, 410, 451})
"""Statuses that no change of the request can help: the key, credit or model is missing."""
_PROMPT_MARGIN = 1.2
"""Factor on the estimated size of a prompt if the context of the server is known."""
_LEAST_ANSWER = 16
_ADDRESS = re.compile(r"https?://\S+")
_NAME_CHARS = 100
"""Most characters of a model's name in a row."""


class OpenAIChat(BaseChatModel):
    """A chat model behind the OpenAI wire format.

    The key is read from the environment, so that no config, log or file can contain it. If a server
    refuses a part of a request (the field of the limit, a temperature, the system role, a response
    format), the client learns this once from the error and reports it.

    Args:
        model: The model's name; default: the environment's ``GYM_MEMORY_MODEL``.
        base_url: The endpoint; default: the environment's ``OPENAI_BASE_URL``, else OpenAI.
        key_env: Name of the environment variable that holds the key. A local server needs none.
        timeout: Seconds to wait for a whole response, > 0.
        json_mode: Request JSON by the prompt alone (``off``), as any ``object`` or by ``schema``;
            ``grammar``: as ``schema``, with text of a form by a grammar (llama.cpp).
        limit_field: Field for the limit of an answer, ``max_tokens`` or ``max_completion_tokens``;
            if empty, it is learned.
        reasoning: Whether the model thinks before it answers and so needs more tokens; by default,
            its name and its first answer decide.
        temperature: Sampling temperature of every call; default: that of the agent, or else that of
            the server.
        extra: Further fields of every request, as JSON: ``{"reasoning_effort": "low"}``.
        prompt_price: US dollars per million prompt tokens; default: the model's row of the price
            table in the environment's ``GYM_MEMORY_PRICES`` (JSON or the path of a JSON file).
        completion_price: The same for completion tokens.
        cached_price: The same for prompt tokens from the server's prefix cache.
        cache: Path of the response cache, or None for none.
        max_cost_usd: Hard stop in US dollars.
        max_tokens: Hard stop in tokens, of all calls together.
        budget: Path of the file that shares the hard stops among processes.
        retries: Attempts after the first failed one.
        backoff: Seconds before the first retry; doubles.
        max_wait: Longest wait before a retry in seconds.
    """

    def __init__(
        self,
        model: str | None = None,
        base_url: str | None = None,
        *,
        key_env: str = "OPENAI_API_KEY",
        timeout: float = 120.0,
        json_mode: str = "off",
        limit_field: str = "",
        reasoning: bool | None = None,
        temperature: float | None = None,
        extra: str = "",
        prompt_price: float | None = None,
        completion_price: float | None = None,
        cached_price: float | None = None,
        cache: str | None = None,
        max_cost_usd: float | None = None,
        max_tokens: int | None = None,
        budget: str | None = None,
        retries: int = 5,
        backoff: float = 0.5,
        max_wait: float = 60.0,
    ):
        name = os.environ.get("GYM_MEMORY_MODEL", "") if model in (None, "") else model
        if isinstance(name, int | float) and not isinstance(name, bool):
            name = str(name)  # a model's name may be 500
        if not name or not isinstance(name, str):
            raise ModelSetupError(
                "expected the name of a model: give --model, ?model=... or set GYM_MEMORY_MODEL"
            )
        if json_mode not in _JSON_MODES:
            raise InvalidArgumentError(
                f"expected json_mode as one of {', '.join(_JSON_MODES)}, got {json_mode!r}"
            )
        if not str(key_env).isidentifier():  # not in the message: it may be the key itself
            raise InvalidArgumentError("expected key_env as the name of an environment variable")
        if not check_amount("timeout", timeout):
            raise InvalidArgumentError(f"expected timeout in seconds > 0, got {timeout!r}")
        if temperature is not None:
            check_amount("temperature", temperature)
        super().__init__(
            name,
            cache=cache,
            max_cost_usd=max_cost_usd,
            max_tokens=max_tokens,
            budget=budget,
            price=_price(name, prompt_price, completion_price, cached_price),
            retries=retries,
            backoff=backoff,
            max_wait=max_wait,
        )
        self.base_url = _check_url(base_url or os.environ.get("OPENAI_BASE_URL"))
        self.key_env, self.timeout = key_env, timeout
        self.json_mode, self.limit_field = json_mode, limit_field
        self.temperature, self.extra = temperature, _read_extra(extra)
        self.learnt = _learnt(self.base_url or _OPENAI, name, json_mode, limit_field)
        self.reasoning = reasoning

    def identity(self) -> dict[str, Any]:
        """Return endpoint, model, JSON mode and the extra fields of every request."""
        own: dict[str, Any] = {
            "base_url": self.base_url,
            "model": self.name,
            "json_mode": self.json_mode,
        }
        if self.temperature is not None:
            own["temperature"] = self.temperature
        return {**own, **({"extra": self.extra} if self.extra else {})}

    def notes(self) -> tuple[str, ...]:
        """Return sentences about the learned dialect of the server."""
        return self.learnt.notes

    @property
    def reasons(self) -> bool:
        """True if the model thinks before it answers."""
        return self.learnt.reasons if self.reasoning is None else self.reasoning

    def note_reasoning(self, reasons: bool = True) -> None:
        """Start or stop to give answers more tokens for thoughts."""
        self.learnt.reasons, self.learnt.settled = reasons, True

    @property
    def may_reason(self) -> bool:
        """True if a cut answer may be a thought, since it is unknown whether the model reasons."""
        return self.reasoning is None and not self.learnt.settled and not self.learnt.reasons

    def limit(self, request: Request) -> int:
        """Return the limit of an answer in tokens, at least the lowest that the server accepts."""
        return max(super().limit(request), self.learnt.now.least)

    def _key(self) -> str:
        key = _header(self.key_env)
        if not key and self.base_url is None:
            raise ModelSetupError(
                f"no key: set {self.key_env}, or give base_url=... of a server that needs none"
            )
        return add_secret(key) or "none"

    @functools.cached_property
    def endpoint(self) -> Endpoint:
        """Return the connections to the model's server."""
        self._key()
        return endpoint(self.base_url or _OPENAI, self._place())

    def _headers(self) -> dict[str, str]:
        names = _OF_OPENAI if self.base_url is None else {}
        found = {header: _header(name) for header, name in names.items() if name in os.environ}
        return {
            "Authorization": f"Bearer {self._key()}",
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
            **found,
        }

    def preflight(self, trial: Request | None = None) -> None:
        """Make a short call, and repeat it for 6 s if it fails; cached answers need no server.

        ``trial`` is a call as the agent makes it, so that refused parameters are learned or
        reported before the first game. Its answer has the usual timeout, since a server may load
        the model first and a model may think.
        """
        if self.cache:
            return
        request = trial or Request([{"role": "user", "content": "Answer: ok"}], max_tokens=16)
        deadline = time.monotonic() + _PREFLIGHT_SECONDS
        for attempt in range(_PREFLIGHT_CALLS):
            try:
                self._look_for_server(deadline - time.monotonic())
                self._respond(request, self.timeout)
                return
            except Failure as failure:
                if failure.kind in ("rate_limit", "refusal", "answer"):  # the server is there
                    return
                reason, wait = failure, self._wait(failure, attempt, request.messages)
            if time.monotonic() + wait > deadline or attempt == _PREFLIGHT_CALLS - 1:
                break
            time.sleep(wait)
        if reason.kind in ("request", "context"):
            raise ModelSetupError(
                f"{reason}. Change the parameter that the server of model {self.name!r} refuses: "
                "`gym-memory list policies NAME` lists those of an agent"
            )
        silent = reason.kind in ("connection", "timeout")
        advice = f"Start the server of model {self.name!r}, or name" if silent else "Name"
        raise ModelSetupError(
            f"{reason}. {advice} another endpoint by --base-url or OPENAI_BASE_URL"
        )

    def _look_for_server(self, seconds: float) -> None:
        """Raise Failure without a server; any response shows one, even an error."""
        try:
            self.endpoint.get("/models", self._headers(), min(self.timeout, seconds))
        except Failure as failure:
            unreachable = failure.kind == "connection" and failure.tokens is not None
            if unreachable or failure.kind == "timeout":
                raise

    def _call(self, request: Request) -> Reply:
        return self._respond(request, self.timeout)

    def _respond(self, request: Request, seconds: float) -> Reply:
        """Send a request, and send it in another way if the server refuses a part of it."""
        dialect = self.learnt.now
        if self.learnt.is_cut(tokens_of(request.messages)):
            raise Failure("context", self.learnt.cut_note)
        content, error = self._exchange(self._body(request, dialect), seconds)
        if error is None:
            return self._completion(content, request, dialect)
        first, tried = error, {dialect}
        while len(tried) < _MOST_CHANGES:
            change = self._next_change(request, dialect, error, tried)
            if change is None:
                break
            tried.add(change)
            content, later = self._exchange(self._body(request, change), seconds)
            if later is None:
                self.learnt.adopt(change, error.message)
                return self._completion(content, request, change)
            if _names_cause(later) and later.message != error.message:
                self.learnt.adopt(change, error.message)
                dialect, error = change, later  # it accepts this and refuses another part
        self.learnt.guessed = self.learnt.guessed or len(tried) > 1
        raise self._failure(first)

    def _next_change(
        self, request: Request, dialect: Dialect, error: ErrorReport, tried: set[Dialect]
    ) -> Dialect | None:
        """Return the next dialect to try after an error; None if there is none."""
        body, prompt = self._body(request, dialect), tokens_of(request.messages)
        words = _words(error)
        # A request may be too large for a rate limit, so that waiting does not help.
        too_large = is_about_context(words)
        if error.status not in _REJECTED or (error.status == 429 and not too_large):
            return None
        named = named_changes(dialect, body, words, error.status, prompt)
        change = next((one for one in named if one not in tried), None)
        if change is not None or _names_cause(error) or self.learnt.guessed:
            return change
        guesses = guessed_changes(dialect, body)
        return next((one for one in guesses if one not in tried), None)

    def _exchange(self, body: Mapping[str, Any], seconds: float) -> tuple[Any, ErrorReport | None]:
        """Send a body once; return the content of the response and the error in it."""
        data, headers = json.dumps(body).encode(), self._headers()
        response = self.endpoint.post("/chat/completions", data, headers, seconds)
        # A server may send the key back, in an error or in its answer.
        received = without_known(response.body.decode("utf-8-sig", "replace"))
        try:
            content = json.loads(received, strict=False)
        except (ValueError, RecursionError) as problem:
            content = read_events(received)
            if content is None and isinstance(problem, RecursionError) and response.status < 300:
                message = f"{self._place()} sent JSON that is nested too deeply"
                raise Failure("answer", message, tokens=None) from None
            if content is None and response.status < 300:
                message = f"{self._place()} sent no JSON, but {self._scrubbed(received)!r:.100}"
                message += _hint(self.base_url)
                raise Failure("server", message, tokens=None) from None
            content = received if content is None else content
        if 300 <= response.status < 400:
            raise ModelSetupError(
                f"{self._place()} answers {response.status}. It redirects to "
                f"{self._scrubbed(response.headers.get('Location'))!r}"
            )
        error = error_in(response.status, content)
        if error is not None and error.status == 400 and is_about_cut(_words(error)):
            content, error = _cut_answer(body), None
        if error is not None:
            wait = retry_after(response.headers, error)
            error = error._replace(message=self._scrubbed(error.message), details=wait)
        return content, error

    def _body(self, request: Request, dialect: Dialect) -> dict[str, Any]:
        messages = [dict(message) for message in request.messages]
        if not dialect.system:
            messages = _without_system(messages)
        body: dict[str, Any] = {"model": self.name, "messages": messages}
        if dialect.limit:
            body[dialect.limit] = self._limit(request, dialect)
        temperature = request.temperature if self.temperature is None else self.temperature
        if temperature is not None and dialect.temperature:
            body["temperature"] = temperature
        if request.seed is not None and dialect.seed:
            body["seed"] = request.seed
        if dialect.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        schema, is_form = request.schema, isinstance(request.schema, Form)
        by_schema = is_form or request.strict or self.json_mode in ("schema", "grammar")
        if is_form and self.json_mode == "grammar" and dialect.grammar:
            body["grammar"] = schema.grammar()
        elif schema is None or not dialect.format:
            pass
        elif by_schema and dialect.format == "schema":
            name = "Form" if is_form else schema.__name__
            form = {"name": name, "schema": schema.model_json_schema()}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif (by_schema and not is_form) or self.json_mode == "object":
            body["response_format"] = {"type": "json_object"}
        return {**body, **self.extra}

    def _limit(self, request: Request, dialect: Dialect) -> int:
        """Return the limit to send: that of the model, within the bounds of the server."""
        limit = max(self.limit(request), dialect.least)
        if dialect.most:
            limit = min(limit, dialect.most)
        if dialect.context:
            room = dialect.context - int(_PROMPT_MARGIN * tokens_of(request.messages))
            limit = min(limit, max(room, _LEAST_ANSWER))
        return limit

    def _completion(self, content: Any, request: Request, dialect: Dialect) -> Reply:
        choice = read_choice(content)
        if choice is None:
            sent = self._scrubbed(json.dumps(content, ensure_ascii=False))
            message = f"{self._place()} sent a response without an answer: {sent}"
            raise Failure("server", message, tokens=None)
        places = ("usage", "timings", "usageMetadata")
        usage = next(filter(None, map(content.get, places)), None) or _top_level(content)
        estimate = tokens_of(request.messages)
        tokens = read_tokens(usage, choice.text, choice.thought, estimate)
        self.learnt.note_prompt(estimate, tokens.prompt)
        if self.learnt.is_cut(estimate):
            raise Failure("context", self.learnt.cut_note, tokens=tokens)
        if choice.refusal or choice.finish == "content_filter":
            reason = self._scrubbed(choice.refusal or "content filter")
            raise Failure("refusal", f"the model refuses: {reason}", tokens=tokens)
        if len(choice.text) > MAX_ANSWER_CHARS:
            message = f"expected an answer of at most {MAX_ANSWER_CHARS} characters"
            raise Failure("answer", message, tokens=tokens)
        text, schema = choice.text, request.schema
        if isinstance(schema, Form) and not (self.json_mode == "grammar" and dialect.grammar):
            with contextlib.suppress(ModelError):  # otherwise the text stays unchanged
                text = schema.pour(text)
        named = content.get("model")
        model = self._scrubbed(named)[:_NAME_CHARS] if isinstance(named, str) else ""
        return Reply(text, tokens, choice.finish, thought=choice.thought, model=model)

    def _failure(self, error: ErrorReport) -> Exception:
        status, words, wait = error.status, _words(error), error.details
        message = f"{self._place()} answers {status}: {error.message}"
        if status in _HOPELESS or "insufficient_quota" in words or "model_not_found" in words:
            if status == 401 and not _header(self.key_env):
                message += f". No key was sent: set {self.key_env}"
            return ModelSetupError(message + (_hint(self.base_url) if status == 404 else ""))
        if is_about_context(words) and status != 429:
            return Failure("context", message)
        if status == 429:
            return Failure("rate_limit", message, wait)
        if status in (408, 504):
            return Failure("timeout", message, tokens=None)
        if status >= 500 or status == 409:
            return Failure("server", message, wait)
        if "content_filter" in words:
            return Failure("refusal", message)
        return Failure("request", message)

    def _place(self) -> str:
        return self.base_url or "OpenAI"

    def _scrubbed(self, message: Any) -> str:
        return " ".join(scrubbed(message).split())[:300]

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a chat model is not pickled: pass its spec and build it in the worker")

    def __repr__(self) -> str:
        return f"OpenAIChat({self.name!r}, {self.base_url!r})"


@functools.cache
def _learnt(url: str, model: str, json_mode: str, limit_field: str) -> LearntDialect:
    """Return the state that all clients of a model share, as each episode has its own client."""
    reasons = reasons_by_name(model)
    limit = limit_field or LIMIT_FIELDS[reasons and url == _OPENAI]
    return LearntDialect(Dialect(limit=limit), reasons)


def _cut_answer(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content that other servers send for an answer cut before it began."""
    choice = {"message": {"content": ""}, "finish_reason": "length"}
    limits = (body[name] for name in LIMIT_FIELDS if name in body)
    return {"choices": [choice], "usage": {"completion_tokens": next(limits, 0)}}


def _hint(base_url: str | None) -> str:
    bare = base_url and not urlsplit(base_url).path
    return ". Is /v1 missing at the end of base_url?" if bare else ""


def _words(error: ErrorReport) -> str:
    """Return the words of an error, without addresses, whose words say nothing about it."""
    return _ADDRESS.sub("", f"{error.code} {error.message}".lower())


def _names_cause(error: ErrorReport) -> bool:
    """True for an error that states its cause, so that no part of the request needs guessing."""
    words = _words(error)
    named = names_a_part(words) or is_about_context(words) or "content_filter" in words
    return named or error.status >= 500


def _without_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Move the system messages into the first message of the user."""
    rules = [m["content"] for m in messages if m["role"] == "system"]
    others = [m for m in messages if m["role"] != "system"]
    if rules and others:
        others[0] = {**others[0], "content": "\n\n".join([*rules, others[0]["content"]])}
    return others or [{"role": "user", "content": "\n\n".join(rules)}]


def _top_level(content: Mapping[str, Any]) -> dict[str, Any]:
    return {name: content.get(name) for name in ("prompt_eval_count", "eval_count")}


def _read_extra(text: str | Mapping[str, Any]) -> dict[str, Any]:
    found = text if isinstance(text, Mapping) else (parse_json(text) if text else {})
    if not isinstance(found, Mapping):
        raise InvalidArgumentError(
            f'expected extra as a JSON object such as {{"top_p": 0.9}}, got {found!r:.80}'
        )
    return dict(found)


def _header(name: str) -> str:
    """Return the value of an environment variable for a header, without surrounding blanks."""
    value = os.environ.get(name, "").strip()
    if not value.isascii() or not value.isprintable() or " " in value:
        add_secret(value)
        raise ModelSetupError(
            f"expected {name} as one line of plain characters, got a line break, a blank or a "
            "letter with an accent inside it: set it again"
        )
    return value


def _check_url(url: str | None) -> str | None:
    if url is None:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ModelSetupError("expected base_url such as http://localhost:8000/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ModelSetupError(
            "expected base_url without user, password or query: keys come from the environment"
        )
    return url.rstrip("/").removesuffix("/chat/completions")


def _price(
    name: str, prompt: float | None, completion: float | None, cached: float | None
) -> Price | None:
    if prompt is not None and completion is not None:
        return Price(prompt, completion, cached).checked(name)
    if prompt is not None or completion is not None or cached is not None:
        raise InvalidArgumentError("expected both prompt_price and completion_price")
    table = os.environ.get("GYM_MEMORY_PRICES", "")
    if table and not table.lstrip().startswith("{"):
        try:
            table = Path(table).read_text("utf-8")
        except OSError as error:
            raise InvalidArgumentError(f"cannot read GYM_MEMORY_PRICES: {error}") from error
    return read_prices(table).get(name) if table else None
