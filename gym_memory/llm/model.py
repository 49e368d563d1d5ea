"""What every chat model shares: response cache, hard stops, counters, retries, JSON repair."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import hashlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from gym_memory.core.errors import GymMemoryError, ModelError, ModelSetupError
from gym_memory.core.settings import check_amount, check_int
from gym_memory.llm.base import Completion, Message, Tokens
from gym_memory.llm.cache import ResponseCache, call_key
from gym_memory.llm.forms import Form
from gym_memory.llm.structured import repair_messages, validate
from gym_memory.llm.usage import Budget, Call, Meter, Price, Usage, current_scope

__all__ = ["MAX_ANSWER_CHARS", "BaseChatModel", "Failure", "prompt_ceiling"]

MAX_ANSWER_CHARS = 200_000
"""Characters of an answer; a longer one is refused."""
_TRANSIENT = frozenset({"rate_limit", "timeout", "server", "connection"})
_WORKERS = 64


class Failure(Exception):
    """One failed attempt, told apart; becomes a :class:`ModelError` when the attempts run out.

    Args:
        kind: As of :class:`ModelError`.
        message: What happened, free of keys and headers.
        wait: Seconds that the server asks to wait, or None.
        tokens: What the server took all the same; None when that is not known, which counts
            as all that the call could take.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        wait: float | None = None,
        tokens: Tokens | None = Tokens(),  # noqa: B008 - immutable
    ):
        super().__init__(message)
        self.kind, self.wait, self.tokens = kind, wait, tokens


