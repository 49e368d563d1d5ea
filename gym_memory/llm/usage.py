"""Costs of language models: counters by role and episode, prices, and hard stops."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import NamedTuple

from gym_memory.core.errors import BudgetExceededError, InvalidArgumentError, StoreError
from gym_memory.core.files import parse_json
from gym_memory.core.settings import check_amount
from gym_memory.core.tokens import count_tokens
from gym_memory.llm.base import Message, Tokens

__all__ = ["Budget", "Call", "Meter", "Price", "Scope", "Usage", "current_scope", "episode_usage"]
__all__ += ["logged_calls", "read_prices", "tokens_of", "with_estimate"]

_MOST_NOTES = 20
_MOST_ROOM = 1 << 40
"""Tokens of an answer without a limit."""
_TOKENS_A_TURN = 4
"""Tokens around each message of a chat."""


class Price(NamedTuple):
    """US dollars per million tokens; ``cached`` None is the same as ``prompt``."""

    prompt: float
    completion: float
    cached: float | None = None

    def checked(self, model: str) -> Price:
        """Return the price if valid; a negative one or NaN would disable a hard stop."""
        for name, part in self._asdict().items():
            if part is not None or name != "cached":
                check_amount(f"prices of {model!r}: its {name} price", part)
        return self

    def cost(self, tokens: Tokens) -> float:
        """Return the cost of a call in US dollars."""
        cached = self.prompt if self.cached is None else self.cached
        fresh = tokens.prompt - tokens.cached
        return (
            fresh * self.prompt + tokens.cached * cached + tokens.completion * self.completion
        ) / 1e6

    def ceiling(self, prompt: int, completion: int) -> float:
        """Return the highest cost of a number of tokens."""
        return (prompt * max(self.prompt, self.cached or 0.0) + completion * self.completion) / 1e6


@dataclasses.dataclass(frozen=True)
class Usage:
    """Counters of calls of language models; they add up with ``+``.

    ``calls`` include ``hits`` of the response cache, which cost nothing; ``repairs`` repeated a
    request for malformed JSON; ``failures`` are attempts; ``cached_tokens`` are those of
    ``prompt_tokens`` that the server's prefix cache had; ``completion_tokens`` include
    ``reasoning_tokens``; the tokens of ``estimated`` calls are counted from their text;
    ``unpriced`` calls had no price; the answers of ``cut`` calls ended at their limit; ``seconds``
    include waiting.
    """

    calls: int = 0
    hits: int = 0
    repairs: int = 0
    failures: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    cut: int = 0
    seconds: float = dataclasses.field(default=0.0, compare=False)

    def __add__(self, other: Usage) -> Usage:
        names = [field.name for field in dataclasses.fields(self)]
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in names})


def with_estimate(tokens: Tokens, messages: Sequence[Message], answer: str) -> Tokens:
    """Return usage with missing counts of a server estimated from the text.

    >>> with_estimate(Tokens(), [{"role": "user", "content": "Hello"}], "Good day")
    Tokens(prompt=6, cached=0, completion=2, reasoning=0, estimated=True)
    """
    prompt, completion = tokens.prompt, tokens.completion
    if not prompt:
        prompt = tokens_of(messages)
    if not completion:
        completion = count_tokens(answer)
    if (prompt, completion) == (tokens.prompt, tokens.completion):
        return tokens
    return tokens._replace(prompt=prompt, completion=completion, estimated=True)


def tokens_of(messages: Sequence[Message]) -> int:
    """Return the tokens of a chat, counted from its text."""
    return sum(count_tokens(message["content"]) + _TOKENS_A_TURN for message in messages)


class Meter:
    """A meter of usage by role; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._roles: dict[str, Usage] = {}
        self._notes: dict[str, str] = {}
        self._models: dict[str, None] = {}

    def note(self, sentence: str, topic: str = "") -> None:
        """Add a note on the calls for a reader of results, the first one per topic."""
        with self._lock:
            if len(self._notes) < _MOST_NOTES:
                self._notes.setdefault(topic or sentence, sentence)

    def notes(self) -> tuple[str, ...]:
        """Return the notes, in order."""
        with self._lock:
            return tuple(self._notes.values())

    def answered(self, model: str) -> None:
        """Add the name of a model that answered a call."""
        with self._lock:
            if len(self._models) < _MOST_NOTES:
                self._models[model] = None

    def models(self) -> tuple[str, ...]:
        """Return the names of the models that answered, sorted."""
        with self._lock:
            return tuple(sorted(self._models))

    def add(self, role: str, usage: Usage) -> None:
        """Count ``usage`` for a role."""
        with self._lock:
            self._roles[role] = self._roles.get(role, Usage()) + usage

    def by_role(self) -> dict[str, Usage]:
        """Return the usage of each role, sorted by name."""
        with self._lock:
            return {role: self._roles[role] for role in sorted(self._roles)}

    def total(self) -> Usage:
        """Return the usage of all roles together."""
        return sum(self.by_role().values(), Usage())

    def counters(self) -> dict[str, float]:
        """Return the totals as a flat row without times, and the calls of each role."""
        total = dataclasses.asdict(self.total())
        del total["seconds"]
        row = {"cost_usd": total.pop("cost_usd")}
        row |= {f"llm_{name}": value for name, value in total.items()}
        return row | {f"llm_calls_{r or 'other'}": u.calls for r, u in self.by_role().items()}


