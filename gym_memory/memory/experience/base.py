"""Base of memories of experience: items are chosen, shown, credited and added."""

from __future__ import annotations

import dataclasses
import inspect
import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Cue, MemoryStats, Outcome, Step, Task
from gym_memory.core.settings import Help, Settings, make_settings
from gym_memory.llm.base import ChatModel
from gym_memory.memory.base import is_over
from gym_memory.memory.encoders import Encoder, make_encoder
from gym_memory.memory.experience.items import (
    Bank,
    Item,
    Origin,
    actions_of,
    listed,
    script,
    write_lesson,
)
from gym_memory.memory.lessons.base import WORTH_SHOWING, LessonMemory
from gym_memory.memory.roles.llm import chat_model, role_counts
from gym_memory.memory.roles.llm_lessons import LLMWriteLesson
from gym_memory.memory.stores.store import Store

__all__ = ["CreditSettings", "ExperienceMemory", "ExperienceSettings", "Trial"]

_KIND = "items"
_HOLD_OUT = 4
"""Interval, in episodes, of the wins that are kept for the gate alone."""
_MOST_ACTIONS = 200


@dataclass(frozen=True)
class ExperienceSettings(Settings):
    """Settings that every memory of experience has."""

    k: Annotated[int, Help("Items to show at most.", low=1)] = 3
    inner: Annotated[
        str, Help("Memory of the present trial, a name with parameters; ``none`` for items alone.")
    ] = "history?window=5"
    lifetime: Annotated[
        Literal["trial", "task", "forever"],
        Help("How long items are kept: while the task or goal stays the same, or for good."),
    ] = "forever"
    store: Annotated[
        str | None,
        Help("SQLite file or URL of a server that keeps the items, for any number of processes."),
    ] = None
    learn: Annotated[
        bool, Help("False changes no item: a frozen memory, or one that several workers evaluate.")
    ] = True
    encoder: Annotated[
        str | Encoder, Help("Encoder of keys and queries; the default needs no weights.")
    ] = "hash"
    capacity: Annotated[
        int, Help("Items to keep at most; the least useful, then the oldest, go first.", low=1)
    ] = 1000
    gate: Annotated[
        int,
        Help(
            "Held-out wins by which merges, rewrites and deletions are judged: they are taken back "
            "if what is recalled then says less of those wins. 0 accepts all.",
            low=0,
        ),
    ] = 0
    llm: Annotated[
        str | ChatModel | None, Help("Chat model, or its spec, that writes; None for the rules.")
    ] = None


@dataclass(frozen=True)
class CreditSettings(ExperienceSettings):
    """Settings of the memories that learn what their items are worth."""

    utility: Annotated[
        Literal["rule", "exact"],
        Help(
            "Signal that moves the value of an item: the paper's, from the outcome alone, or what "
            "leaving the item out changes, measured by a replay."
        ),
    ] = "rule"


class Trial(NamedTuple):
    """An episode that ended.

    ``worths``: what each item shown added to its score, in [-1, 1]; None if it was not measured.
    The run of its origin is known if it was settled before.
    """

    task: Task
    trace: tuple[Step, ...]
    outcome: Outcome
    origin: Origin
    worths: Mapping[int, float] | None = None

    @property
    def success(self) -> bool:
        """True if the game reports a win."""
        return self.origin.success

    def counted(self, item: Item) -> Item:
        """Return an item with one more use, and one more win if this was one."""
        return item._replace(uses=item.uses + 1, wins=item.wins + self.success)

    def draft(self, text: str, key: str = "", kind: str = "", step: int = 0, **more: Any) -> Item:
        """Build an item of this episode, with the goal as its default key."""
        return Item(
            text=text,
            key=key or self.task.goal,
            kind=kind or ("success" if self.success else "failure"),
            goal=self.task.goal,
            actions=actions_of(self.trace)[-_MOST_ACTIONS:],
            origins=(self.origin._replace(step=step),),
            **more,
        )


