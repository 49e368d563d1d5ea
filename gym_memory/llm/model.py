"""Base of chat models: response cache, hard stops, counters, retries, JSON repair."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import sqlite3
import threading
import time
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from gym_memory.core.errors import (
    BudgetExceededError,
    ContextExceededError,
    GymMemoryError,
    ModelDownError,
    ModelError,
    ModelSetupError,
    StoreError,
)
from gym_memory.core.settings import check_amount, check_int
from gym_memory.llm.base import Form, Message, Reply, Request, Tokens, answered
from gym_memory.llm.thinking import split_thinking
from gym_memory.llm.usage import Budget, Call, Meter, Price, Usage, current_scope, with_estimate

__all__ = ["MAX_ANSWER_CHARS", "MOST_FAILURES", "BaseChatModel", "Failure", "ResponseCache"]
__all__ += ["THINKING_TOKENS", "call_key", "prompt_ceiling"]

MAX_ANSWER_CHARS = 200_000
"""Most characters of an answer; a longer one is refused."""
MOST_FAILURES = 18
"""Failed attempts in a row that end a run: three calls with the usual retries."""
THINKING_TOKENS = 16_384
"""Tokens for thoughts before an answer; published runs of reasoning models use 8,000 to 32,000."""
_LEAST_TRIAL = 16
"""Least limit with which a cut answer is requested again with tokens for thoughts."""
_USUAL_ANSWER = 1024
"""Expected tokens of a first answer, at most its own limit."""
_TRANSIENT = frozenset({"rate_limit", "timeout", "server", "connection"})


class Failure(Exception):
    """A failed attempt, which becomes a :class:`ModelError` after the last one.

    ``wait`` is the server's request in seconds. If ``tokens`` is None, the most that the call may
    use is counted.
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

    def as_error(self) -> ModelError:
        """Return the error of a call that ends with this failure."""
        if self.kind == "context":
            return ContextExceededError(str(self))
        return ModelError(self.kind, str(self))


