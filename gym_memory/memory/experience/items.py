"""Items of experience with their origin, counts and utility, and the bank that searches them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from gym_memory.core.files import typed
from gym_memory.core.records import Outcome, Step, Task
from gym_memory.core.text import sentence_spans
from gym_memory.memory.encoders import Encoder
from gym_memory.memory.encoders.vectors import VectorIndex
from gym_memory.memory.lessons.causes import TrialAction, plan_of, read_acts
from gym_memory.memory.reading import without_numbers

__all__ = ["Bank", "Item", "Origin", "ScoredItem", "actions_of", "effective_actions", "listed"]
__all__ += ["script", "write_lesson"]

_MAX_KEY_CHARS = 2000


class Origin(NamedTuple):
    """An origin of an item; a merge keeps the origins of both items.

    Attributes:
        run: Number of the episode in the bank, from 1; 0 before the item is added.
        step: Step that the item is about; 0 for the whole episode.
        author: Who wrote the text: ``rules`` or ``model``.
        score: Normalized score of the episode, in [0, 1].
    """

    game: str
    task: str
    run: int = 0
    step: int = 0
    author: str = "rules"
    score: float = 0.0
    success: bool = False


class Item(NamedTuple):
    """A piece of experience.

    Attributes:
        text: What a recall shows.
        key: What a search compares, such as the goal of the episode.
        kind: Group within the memory, such as ``success`` or ``failure``.
        actions: Actions of the episode that it came from.
        more: Further texts of the memory, such as keywords.
        uses: Episodes that showed it; ``wins``: those that succeeded.
        born: Number of the episode that added it.
        id: Number in the bank, from 1, never used again.
    """

    text: str
    key: str
    kind: str = ""
    goal: str = ""
    actions: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    uses: int = 0
    wins: float = 0.0
    utility: float = 0.0
    born: int = 0
    id: int = 0
    origins: tuple[Origin, ...] = ()

    def by(self, author: str) -> Item:
        """Return the item with an author; a bank's item keeps its origins from earlier episodes."""
        return self._replace(
            origins=tuple(
                o if self.id and o.run else o._replace(author=author) for o in self.origins
            )
        )

    def payload(self) -> list[Any]:
        """Return the item as JSON values."""
        *plain, origins = self
        return [list(v) if isinstance(v, tuple) else v for v in plain] + [
            [list(o) for o in origins]
        ]

    @classmethod
    def read(cls, payload: list[Any]) -> Item:
        """Build an item from :meth:`payload`; raises TypeError or ValueError."""
        *plain, origins = payload
        texts = [tuple(value) if isinstance(value, list) else value for value in plain]
        return typed(cls, [*texts, tuple(typed(Origin, origin) for origin in origins)])


class ScoredItem(NamedTuple):
    """An item and the cosine of its key with the query, in [-1, 1]."""

    item: Item
    similarity: float


class Bank:
    """Items by id, oldest first, and the number of episodes that they were learnt from.

    Keys are encoded when a search first needs them, and each text once in a process.
    """

    def __init__(self, encoder: Encoder):
        self.encoder = encoder
        self.items: dict[int, Item] = {}
        self.episode = 0
        self.held: list[tuple[str, ...]] = []
        """Goals and scripts of wins that no item was written from."""
        self._last = 0
        self._index = VectorIndex(encoder.dim)
        self._indexed: dict[int, str] = {}

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.items)

    def add(self, item: Item) -> Item:
        """Add an item under the next id; return it with id, birth and run."""
        self._last += 1
        origins = tuple(o if o.run else o._replace(run=self.episode) for o in item.origins)
        item = item._replace(id=self._last, born=self.episode, origins=origins)
        self.items[item.id] = item
        return item

    def of_kind(self, kind: str) -> list[Item]:
        """Return the items of a kind, oldest first."""
        return [item for item in self.items.values() if item.kind == kind]

    def put(self, item: Item) -> None:
        """Replace the item of the same id."""
        self.items[item.id] = item

    def remove(self, id: int) -> None:
        """Remove an item."""
        del self.items[id]

    def merge(self, kept: Item, other: Item) -> Item:
        """Store a changed item of the bank with the origins of ``other`` added.

        If ``other`` is in the bank, it is removed.
        """
        if self.items.pop(other.id, None) is None:
            run = self.episode
            other = other._replace(origins=tuple(o._replace(run=run) for o in other.origins))
        merged = kept._replace(origins=tuple(dict.fromkeys(kept.origins + other.origins)))
        self.put(merged)
        return merged

    def nearest(
        self,
        text: str,
        k: int | None = None,
        least: float = -1.0,
        where: Callable[[Item], bool] | None = None,
    ) -> list[ScoredItem]:
        """Return the ``k`` items with the most similar keys, best first; ties go to the older.

        Args:
            text: The query.
            k: Items at most; None for all.
            least: Least cosine, in [-1, 1].
            where: Condition on an item; None for any.
        """
        if not self.items:
            return []
        self._sync()
        query = self.encoder.encode([text[:_MAX_KEY_CHARS]])
        near = self._index.similarities(query)[0].tolist()
        found = [
            ScoredItem(self.items[id], round(similarity, 6))
            for id, similarity in zip(self._index.ids.tolist(), near, strict=True)
            if similarity >= least and (where is None or where(self.items[id]))
        ]
        return sorted(found, key=lambda pair: (-pair.similarity, pair.item.id))[:k]

    def coverage(self, k: int) -> float:
        """Return the mean share of held-out scripts that their ``k`` nearest items hold."""
        shares = []
        for goal, *steps in self.held:
            text = "\n".join(near.item.text for near in self.nearest(goal, k))
            shares.append(sum(f'"{step}"' in text for step in steps) / max(len(steps), 1))
        return sum(shares) / max(len(shares), 1)

    def _sync(self) -> None:
        """Encode keys that are new or changed."""
        for id in self._indexed.keys() - self.items.keys():
            self._index.remove(id)
            del self._indexed[id]
        new = {i.id: i.key for i in self.items.values() if self._indexed.get(i.id) != i.key}
        if new:
            keys = [key[:_MAX_KEY_CHARS] for key in new.values()]
            self._index.add(list(new), self.encoder.encode(keys))
            self._indexed.update(new)

    def payloads(self) -> list[Any]:
        """Return a head and the items as JSON values, for a state or a store."""
        held = [list(win) for win in self.held]
        head = {"episode": self.episode, "last": self._last, "held": held}
        return [head, *map(Item.payload, self.items.values())]

    def load(self, payloads: Iterable[Any]) -> None:
        """Replace everything by what :meth:`payloads` returned, in any order."""
        items: dict[int, Item] = {}
        episode = last = 0
        held: list[tuple[str, ...]] = []
        for payload in payloads:
            if isinstance(payload, dict):
                episode, last = int(payload["episode"]), int(payload["last"])
                held = [tuple(map(str, win)) for win in payload["held"]]
            else:
                item = Item.read(payload)
                items[item.id] = item
        self.items = {id: items[id] for id in sorted(items)}
        self.episode, self.held = episode, held
        self._last = max([last, *items])