class BaseChatModel(ABC):
    """A chat model with its cache, budget and meter; a subclass makes the single call.

    Args:
        name: The model's name.
        cache: Path of the response cache, or None for none.
        max_cost_usd: Hard stop in US dollars; needs ``price``.
        max_tokens: Hard stop in prompt and completion tokens together.
        budget: Path of the file that shares the hard stops among processes; private when None.
        price: Price of the model's tokens; None when unknown.
        retries: Attempts after the first failed one, >= 0.
        backoff: Seconds before the first retry, doubled for each next one, >= 0.
        max_wait: Longest wait before a retry in seconds, whatever the server asks for.
    """

    def __init__(
        self,
        name: str,
        *,
        cache: str | None = None,
        max_cost_usd: float | None = None,
        max_tokens: int | None = None,
        budget: str | None = None,
        price: Price | None = None,
        retries: int = 5,
        backoff: float = 0.5,
        max_wait: float = 60.0,
    ):
        check_int("retries", retries, 0)
        check_amount("backoff", backoff)
        check_amount("max_wait", max_wait)
        if max_cost_usd is not None and price is None:
            raise ModelSetupError(
                f"max_cost_usd needs the price of model {name!r}: give prompt_price and "
                "completion_price (US dollars a million tokens) or a table in GYM_MEMORY_PRICES"
            )
        self.name = name
        self.price = price
        self.meter = Meter()
        self.cache = None if cache is None else ResponseCache(cache)
        self.budget: Budget | None = None
        if max_cost_usd is not None or max_tokens is not None:
            self.budget = Budget(max_cost_usd, max_tokens, budget or ":memory:")
        self.retries, self.backoff, self.max_wait = retries, backoff, max_wait

    def identity(self) -> dict[str, Any]:
        """What tells this model's answers from another's, for the response cache."""
        return {"model": self.name}

    @abstractmethod
    def _call(
        self,
        messages: Sequence[Message],
        temperature: float | None,
        max_tokens: int,
        seed: int | None,
        schema: Any,
        strict: bool,
    ) -> Completion:
        """Make one attempt; raises :class:`Failure` or :class:`ModelSetupError`."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        role: str = "",
        temperature: float | None = 0.0,
        max_tokens: int = 512,
        seed: int | None = None,
        schema: Any = None,
        strict: bool = False,
    ) -> Completion:
        """Answer a chat; see :class:`gym_memory.llm.ChatModel`."""
        ask = functools.partial(
            self._answer,
            temperature=temperature,
            max_tokens=max_tokens,
            seed=seed,
            schema=schema,
            strict=strict,
        )
        first = ask(messages, role)
        if schema is None or isinstance(schema, Form):
            return first
        try:
            return first._replace(parsed=validate(first.text, schema))
        except ModelError as error:
            self._count(role, Usage(repairs=1))
            second = ask(repair_messages(messages, first.text, error), role)
            return second._replace(parsed=validate(second.text, schema))

    async def acomplete(self, messages: Sequence[Message], **options: Any) -> Completion:
        """:meth:`complete` for an event loop; up to 64 calls are under way at once."""
        context = contextvars.copy_context()
        call = functools.partial(context.run, self.complete, messages, **options)
        return await asyncio.get_running_loop().run_in_executor(self._workers, call)

    @functools.cached_property
    def _workers(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_WORKERS, thread_name_prefix="gym-memory-llm")

    def _answer(
        self,
        messages: Sequence[Message],
        role: str,
        temperature: float | None,
        max_tokens: int,
        seed: int | None,
        schema: Any,
        strict: bool,
    ) -> Completion:
        """One answer from the cache, else from the model."""
        started = time.perf_counter()
        key = ""
        if self.cache is not None:
            form = None if schema is None else schema.model_json_schema()
            held: dict[str, Any] = {"strict": True} if strict else {}
            if isinstance(schema, Form):
                held["template"] = schema.template
            key = call_key(
                {
                    **self.identity(),
                    "messages": list(messages),
                    "parameters": [temperature, max_tokens, seed, form],
                    **held,
                }
            )
            kept = self.cache.get(key)
            if kept is not None:
                self._count_answer(role, messages, kept, started)
                return kept
        answer = self._attempts(messages, role, temperature, max_tokens, seed, schema, strict)
        self._count_answer(role, messages, answer, started)
        return answer if self.cache is None else self.cache.put(key, answer)

    def _attempts(
        self,
        messages: Sequence[Message],
        role: str,
        temperature: float | None,
        max_tokens: int,
        seed: int | None,
        schema: Any,
        strict: bool,
    ) -> Completion:
        """Call until it works or the retries are spent."""
        ceiling = prompt_ceiling(messages, schema)
        for attempt in range(self.retries + 1):
            try:
                with self._spending(ceiling, max_tokens) as settle:
                    answer = self._call(messages, temperature, max_tokens, seed, schema, strict)
                    settle(answer.tokens)
            except Failure as failure:
                self._count(role, Usage(failures=1))
                if failure.kind not in _TRANSIENT or attempt == self.retries:
                    raise ModelError(failure.kind, str(failure)) from None
                time.sleep(self._wait(failure, attempt, messages))
            else:
                return answer
        raise AssertionError("unreachable")

    def _wait(self, failure: Failure, attempt: int, messages: Sequence[Message]) -> float:
        """Seconds to the next attempt: what the server asks, else exponential with jitter."""
        if failure.wait is not None:
            return min(max(failure.wait, 0.0), self.max_wait)
        # Jitter keeps many waiting callers apart; derived, so no random state is touched.
        seed = hashlib.sha256(f"{attempt}{messages[-1]['content']}".encode("utf-8", "replace"))
        jitter = seed.digest()[0] / 255
        return min(self.backoff * 2**attempt * (0.5 + jitter / 2), self.max_wait)

    @contextmanager
    def _spending(self, prompt: int, completion: int) -> Iterator[Any]:
        """Reserve the most that a call can take in every budget; settle what it took."""
        own = () if self.budget is None else (self.budget,)
        budgets = (*own, *current_scope().budgets)
        price = self.price
        for budget in budgets:
            if budget.max_cost_usd is not None and price is None:
                raise ModelSetupError(
                    f"a stop at max_cost_usd needs the price of model {self.name!r}: give "
                    "prompt_price and completion_price or a table in GYM_MEMORY_PRICES"
                )
        most = 0.0 if price is None else price.ceiling(prompt, completion)
        tickets: list[tuple[Budget, int]] = []

        def settle(tokens: Tokens | None) -> None:
            while tickets:
                budget, ticket = tickets.pop()
                if tokens is None:
                    budget.settle(ticket, prompt + completion, most)
                else:
                    cost = 0.0 if price is None else price.cost(tokens)
                    budget.settle(ticket, tokens.prompt + tokens.completion, cost)

        try:
            for budget in budgets:
                tickets.append((budget, budget.reserve(prompt + completion, most)))
            yield settle
        except Failure as failure:
            settle(failure.tokens)
            raise
        except GymMemoryError:
            settle(Tokens())
            raise
        except BaseException:
            settle(None)  # interrupted under way: the server may bill it
            raise

    def _count_answer(
        self, role: str, messages: Sequence[Message], answer: Completion, started: float
    ) -> None:
        tokens = answer.tokens
        paid = not answer.hit
        cost = self.price.cost(tokens) if paid and self.price else 0.0
        seconds = time.perf_counter() - started
        self._count(
            role,
            Usage(
                calls=1,
                hits=int(answer.hit),
                prompt_tokens=tokens.prompt,
                cached_tokens=tokens.cached,
                completion_tokens=tokens.completion,
                cost_usd=cost,
                unpriced=int(paid and self.price is None),
                seconds=seconds,
            ),
        )
        for log in current_scope().logs:
            log.append(Call(role, tuple(messages), answer.text, tokens, cost, answer.hit, seconds))

    def _count(self, role: str, usage: Usage) -> None:
        for meter in (self.meter, *current_scope().meters):
            meter.add(role, usage)

    def __deepcopy__(self, memo: dict[int, Any]) -> BaseChatModel:
        return self  # a client is shared, never copied

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def prompt_ceiling(messages: Sequence[Message], schema: Any = None) -> int:
    """An upper bound of the tokens of a prompt.

    No tokenizer in use makes more tokens than UTF-8 bytes; a chat template adds a few a turn.
    """
    texts = [message["content"] for message in messages]
    if schema is not None:
        texts.append(_form(schema))
    return 16 + sum(16 + len(text.encode("utf-8", "replace")) for text in texts)


@functools.lru_cache(maxsize=64)
def _form(schema: Any) -> str:
    """The JSON schema of a pydantic model as text."""
    return json.dumps(schema.model_json_schema())
