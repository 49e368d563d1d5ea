"""Adapt memories of other programs to this protocol, and ours to theirs.

The interfaces are add/search and EvoMemBench's. The state of an adapted memory is the log of the
program's inputs, which are replayed to a fresh client. So snapshots are exact if the client is
deterministic.
"""

from __future__ import annotations

import copy
import os
from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Protocol

from gym_memory.core.records import Cue, MemoryStats, Outcome, Recall, Step, Task
from gym_memory.core.settings import Help, checked
from gym_memory.memory.base import (
    CHARS_PER_TOKEN,
    Lifetime,
    Memory,
    check_budget,
    count_tokens,
    make_memory,
)

__all__ = ["AddSearch", "AsAddSearch", "AsInjectUpdate", "Client", "External", "InjectUpdate"]
__all__ += ["Injector"]

_QUERY_CHARS = 2000
_WORTH_SHOWING = 40


class Client(Protocol):
    """A client that stores texts and searches them."""

    def add(self, text: str) -> Any:
        """Learn from a text."""

    def search(self, query: str, k: int) -> Sequence[str]:
        """Return at most ``k`` texts, the most relevant first."""
        ...


class Injector(Protocol):
    """EvoMemBench's interface; conversations are lists of ``{"role", "content"}``."""

    def inject(self, conversation: list[dict[str, str]]) -> tuple[list[dict[str, str]], Any]:
        """Return the conversation with the recalled text in its system message, and statistics."""
        ...

    def update(self, conversation: list[dict[str, str]], data_idx: int, reward: float) -> Any:
        """Learn from an episode."""


class External(Memory):
    """Base of memories that another program keeps; the client opens on first use."""

    def __init__(self, lifetime: Lifetime):
        self._lifetime: Lifetime = lifetime
        self.lifetimes = {"log": lifetime}
        self._client: Any = None
        self._log: list[Any] = []
        self._task = Task("", "")

    @abstractmethod
    def _open(self) -> Any:
        """Return a fresh, empty client."""

    @abstractmethod
    def _take(self, client: Any, entry: Any) -> None:
        """Send an entry of the log to a client."""

    @property
    def client(self) -> Any:
        """Return the client; a new one is sent the whole log first."""
        if self._client is None:
            self._client = self._open()
            for entry in self._log:
                self._take(self._client, entry)
        return self._client

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode; forget earlier ones unless they are kept."""
        self._task = task
        if self._lifetime == "episode":
            self._client, self._log = None, []

    def _learn(self, entry: Any) -> None:
        client = self.client
        self._log.append(entry)
        self._take(client, entry)

    def state(self) -> dict[str, Any]:
        """Return the task and the log."""
        return {"task": list(self._task), "log": copy.deepcopy(self._log)}

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace the log; a client that has its beginning gets only the rest."""
        self._task, log = Task(*state["task"]), list(state["log"])
        known = len(self._log)
        if log[:known] != self._log:
            self._client = None
        elif self._client is not None:
            for entry in log[known:]:
                self._take(self._client, entry)
        self._log = log

    def fork(self) -> Memory:
        """Return a copy with its own client."""
        twin = copy.copy(self)
        twin._client, twin._log = None, copy.deepcopy(self._log)
        return twin

    def stats(self) -> MemoryStats:
        """Return the entries of the log."""
        return MemoryStats(episodes=len(self._log))

    def _shown(self, texts: Sequence[str], budget: int) -> Recall:
        room, shown = check_budget(budget) * CHARS_PER_TOKEN, list[str]()
        for text in texts:
            line = f"- {' '.join(text.split())}"
            if len(line) >= room > _WORTH_SHOWING:
                line = line[: room - 1]
            if len(line) >= room:
                break
            shown.append(line)
            room -= len(line) + 1
        return Recall("\n".join(shown), episodes=tuple(line[2:] for line in shown))


class AddSearch(External):
    """Base of memories with ``add`` and ``search``: a subclass returns a :class:`Client`.

    Every step is added as its action and answer. A recall searches for the task, the aim and the
    observation, and shows the results line by line.
    """

    @checked
    def __init__(
        self,
        *,
        k: Annotated[int, Help("Texts to show at most.", low=1)] = 10,
        lifetime: Annotated[
            Literal["episode", "forever"], Help("Lifetime of the texts.")
        ] = "episode",
    ):
        super().__init__(lifetime)
        self.k = k

    def observe(self, step: Step) -> None:
        """Add a step."""
        line = f"> {step.action}\n" if step.action else ""
        self._learn(f"{line}{step.text.strip()}\n{step.inventory}".strip())

    def _take(self, client: Client, entry: str) -> None:
        client.add(entry)

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the results of a search."""
        query = "\n".join(filter(None, (cue.task, cue.focus, cue.text)))[:_QUERY_CHARS]
        return self._shown(self.client.search(query, self.k), budget)


class InjectUpdate(External):
    """Base of memories with EvoMemBench's interface: a subclass returns an :class:`Injector`.

    Text that the client adds to the system message at the start is shown throughout the episode; at
    the end the client gets the episode with its score.
    """

    def __init__(self) -> None:
        super().__init__("forever")
        self._said: list[dict[str, str]] = []
        self._hint = ""

    def observe(self, step: Step) -> None:
        """Add a step; at the first step, store the text that the client injects."""
        if not step.t:
            first = [{"role": "system", "content": ""}, {"role": "user", "content": step.text}]
            injected, _ = self.client.inject(first)
            self._hint = "\n".join(t["content"] for t in injected if t["role"] == "system").strip()
            self._said = [{"role": "user", "content": step.text}]
        else:
            self._said += [
                {"role": "assistant", "content": step.action},
                {"role": "user", "content": step.text},
            ]

    def end(self, outcome: Outcome) -> None:
        """Send the episode to the client."""
        self._learn([self._said, len(self._log), outcome.normalized_score or 0.0])

    def _take(self, client: Injector, entry: Any) -> None:
        conversation, number, reward = entry
        client.update(copy.deepcopy(conversation), number, reward)

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the injected text."""
        found = self._shown(self._hint.splitlines(), budget)
        return found._replace(episodes=(), lessons=found.episodes)

    def state(self) -> dict[str, Any]:
        """Return the log, the conversation and the injected text."""
        return {**super().state(), "said": copy.deepcopy(self._said), "hint": self._hint}

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        super().load_state(state)
        self._said, self._hint = list(state["said"]), str(state["hint"])