_LAST_STEPS = 5
_MOST_STEPS = 60
_MOST_REFUSED = 5
_GOAL_CHARS = 300
_ANSWER_CHARS = 80


def actions_of(trace: Sequence[Step]) -> tuple[str, ...]:
    """Return the actions of a trace, oldest first."""
    return tuple(step.action for step in trace if step.action)


def script(actions: Iterable[str]) -> list[str]:
    """Return actions without numbers of objects, and without the repetitions that this causes.

    >>> script(["go to shelf 1", "go to shelf 2", "go north", "go north"])
    ['go to shelf', 'go north', 'go north']
    """
    steps: list[str] = []
    for action in actions:
        general = without_numbers(action)
        if general == action or steps[-1:] != [general]:
            steps.append(general)
    return steps


def effective_actions(trace: Sequence[Step], acts: Sequence[TrialAction]) -> list[str]:
    """Return the actions of a trial that changed something or had a unique answer."""
    answers = Counter(step.text for step in trace)
    texts = [step.text for step in trace[-len(acts) :]] if acts else []
    return [
        act.action
        for act, text in zip(acts, texts, strict=True)
        if act.changed or act.news or answers[text] == 1
    ]


def write_lesson(trace: Sequence[Step], outcome: Outcome, task: Task, other: Sequence[str]) -> str:
    """Write the script of a success, or the last actions and refusals of a failure.

    With ``other``, the actions of an attempt at the same task with the opposite outcome, it begins
    with the first action that differs.
    """
    acts = read_acts(trace, task)
    own = [act.action for act in acts]
    goal = " ".join(task.goal.split())[:_GOAL_CHARS].replace('"', "'").rstrip(". ")
    lines = [f"Goal: {goal}."]
    if outcome.success:
        steps = plan_of(acts, _on_things_of(goal, acts, trace[-len(acts) :]))
        steps = steps or [act.action for act in acts if act.changed]
    else:
        steps = list(other)
    if steps:
        lines.append(f"These steps won: {listed(script(steps)[:_MOST_STEPS])}.")
    good, bad = (own, other) if outcome.success else (other, own)
    part = next((n for n, (a, b) in enumerate(zip(good, bad, strict=False)) if a != b), None)
    if part is not None:
        after = f'After "{good[part - 1]}"' if part else "At the start"
        lines.append(f"{after} a failed attempt did not go on the same way.")
        lines.append(f'Do "{good[part]}" then.\nDo not do "{bad[part]}" then.')
    elif not outcome.success:
        refused = {
            act.action: trace[-len(acts) :][act.number].text
            for act in acts
            if not (act.changed or act.news)
        }
        for action, answer in list(refused.items())[-_MOST_REFUSED:]:
            lines.append(f'Do not do "{action}": {_first(answer)}.')
        if own:
            lines.append(
                f"An attempt failed; its end may not contribute: {listed(own[-_LAST_STEPS:])}."
            )
    return "\n".join(lines)


def listed(actions: Iterable[str]) -> str:
    """Return actions in quotes, separated by commas."""
    return ", ".join('"{}"'.format(" ".join(a.split())[:200].replace('"', "'")) for a in actions)


def _on_things_of(goal: str, acts: Sequence[TrialAction], steps: Sequence[Step]) -> list[int]:
    """Return the acts on a thing of the goal that changed something or had a unique answer.

    Heating a thing, for example, changes neither place nor inventory, and may gain no points.
    """
    words, answers = set(goal.lower().split()), Counter(step.text for step in steps)
    return [
        act.number
        for act, step in zip(acts, steps, strict=True)
        if act.things
        and words.intersection(without_numbers(act.things[0]).split())
        and (act.changed or answers[step.text] == 1)
    ]


def _first(answer: str) -> str:
    sentence = next(sentence_spans(answer), ("", 0))[0].rstrip(".!?")
    return sentence[:_ANSWER_CHARS].replace('"', "'") or "no answer"