class ExperienceMemory(LessonMemory):
    """Base of the memories that keep items of experience over tasks.

    A subclass chooses items (:meth:`_choose`), writes new ones (:meth:`_write`), and may change
    how they are credited (:meth:`_credit`), added (:meth:`_add`) and removed (:meth:`_tidy`).
    With a store, credit and addition are one transaction on the newest items; roles are played
    before it.

    Attributes:
        bank: The items of all episodes.
        shown: Ids of the items that were chosen last, best first.
    """

    settings_class: ClassVar[type[ExperienceSettings]] = ExperienceSettings
    settings: Any
    heading = "Learnt in earlier episodes, the last one counts most:"
    every_step: ClassVar[bool] = False
    """True if items are chosen at every step and not only at the first."""
    are_short: ClassVar[bool] = False
    """True if each item is worth its whole text, so that none has to share the budget."""
    leave_one_task_out = False
    """True to hide items of the present task; set from outside."""
    worths: dict[int, float] | None = None
    """Gain of each item in the present episode; set before it where ``exact`` is True."""

    def __init_subclass__(cls, **named: Any):
        super().__init_subclass__(**named)
        cls.__signature__ = inspect.signature(cls.settings_class)  # type: ignore[attr-defined]

    def __init__(self, **settings: Any):
        self.settings = chosen = make_settings(self.settings_class, settings)
        super().__init__(chosen.inner, bank=chosen.lifetime)
        if chosen.store is not None and chosen.lifetime != "forever":
            raise InvalidArgumentError(
                f"expected store together with lifetime='forever', got {chosen.lifetime!r}"
            )
        self._store = Store(chosen.store) if chosen.store is not None else None
        self._model = chat_model(chosen.llm)
        self._lesson = LLMWriteLesson.or_rule(self._model, write_lesson)
        self.bank = Bank(make_encoder(chosen.encoder))
        self.shown: list[int] = []
        self._used: dict[int, None] = {}

    @property
    def exact(self) -> bool:
        """True if items are credited by replays."""
        return getattr(self.settings, "utility", "rule") == "exact" and self.settings.learn

    @abstractmethod
    def _choose(self, step: Step) -> Sequence[Item]:
        """Return the items to show from this step on, best first."""

    @abstractmethod
    def _write(self, trial: Trial) -> Iterable[Item]:
        """Return new items; roles are played here. Changes nothing."""

    def _credit(self, item: Item, trial: Trial) -> Item | None:
        """Return an item that this trial showed, counted already; None to remove it."""
        return item

    def _add(self, bank: Bank, draft: Item, trial: Trial) -> None:
        """Add a new item, or merge it with one of the bank."""
        bank.add(draft)

    def _worths(self, bank: Bank) -> dict[int, float]:
        """Rank the items for removal: the lowest go first, infinite ones never."""
        return {item.id: item.utility for item in bank.items.values()}

    def _tidy(self, bank: Bank, trial: Trial) -> None:
        """Remove items beyond the capacity."""
        worths = self._worths(bank)
        passing = sorted((id for id in worths if worths[id] < math.inf), key=worths.__getitem__)
        for id in passing[: max(len(bank) - self.settings.capacity, 0)]:
            bank.remove(id)

    def _start(self, task: Task, last: Task) -> None:
        if is_over(self.settings.lifetime, last, task):
            self._relearn({"bank": (), "shown": (), "used": ()})
        if self._store is not None:
            self.bank.load(r.payload for r in self._store.records(self.name, kind=_KIND))
        self.shown, self._used = [], {}

    def observe(self, step: Step) -> None:
        """Note a step; choose the items to show."""
        super().observe(step)
        if self.every_step or len(self._trace) == 1:
            chosen = self._choose(self._trace[-1])
            if self.leave_one_task_out:
                chosen = [item for item in chosen if not self._is_of_task(item)]
            self.shown = [item.id for item in chosen]
            self._used.update(dict.fromkeys(self.shown))

    def _is_of_task(self, item: Item) -> bool:
        return any(origin.task == self._task.id for origin in item.origins)

    @property
    def shows_task(self) -> bool:
        """True if a shown item comes from an earlier episode of the present task."""
        return any(map(self._is_of_task, self._shown()))

    def _learn(self, trace: Sequence[Step], outcome: Outcome) -> None:
        if not self.settings.learn:
            return
        game = self._task.id.partition("/")[0]
        score = outcome.normalized_score or 0.0
        origin = Origin(game, self._task.id, score=score, success=bool(outcome.success))
        if self.exact and self.worths is None:
            raise InvalidArgumentError(
                "expected replays for utility='exact', got an episode without any: play it by "
                "a command, or call gym_memory.run.replays.credit_exactly before it"
            )
        self._take(Trial(self._task, tuple(trace), outcome, origin, self.worths))

    def _take(self, trial: Trial) -> None:
        """Write items of a trial and settle it."""
        before = role_counts(*vars(self).values())
        drafts = list(self._write(trial))
        after = role_counts(*vars(self).values())
        if after.calls > before.calls and after.fallbacks == before.fallbacks:
            drafts = [draft.by("model") for draft in drafts]
        if self._store is None:
            self._settle(self.bank, trial, drafts)
            return

        def settle(known: list[Any]) -> list[Any]:
            self.bank.load(known)
            self._settle(self.bank, trial, drafts)
            return self.bank.payloads()

        self._store.update(self.name, "", _KIND, settle)

    def _settle(self, bank: Bank, trial: Trial, drafts: Iterable[Item]) -> None:
        new, gate = not trial.origin.run, self.settings.gate
        bank.episode += new
        if new and gate and trial.success and bank.episode % _HOLD_OUT == 0:
            win = (trial.task.goal, *script(actions_of(trial.trace)))
            bank.held, drafts = [*bank.held, win][-gate:], ()
        before, worth = dict(bank.items), bank.coverage(self.settings.k)
        for id in self._used if new else ():
            if id in bank.items:  # another process may have removed it
                credited = self._credit(trial.counted(bank.items[id]), trial)
                if credited is None:
                    bank.remove(id)
                else:
                    bank.put(credited)
        for draft in drafts:
            self._add(bank, draft, trial)
        if bank.held and bank.coverage(self.settings.k) < worth:
            now = bank.items
            kept = {id: now.get(id, old)._replace(text=old.text) for id, old in before.items()}
            bank.items = {**kept, **{id: now[id] for id in now if id not in before}}
        self._tidy(bank, trial)

    def _shown(self) -> list[Item]:
        """Return the items that are shown, the best last."""
        return [self.bank.items[id] for id in reversed(self.shown) if id in self.bank.items]

    def _lessons(self) -> Sequence[str]:
        return [item.text for item in self._shown()]

    def _rank(self, cue: Cue) -> Iterable[int]:
        return reversed(range(len(self._lessons())))

    def _fit(self, cue: Cue, room: int) -> dict[int, str]:
        """Give each item an equal share of the room that better ones leave."""
        if self.are_short:
            return super()._fit(cue, room)
        lessons, chosen = self._lessons(), {}
        room -= len(self.heading) + 1
        for index in self._rank(cue):
            share = room // (index + 1)
            if share > WORTH_SHOWING:
                chosen[index] = f"{index + 1}. {lessons[index]}"[: share - 1]
                room -= len(chosen[index]) + 1
        return chosen

    def ids(self, lessons: Sequence[str]) -> list[int]:
        """Return the ids of the items that lessons show; 0 for a lesson of no item."""
        shown = [item.id for item in self._shown()]
        numbers = [lesson.partition(".")[0] for lesson in lessons]
        places = [int(number) if number.isdecimal() else 0 for number in numbers]
        return [shown[place - 1] if 0 < place <= len(shown) else 0 for place in places]

    def raw(self, lessons: Sequence[str]) -> list[str]:
        """Return shown lessons as the actions of their episodes, each cut to the same length."""
        texts = []
        for lesson, id in zip(lessons, self.ids(lessons), strict=True):
            if id:
                item = self.bank.items[id]
                number = lesson.partition(".")[0]
                whole = f"{number}. Goal: {item.goal}.\n{listed(item.actions)}."
                lesson = whole[: len(lesson)]
            texts.append(lesson)
        return texts

    def _learnt(self) -> dict[str, Any]:
        bank = self.bank.payloads()
        return {"bank": bank, "shown": list(self.shown), "used": list(self._used)}

    def _relearn(self, state: dict[str, Any]) -> None:
        bank = Bank(self.bank.encoder)
        bank.load(state["bank"])
        shown, used = [int(id) for id in state["shown"]], [int(id) for id in state["used"]]
        self.bank, self.shown, self._used = bank, shown, dict.fromkeys(used)

    def stats(self) -> MemoryStats:
        """Return the sizes of the inner memory and the number of items."""
        return dataclasses.replace(super().stats(), lessons=len(self.bank))