class BaseChatModel(ABC):
    """A chat model with cache, budget and meter, whose subclasses make a single call.

    The arguments are those of :class:`~gym_memory.llm.client.OpenAIChat`; a stop in dollars needs
    a price.
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
                "completion_price (US dollars per million tokens) or a table in GYM_MEMORY_PRICES"
            )
        self.name = name
        self.price = price
        self.meter = Meter()
        self.cache = None if cache is None else ResponseCache(cache)
        self.budget: Budget | None = None
        if max_cost_usd is not None or max_tokens is not None:
            self.budget = Budget(max_cost_usd, max_tokens, budget or ":memory:")
        self.retries, self.backoff, self.max_wait = retries, backoff, max_wait
        self._longest = 0

    def identity(self) -> dict[str, Any]:
        """Return the identity of this model's answers in the response cache."""
        return {"model": self.name}

    def preflight(self, trial: Request | None = None) -> None:  # noqa: B027 - a server may be away
        """Raise ModelSetupError if the model cannot be reached or refuses a short call."""

    def check_price(self, budget: Budget) -> None:
        """Raise ModelSetupError for a limit in dollars on calls without a price."""
        if budget.max_cost_usd is not None and self.price is None:
            raise ModelSetupError(
                f"a stop at max_cost_usd needs the price of model {self.name!r}: give prompt_price "
                "and completion_price or a table in GYM_MEMORY_PRICES"
            )

    @property
    def reasons(self) -> bool:
        """True if the model thinks before it answers."""
        return False

    def note_reasoning(self, reasons: bool = True) -> None:  # noqa: B027 - others are known
        """Start or stop giving answers more tokens for thoughts."""

    @property
    def may_reason(self) -> bool:
        """True if it is unknown whether the model reasons."""
        return False

    def notes(self) -> tuple[str, ...]:
        """Return notes on the model for a reader of results, in sentences."""
        return ()

    def limit(self, request: Request) -> int:
        """Return the most tokens for an answer and the thoughts before it."""
        return request.max_tokens + THINKING_TOKENS * (self.reasons and request.thinks)

    @abstractmethod
    def _call(self, request: Request) -> Reply:
        """Make one attempt; raises :class:`Failure` or :class:`ModelSetupError`."""

    def complete(self, request: Request) -> Reply:
        """Answer a chat; see :class:`gym_memory.llm.ChatModel`."""
        repaired = functools.partial(self._count, request.role, Usage(repairs=1))
        return answered(self._answer, request, repaired)

    def _answer(self, request: Request) -> Reply:
        started = time.perf_counter()
        if self.cache is None:
            answer = self._attempts(request)
            self._count_answer(request, answer, started)
            return answer
        key = call_key({**self.identity(), **_cached_by(request)})
        kept = self.cache.get(key)
        answer = self._attempts(request) if kept is None else kept
        self._count_answer(request, answer, started)
        return self.cache.put(key, answer) if kept is None else kept

    def _attempts(self, request: Request) -> Reply:
        ceiling, attempt = prompt_ceiling(request.messages, request.schema), 0
        trial = False  # True while testing whether the model reasons
        while True:
            limit = self.limit(request)
            try:
                with self._spending(ceiling, self._expected(request), limit) as (settle, most):
                    answer = _without_thoughts(self._call(_cut_to(request, most, limit)), request)
                    settle(answer.tokens)
                _failed[self._own_hash] = 0
                self._longest = max(self._longest, answer.tokens.completion)
                thinks = bool(answer.thought or answer.tokens.reasoning)
                if thinks or trial:
                    self.note_reasoning(thinks)
                if answer.finish != "length":
                    return answer
                if most < limit:
                    self._count_answer(request, answer, time.perf_counter())
                    raise BudgetExceededError(_CUT_BY_STOP.format(most))
                if self.may_reason and request.thinks and request.max_tokens >= _LEAST_TRIAL:
                    # A cut answer may be only a thought.
                    self.note_reasoning()
                    trial = True
                if self.limit(request) > limit:
                    self._count_answer(request, answer, time.perf_counter())
                    continue  # now with tokens for thoughts
                if answer.text.strip() and (thinks or not self.reasons):
                    return answer
                self._count_answer(request, answer, time.perf_counter())
                raise Failure("answer", _CUT.format(limit))
            except Failure as failure:
                billed = failure.tokens or Tokens()  # such as those of a refusal
                self._count(request.role, self._usage(billed, paid=bool(billed.total), failures=1))
                self._note(failure)
                if failure.kind not in _TRANSIENT or attempt == self.retries:
                    raise failure.as_error() from None
                time.sleep(self._wait(failure, attempt, request.messages))
                attempt += 1

    @functools.cached_property
    def _own_hash(self) -> str:
        return call_key(self.identity())

    def _note(self, failure: Failure) -> None:
        """Count a failed attempt; raise ModelDownError after too many in a row within a run.

        Outside of a run, a policy continues with its fallbacks.
        """
        for meter in (self.meter, *current_scope().meters):
            meter.note(f"a call failed: {failure}", failure.kind)
        most = current_scope().most_failures
        if most is None:
            return
        _failed[self._own_hash] += failure.kind in _TRANSIENT
        attempts, longest = _failed[self._own_hash], most * self.max_wait
        if attempts >= most or (failure.wait or 0.0) > longest:
            _failed[self._own_hash] = 0
            raise ModelDownError(
                f"the model does not answer, {attempts} attempt{'s' * (attempts > 1)} in a row "
                f"failed: {failure}. "
                "When it is back, give the same command: finished episodes are kept"
            )

    def _wait(self, failure: Failure, attempt: int, messages: Sequence[Message]) -> float:
        """Return the seconds to the next attempt: the server's request, or else exponential."""
        if failure.wait is not None:
            return min(max(failure.wait, 0.0), self.max_wait)
        # Jitter separates waiting callers; it is derived, so no random state changes.
        seed = hashlib.sha256(f"{attempt}{messages[-1]['content']}".encode("utf-8", "replace"))
        jitter = seed.digest()[0] / 255
        return min(self.backoff * 2**attempt * (0.5 + jitter / 2), self.max_wait)

    def _expected(self, request: Request) -> int:
        """Return the least tokens for an answer with which a call is made under a hard stop."""
        usual = max(self._longest, min(request.max_tokens, _USUAL_ANSWER))
        return min(usual, self.limit(request))

    @contextmanager
    def _spending(self, prompt: int, least: int, most: int) -> Iterator[tuple[Any, int]]:
        """Reserve a call in every budget; yield a function to settle it and the answer's limit."""
        own = () if self.budget is None else (self.budget,)
        budgets = (*own, *current_scope().budgets)
        price = self.price
        for budget in budgets:
            self.check_price(budget)
        tickets: list[tuple[Budget, int]] = []

        def settle(tokens: Tokens | None) -> None:
            while tickets:
                budget, ticket = tickets.pop()
                if tokens is None:
                    highest = 0.0 if price is None else price.ceiling(prompt, most)
                    budget.settle(ticket, prompt + most, highest)
                else:
                    cost = 0.0 if price is None else price.cost(tokens)
                    budget.settle(ticket, tokens.total, cost)

        try:
            for budget in budgets:
                ticket, most = budget.reserve_answer(prompt, least, most, price)
                tickets.append((budget, ticket))
            yield settle, most
        except Failure as failure:
            settle(failure.tokens)
            raise
        except GymMemoryError:
            settle(Tokens())
            raise
        except BaseException:
            settle(None)  # interrupted: the server may bill it
            raise

    def _count_answer(self, request: Request, answer: Reply, started: float) -> None:
        tokens = answer.tokens
        seconds = time.perf_counter() - started
        usage = self._usage(
            tokens,
            paid=not answer.hit,
            calls=1,
            hits=int(answer.hit),
            cut=int(answer.finish == "length"),
            seconds=seconds,
        )
        self._count(request.role, usage)
        sentences = [*self.notes(), *([_ESTIMATED] if tokens.estimated else ())]
        sentences += [_SOME_CUT] if answer.finish == "length" else []
        for meter in (self.meter, *current_scope().meters):
            meter.answered(answer.model or self.name)
            for sentence in sentences:
                meter.note(sentence)
        chat = tuple(request.messages)
        for log in current_scope().logs:
            spent = usage.cost_usd
            call = Call(request.role, chat, answer.text, tokens, spent, answer.hit, seconds)
            log.append(call._replace(thought=answer.thought, priced=self.price is not None))

    def _usage(self, tokens: Tokens, *, paid: bool, **counts: Any) -> Usage:
        return Usage(
            prompt_tokens=tokens.prompt,
            cached_tokens=tokens.cached,
            completion_tokens=tokens.completion,
            reasoning_tokens=tokens.reasoning,
            estimated=int(tokens.estimated),
            cost_usd=self.price.cost(tokens) if paid and self.price else 0.0,
            unpriced=int(paid and self.price is None),
            **counts,
        )

    def _count(self, role: str, usage: Usage) -> None:
        for meter in (self.meter, *current_scope().meters):
            meter.add(role, usage)

    def __deepcopy__(self, memo: dict[int, Any]) -> BaseChatModel:
        return self  # a client is shared, never copied

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def _cut_to(request: Request, tokens: int, limit: int) -> Request:
    """Return a request with a limit for the answer and its thoughts."""
    if tokens == limit:
        return request
    return dataclasses.replace(request, max_tokens=tokens, thinks=False)