# Row 0 is the spending; all others are reservations.
_TABLE = """
CREATE TABLE IF NOT EXISTS spending (
    id INTEGER PRIMARY KEY AUTOINCREMENT, tokens INTEGER NOT NULL, cost_usd REAL NOT NULL
)
"""


class Budget:
    """A hard stop, which refuses calls that could exceed it.

    A call reserves the most that it may take, and releases the rest after the answer. Without an
    answer, the reservation stays spent, since the server may bill it. ``max_tokens`` counts prompt
    and completion; ``path`` is an SQLite file to share with other processes.
    """

    def __init__(
        self,
        max_cost_usd: float | None = None,
        max_tokens: int | None = None,
        path: str | os.PathLike[str] = ":memory:",
    ):
        for name, limit in (("max_cost_usd", max_cost_usd), ("max_tokens", max_tokens)):
            if limit is not None and limit != math.inf:
                check_amount(name, limit)
        self.max_cost_usd, self.max_tokens = max_cost_usd, max_tokens
        self.path = os.fspath(path)
        self._lock = threading.Condition()
        self._threads: dict[int, int] = {}  # thread of each open call, by ticket
        try:
            self._db = sqlite3.connect(
                self.path, timeout=60, check_same_thread=False, isolation_level=None
            )
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute(_TABLE)
            self._db.execute("INSERT OR IGNORE INTO spending VALUES (0, 0, 0.0)")
        except sqlite3.Error as error:
            raise StoreError(f"expected a budget file at {self.path!r}: {error}") from error

    def reserve(self, tokens: int, cost_usd: float) -> int:
        """Reserve the most that a call can take; return a ticket. Raises BudgetExceededError."""
        with self._lock, self._transaction():
            return self._reserve(tokens, cost_usd)

    def reserve_answer(
        self, prompt: int, least: int, most: int, price: Price | None
    ) -> tuple[int, int]:
        """Reserve a prompt and an answer of ``least`` to ``most`` tokens; return ticket and tokens.

        Wait for the reservations of other threads, which release most of them. Leave half of the
        rest to other processes, unless that is too little for an answer.
        """
        with self._lock:
            while True:
                try:
                    with self._transaction():
                        room = self._room(prompt, price) // 2
                        tokens = min(most, max(least, room))
                        cost = 0.0 if price is None else price.ceiling(prompt, tokens)
                        ticket = self._reserve(prompt + tokens, cost)
                except BudgetExceededError:
                    if set(self._threads.values()) <= {threading.get_ident()}:
                        raise
                    self._lock.wait()
                else:
                    self._threads[ticket] = threading.get_ident()
                    return ticket, tokens

    def _room(self, prompt: int, price: Price | None) -> int:
        """Return the most tokens that an answer to a prompt may have."""
        spent_tokens, spent = self._sums()
        rooms: list[float] = [_MOST_ROOM]
        if self.max_tokens is not None:
            rooms.append(self.max_tokens - spent_tokens - prompt)
        if self.max_cost_usd is not None and price is not None and price.completion:
            left = self.max_cost_usd - spent - price.ceiling(prompt, 0)
            rooms.append(left * 1e6 / price.completion)
        return int(min(rooms))

    def _reserve(self, tokens: int, cost_usd: float) -> int:
        spent_tokens, spent = self._sums()
        if self.max_tokens is not None and spent_tokens + tokens > self.max_tokens:
            raise BudgetExceededError(
                f"the next call may take {tokens} tokens: {spent_tokens} of max_tokens="
                f"{self.max_tokens} are spent or set aside"
            )
        if self.max_cost_usd is not None and spent + cost_usd > self.max_cost_usd:
            raise BudgetExceededError(
                f"the next call may cost ${cost_usd:.6f}: ${spent:.6f} of max_cost_usd="
                f"{self.max_cost_usd} are spent or set aside"
            )
        cursor = self._db.execute(
            "INSERT INTO spending (tokens, cost_usd) VALUES (?, ?)", (tokens, cost_usd)
        )
        ticket = cursor.lastrowid
        assert ticket is not None
        return ticket

    def settle(self, ticket: int, tokens: int, cost_usd: float) -> None:
        """Replace a reservation by the usage of the call."""
        with self._lock, self._transaction():
            self._db.execute("DELETE FROM spending WHERE id = ?", (ticket,))
            self._db.execute(
                "UPDATE spending SET tokens = tokens + ?, cost_usd = cost_usd + ? WHERE id = 0",
                (tokens, cost_usd),
            )
            self._threads.pop(ticket, None)
            self._lock.notify_all()

    def spent(self) -> tuple[int, float]:
        """Return the tokens and US dollars spent or reserved."""
        with self._lock:
            return self._sums()

    def _sums(self) -> tuple[int, float]:
        row = self._db.execute("SELECT SUM(tokens), SUM(cost_usd) FROM spending").fetchone()
        return int(row[0]), float(row[1])

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the file; the budget must not be used any more."""
        with self._lock:
            self._db.close()


class Call(NamedTuple):
    """An answered call with its texts; ``seconds`` include the wait for retries.

    If the call is not ``priced``, ``cost_usd`` is 0 and has no meaning.
    """

    role: str
    messages: tuple[Message, ...]
    answer: str
    tokens: Tokens
    cost_usd: float
    hit: bool
    seconds: float
    thought: str = ""
    priced: bool = True


class Scope(NamedTuple):
    """Meters, budgets and logs of a context, beyond those of the model."""

    meters: tuple[Meter, ...] = ()
    budgets: tuple[Budget, ...] = ()
    logs: tuple[list[Call], ...] = ()
    most_failures: int | None = None


_SCOPE: ContextVar[Scope] = ContextVar("gym_memory_llm_scope", default=Scope())  # noqa: B039


def current_scope() -> Scope:
    """Return the scope that :func:`episode_usage` and :func:`logged_calls` opened."""
    return _SCOPE.get()


@contextlib.contextmanager
def episode_usage(
    budget: Budget | None = None, most_failures: int | None = None
) -> Iterator[Meter]:
    """Count all calls inside, by any model, in this thread or task; limit them by ``budget``.

    After ``most_failures`` failed attempts in a row, a model raises ModelDownError. Yields the
    meter of the episode; nested scopes all count.
    """
    meter = Meter()
    scope = _SCOPE.get()
    budgets = scope.budgets if budget is None else (*scope.budgets, budget)
    most = scope.most_failures if most_failures is None else most_failures
    meters = (*scope.meters, meter)
    token = _SCOPE.set(scope._replace(meters=meters, budgets=budgets, most_failures=most))
    try:
        yield meter
    finally:
        _SCOPE.reset(token)


@contextlib.contextmanager
def logged_calls() -> Iterator[list[Call]]:
    """Yield a list that receives every call made inside, in this thread or task."""
    calls: list[Call] = []
    scope = _SCOPE.get()
    token = _SCOPE.set(scope._replace(logs=(*scope.logs, calls)))
    try:
        yield calls
    finally:
        _SCOPE.reset(token)


def read_prices(text: str) -> dict[str, Price]:
    """Read a price table: JSON of model name to ``[prompt, completion]`` or with ``cached``."""
    try:
        table = {str(name): Price(*row) for name, row in parse_json(text).items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise InvalidArgumentError(
            f'expected prices as JSON such as {{"model": [0.1, 0.4]}}, got: {error}'
        ) from error
    return {name: price.checked(name) for name, price in table.items()}
