"""Any OpenAI-compatible endpoint: a cloud service, vLLM, Ollama, llama.cpp, ..."""

from __future__ import annotations

import contextlib
import email.utils
import functools
import json
import math
import os
import time
from typing import Any
from urllib.parse import urlsplit

from gym_memory.core.errors import InvalidArgumentError, ModelError, ModelSetupError
from gym_memory.core.secrets import add_secret, scrubbed, without_known
from gym_memory.core.settings import check_amount
from gym_memory.llm.base import Form, Reply, Request, Tokens
from gym_memory.llm.endpoint import Endpoint, endpoint
from gym_memory.llm.model import MAX_ANSWER_CHARS, BaseChatModel, Failure
from gym_memory.llm.usage import Price, read_prices

__all__ = ["OpenAIChat", "read_tokens"]

_MOST_TOKENS = 1 << 40
"""A count above it is no count."""
_OPENAI = "https://api.openai.com/v1"
_OF_OPENAI = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
"""Header to environment variable, for OpenAI itself."""
_PREFLIGHT_SECONDS = 6.0
_PREFLIGHT_CALLS = 5
_JSON_MODES = ("off", "object", "schema", "grammar")


class OpenAIChat(BaseChatModel):
    """A chat model behind the OpenAI wire format.

    The key is read from the environment, so that no config, log or file can hold it.

    Args:
        model: The model's name; default: the environment's ``GYM_MEMORY_MODEL``.
        base_url: The endpoint; default: the environment's ``OPENAI_BASE_URL``, else OpenAI.
        key_env: Name of the environment variable that holds the key. A local server needs none.
        timeout: Seconds to wait for a whole response, > 0.
        json_mode: Request JSON by the prompt alone (``off``), as any ``object`` or by ``schema``;
            ``grammar``: as ``schema``, with text of a form by a grammar (llama.cpp).
        limit_field: The server's limit of an answer: ``max_tokens`` or ``max_completion_tokens``.
        prompt_price: US dollars a million prompt tokens; default: the model's row of the price
            table in the environment's ``GYM_MEMORY_PRICES`` (JSON or the path of a JSON file).
        completion_price: The same for completion tokens.
        cached_price: The same for prompt tokens from the server's prefix cache.
        cache: Path of the response cache, or None for none.
        max_cost_usd: Hard stop in US dollars.
        max_tokens: Hard stop in tokens.
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
        limit_field: str = "max_tokens",
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
        name = model or os.environ.get("GYM_MEMORY_MODEL", "")
        if not name or not isinstance(name, str):
            raise ModelSetupError(
                "expected the name of a model: give --model, ?model=... or set GYM_MEMORY_MODEL"
            )
        if json_mode not in _JSON_MODES:
            raise InvalidArgumentError(
                f"expected json_mode as one of {', '.join(_JSON_MODES)}, got {json_mode!r}"
            )
        if not str(key_env).isidentifier():  # not shown: it may be the key itself
            raise InvalidArgumentError("expected key_env as the name of an environment variable")
        if not check_amount("timeout", timeout):
            raise InvalidArgumentError(f"expected timeout in seconds > 0, got {timeout!r}")
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

    def identity(self) -> dict[str, Any]:
        """Return endpoint, model and JSON mode."""
        return {"base_url": self.base_url, "model": self.name, "json_mode": self.json_mode}

    def _key(self) -> str:
        key = _header(self.key_env)
        if not key and self.base_url is None:
            raise ModelSetupError(
                f"no key: set {self.key_env}, or give base_url=... of a server that needs none"
            )
        return add_secret(key) or "none"

    @functools.cached_property
    def endpoint(self) -> Endpoint:
        """Return the connections to the server of the model."""
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

    def preflight(self) -> None:
        """Make a short call, several times in 6 s if it fails; kept answers need no server."""
        if self.cache:
            return
        request = Request([{"role": "user", "content": "Answer: ok"}], max_tokens=16)
        deadline = time.monotonic() + _PREFLIGHT_SECONDS
        for attempt in range(_PREFLIGHT_CALLS):
            left = deadline - time.monotonic()
            try:
                self._respond(request, min(self.timeout, left))
                return
            except Failure as failure:
                if failure.kind in ("rate_limit", "refusal", "answer"):  # it is there
                    return
                reason, wait = failure, self._wait(failure, attempt, request.messages)
            if time.monotonic() + wait > deadline or attempt == _PREFLIGHT_CALLS - 1:
                break
            time.sleep(wait)
        raise ModelSetupError(
            f"{reason}. Start the server of model {self.name!r}, or name another endpoint by "
            "--base-url or OPENAI_BASE_URL"
        )

    def _call(self, request: Request) -> Reply:
        return self._respond(request, self.timeout)

    def _respond(self, request: Request, seconds: float) -> Reply:
        schema = request.schema
        by_grammar = isinstance(schema, Form) and self.json_mode == "grammar"
        body = json.dumps(self._body(request)).encode()
        headers = self._headers()
        response = self.endpoint.post("/chat/completions", body, headers, seconds)
        # A server may send the key back, in an error or as part of its answer.
        received = without_known(response.body.decode(errors="replace"))
        try:
            content = json.loads(received)
        except (ValueError, RecursionError) as error:
            if isinstance(error, RecursionError) and response.status < 300:
                message = f"{self._place()} sent JSON that is nested too deeply"
                raise Failure("answer", message, tokens=None) from None
            if response.status < 300:
                message = f"{self._place()} sent no sense: {self._scrubbed(error)}"
                raise Failure("server", message, tokens=None) from None
            content = received
        if response.status >= 300:
            raise self._failure(response.status, response.headers, content)
        answer = self._completion(content)
        if isinstance(schema, Form) and not by_grammar:
            with contextlib.suppress(ModelError):  # else the text is what it is
                answer = answer._replace(text=schema.pour(answer.text))
        return answer

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": list(request.messages),
            self.limit_field: request.max_tokens,
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.seed is not None:
            body["seed"] = request.seed
        schema, is_form = request.schema, isinstance(request.schema, Form)
        if is_form and self.json_mode == "grammar":
            body["grammar"] = schema.grammar()
        elif schema is None:
            pass
        elif is_form or request.strict or self.json_mode in ("schema", "grammar"):
            name = "Form" if is_form else schema.__name__
            form = {"name": name, "schema": schema.model_json_schema()}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif self.json_mode == "object":
            body["response_format"] = {"type": "json_object"}
        return body

    def _completion(self, response: Any) -> Reply:
        try:
            choice = response["choices"][0]
            message, finish = choice["message"], choice.get("finish_reason") or "stop"
            text, refusal = message.get("content") or "", message.get("refusal")
        except (AttributeError, IndexError, KeyError, TypeError):
            message = f"{self._place()} sent a response without an answer"
            raise Failure("server", message, tokens=None) from None
        tokens = read_tokens(response.get("usage"))
        if refusal or finish == "content_filter":
            reason = self._scrubbed(refusal or "content filter")
            raise Failure("refusal", f"the model refuses: {reason}", tokens=tokens)
        if not isinstance(text, str) or len(text) > MAX_ANSWER_CHARS:
            message = f"expected an answer of at most {MAX_ANSWER_CHARS} characters"
            raise Failure("answer", message, tokens=tokens)
        return Reply(text, tokens, finish)

    def _failure(self, status: int, headers: Any, content: Any) -> Exception:
        error = content.get("error", content) if isinstance(content, dict) else content
        about = error if isinstance(error, dict) else {"message": error}
        code = str(about.get("code") or "")
        message = f"{self._place()} answers {status}: {self._scrubbed(about.get('message', error))}"
        if status < 400:
            return ModelSetupError(
                f"{message}. It redirects to {self._scrubbed(headers.get('Location'))!r}"
            )
        if status in (401, 403, 404) or code in ("insufficient_quota", "model_not_found"):
            return ModelSetupError(message)
        if status == 429:
            return Failure("rate_limit", message, _retry_after(headers))
        if status in (408, 504):
            return Failure("timeout", message, tokens=None)
        if status >= 500 or status == 409:
            return Failure("server", message, _retry_after(headers))
        if code == "content_filter":
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


def _header(name: str) -> str:
    """Return the value of an environment variable for a header, without blanks around it."""
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
    return url.rstrip("/")


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
            with open(table, encoding="utf-8") as file:
                table = file.read()
        except OSError as error:
            raise InvalidArgumentError(f"cannot read GYM_MEMORY_PRICES: {error}") from error
    return read_prices(table).get(name) if table else None


def read_tokens(usage: Any) -> Tokens:
    """Read token counts; zeros where the server sends none, or no count."""

    def count(part: Any, name: str) -> int:
        value = part.get(name, 0) if isinstance(part, dict) else 0
        return value if isinstance(value, int) and 0 <= value <= _MOST_TOKENS else 0

    prompt = count(usage, "prompt_tokens")
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    cached = min(count(details, "cached_tokens"), prompt)
    return Tokens(prompt, cached, count(usage, "completion_tokens"))


def _retry_after(headers: Any) -> float | None:
    text = headers.get("retry-after", "").strip()
    try:
        return float(text) if math.isfinite(float(text)) else None
    except ValueError:
        pass
    try:
        when = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return when.timestamp() - time.time()