def _without_thoughts(answer: Reply, request: Request) -> Reply:
    """Remove the thoughts from an answer before it is read, and count its tokens."""
    thought, text = split_thinking(answer.text)
    thought = "\n".join(filter(None, (answer.thought, thought)))
    tokens = with_estimate(answer.tokens, request.messages, thought + text)
    return answer._replace(text=text, thought=thought, tokens=tokens)


_CUT = (
    "the answer was cut at {} tokens before it began: give the agent a higher max_tokens, or the "
    "model reasoning=true"
)
_CUT_BY_STOP = "the hard stop leaves {} tokens for an answer, which were too few"
_SOME_CUT = "answers were cut at their limit: give the agent a higher max_tokens"
_ESTIMATED = "the server reports no usage, or a part of it: tokens are estimated from the text"

_failed: Counter[str] = Counter()
"""Failed attempts in a row by model, shared by its clients in this process, one per episode."""


def prompt_ceiling(messages: Sequence[Message], schema: Any = None) -> int:
    """Return an upper bound of a prompt's tokens: its UTF-8 bytes and a few per turn."""
    texts = [message["content"] for message in messages]
    if schema is not None:
        texts.append(_json_schema(schema))
    return 16 + sum(16 + len(text.encode("utf-8", "replace")) for text in texts)