class AsAddSearch:
    """A memory as :class:`~gym_memory.memory.external.Client`, in one open episode.

    Args:
        memory: A memory, a name with parameters.
        budget: Tokens that a search may return.

    >>> client = AsAddSearch("arigraph")
    >>> client.add("You are in the attic. You see a chest that is closed.")
    >>> client.search("chest", 2)
    ['you: is in attic', 'chest: is in attic; is closed']
    """

    def __init__(self, memory: str = "arigraph", budget: int = 1000, goal: str = ""):
        self.memory, self.budget, self._t = make_memory(memory), budget, 0
        self._goal = goal
        self.memory.begin(Task("", goal, "plain"), 0)

    def add(self, text: str, action: str = "") -> None:
        """Learn from a text, as the answer to an action."""
        self.memory.observe(self.memory.admit(Step(self._t, text, action), self._goal))
        self._t += 1

    def search(self, query: str, k: int = 10) -> list[str]:
        """Return the first ``k`` lines of the recall."""
        return self.memory.recall(Cue(query, focus=query), self.budget).text.splitlines()[:k]


class AsInjectUpdate:
    """A memory as EvoMemBench's adapter (its commit aa4cea8).

    Args:
        memory: A memory that lasts over episodes, a name with parameters.
        budget: Tokens that may be injected.
        read_only: True if ``update`` changes nothing.
        dialect: Family of the environment's text, by whose rules it is read.
    """

    def __init__(
        self,
        memory: str = "memrl",
        budget: int = 1000,
        read_only: bool = False,
        dialect: str = "plain",
    ):
        self.memory, self.budget = make_memory(memory), budget
        self.read_only, self.dialect = read_only, dialect

    def inject(
        self, conversation: list[dict[str, str]]
    ) -> tuple[list[dict[str, str]], dict[str, int]]:
        """Return a copy with what is recalled for the first observation in the system message."""
        first = next(t["content"] for t in conversation if t["role"] == "user")
        before = self.memory.snapshot()
        self._begin(first)
        text = self.memory.recall(Cue(first, first), self.budget).text
        self.memory.restore(before)
        turns = [dict(turn) for turn in conversation]
        if text and turns[0]["role"] != "system":
            turns.insert(0, {"role": "system", "content": ""})
        if text:
            turns[0]["content"] = f"{turns[0]['content']}\n\n{text}".lstrip()
        return turns, _used(count_tokens(text))

    def update(
        self, conversation: list[dict[str, str]], data_idx: int, reward: float
    ) -> dict[str, int]:
        """Learn from an episode whose ``reward`` is in [0, 1]; 1 is a success."""
        if not self.read_only:
            turns = [turn for turn in conversation if turn["role"] != "system"]
            first = next(i for i, turn in enumerate(turns) if turn["role"] == "user")
            self._begin(turns[first]["content"], data_idx)
            action, t = "", 0
            for turn in turns[first + 1 :]:
                if turn["role"] == "assistant":
                    action = turn["content"]
                else:
                    t += 1
                    self._observe(Step(t, turn["content"], action))
            self.memory.end(Outcome(reward, 1.0, reward, reward >= 1, steps=t))
        return _used(0)

    def load_from_disk(self, path: str | os.PathLike[str]) -> None:
        """Load what ``memory.save`` wrote."""
        self.memory.load(path)

    def _begin(self, first: str, number: int = 0) -> None:
        self._goal = first.rpartition("Your task is to:")[2].strip().partition("\n")[0]
        self.memory.begin(Task(f"{self.dialect}/{number}", self._goal, self.dialect), 0)
        self._observe(Step(0, first))

    def _observe(self, step: Step) -> None:
        self.memory.observe(self.memory.admit(step, self._goal))


def _used(tokens: int) -> dict[str, int]:
    names: Any = ("output_tokens", "embedding_tokens", "cached_tokens", "latency")
    return {"input_tokens": tokens, **dict.fromkeys(names, 0)}