@functools.lru_cache(maxsize=64)
def _json_schema(schema: Any) -> str:
    return json.dumps(schema.model_json_schema())


_TABLE = """
CREATE TABLE IF NOT EXISTS responses (
    key TEXT PRIMARY KEY, answer TEXT NOT NULL, finish TEXT NOT NULL,
    prompt INTEGER NOT NULL, cached INTEGER NOT NULL, completion INTEGER NOT NULL, crc INTEGER,
    reasoning INTEGER NOT NULL DEFAULT 0, estimated INTEGER NOT NULL DEFAULT 0,
    thought TEXT NOT NULL DEFAULT '', model TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID
"""
_KEPT = "answer, finish, prompt, cached, completion, reasoning, estimated, thought, model"
_LATER_COLUMNS = (
    "crc INTEGER",
    "reasoning INTEGER NOT NULL DEFAULT 0",
    "estimated INTEGER NOT NULL DEFAULT 0",
    "thought TEXT NOT NULL DEFAULT ''",
    "model TEXT NOT NULL DEFAULT ''",
)
"""Columns that an older file lacks."""


def _cached_by(request: Request) -> dict[str, Any]:
    schema = request.schema
    form = None if schema is None else schema.model_json_schema()
    parts: dict[str, Any] = {
        "messages": list(request.messages),
        "parameters": [request.temperature, request.max_tokens, request.seed, form],
    }
    if not request.thinks:
        parts["thinks"] = False
    if request.strict:
        parts["strict"] = True
    if isinstance(schema, Form):
        parts["template"] = schema.template
    return parts


def call_key(call: Mapping[str, Any]) -> str:
    """Return the key of a call: a hash of its canonical JSON."""
    text = json.dumps(call, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _checksum(key: str, row: Sequence[Any]) -> int:
    return zlib.crc32(json.dumps([key, *row]).encode())


class ResponseCache:
    """A cache of answers by call, in an SQLite file for threads and processes."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        self._lock = threading.Lock()
        try:
            os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
            # Prompts and answers are private; SQLite gives its log the same permissions.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self._db = sqlite3.connect(
                self.path, timeout=60, check_same_thread=False, isolation_level=None
            )
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(_TABLE)
            for column in _LATER_COLUMNS:
                with suppress(sqlite3.OperationalError):  # the column exists
                    self._db.execute(f"ALTER TABLE responses ADD COLUMN {column}")
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"expected a response cache at {self.path!r}: {error}") from error

    def get(self, key: str) -> Reply | None:
        """Return the cached answer of a call as a hit; None for a missing or changed one."""
        query = f"SELECT crc, {_KEPT} FROM responses WHERE key = ?"
        with self._reported():
            row = self._db.execute(query, (key,)).fetchone()
        if row is None:
            return None
        crc, answer, finish, prompt, cached, completion, reasoning, estimated, thought, model = row
        # An older file has the checksum of fewer columns.
        if crc not in (None, *(_checksum(key, row[1:end]) for end in (10, 9, 6))):
            return None
        tokens = Tokens(prompt, cached, completion, reasoning, bool(estimated))
        return Reply(answer, tokens, finish, hit=True, thought=thought, model=model)

    def put(self, key: str, reply: Reply) -> Reply:
        """Store an answer unless the call has one; return the answer to use."""
        row = (reply.text, reply.finish, *map(int, reply.tokens), reply.thought, reply.model)
        for insert in ("INSERT OR IGNORE", "REPLACE"):  # REPLACE: the first answer was changed
            with self._reported():
                kept = self._db.execute(
                    f"{insert} INTO responses (key, crc, {_KEPT}) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (key, _checksum(key, row), *row),
                ).rowcount
            if not kept and (first := self.get(key)) is not None:
                return first._replace(hit=False)
            if kept:
                break
        return reply

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except sqlite3.Error as error:
            raise StoreError(f"cannot use the response cache {self.path!r}: {error}") from error

    def __len__(self) -> int:
        with self._lock:
            return int(self._db.execute("SELECT COUNT(*) FROM responses").fetchone()[0])

    def close(self) -> None:
        """Close the file; the cache must not be used any more."""
        with self._lock:
            self._db.close()
