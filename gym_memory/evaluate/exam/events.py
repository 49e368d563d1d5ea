"""Kinds of questions about events: what moved, was dropped, came next, or went wrong."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Iterator

from gym_memory.core.records import Triple
from gym_memory.evaluate.exam import questions
from gym_memory.evaluate.exam.account import Account
from gym_memory.evaluate.exam.questions import Did, ExamQuestion, Past, Verdict, compared, shuffled
from gym_memory.evaluate.exam.reading import RecallReading
from gym_memory.evaluate.quality.observer import squeezed
from gym_memory.graph.schema import INVENTORY, PLAYER

__all__ = ["DropQuestion", "MoveQuestion", "Next", "Pitfall", "Premise", "There"]

_LOOKS = ("look", "examine", "x ", "read", "inventory", "i", "wait", "z")
"""First words of actions that change nothing and are not failures."""


class MoveQuestion(Past, kind="moved", title="where X was before"):
    """A question about the previous place of a thing, which names no step."""

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        """Yield things that have moved, without those that are carried."""
        for thing in shuffled(sorted(account.places().keys() - {PLAYER}), rng):
            elsewhere = ("", INVENTORY, account.place(thing))
            steps = reversed(range(account.now))
            t = next((t for t in steps if account.place(thing, t) not in elsewhere), None)
            if t is not None:
                place = account.place(thing, t)
                text = questions.draw_wording("moved", rng, thing=thing)
                evidence = [f for f in account.moments[t].known if f[::2] == (thing, place)]
                yield cls(text, place, account.age(evidence, t), thing, t)


@dataclasses.dataclass(frozen=True)
class DropQuestion(ExamQuestion, kind="dropped", title="where X was dropped"):
    """A question about the place where a thing was last put down."""

    thing: str
    t: int
    still: bool

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        """Yield things that were carried and then left."""
        found: dict[str, int] = {}
        for t in range(1, account.now):
            for thing, place in account.places(t).items():
                if place != INVENTORY and account.place(thing, t - 1) == INVENTORY:
                    found[thing] = t
        for thing, t in shuffled(sorted(found.items()), rng):
            place = account.place(thing, t)
            text = questions.draw_wording("dropped", rng, thing=thing)
            still = account.place(thing) == place
            yield cls(text, place, account.now - t, thing, t, still)

    def grade(self, reading: RecallReading) -> Verdict:
        """Grade the place at that step, or the present place if the thing has not moved since."""
        said = reading.place_at(self.thing, self.t)
        return compared(said or (reading.place(self.thing) if self.still else ""), self.answer)


class Next(Did, kind="next", title="what was done next"):
    """A question about the action after one taken once; ``t`` is the step of the answer."""

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        """Yield the actions after those taken once."""
        actions = [moment.step.action for moment in account.moments]
        done = Counter(actions)
        for t in shuffled(range(1, account.now - 1), rng):
            if done[actions[t]] == 1 and " " in actions[t]:
                text = questions.draw_wording("next", rng, action=actions[t])
                yield cls(text, actions[t + 1], account.now - t - 1, t + 1)


class There(Did, kind="there", title="what was done in A at step t"):
    """A question about the action at a step, which names the place."""

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        """Yield steps that did not leave the place."""
        for t in shuffled(range(1, account.now), rng):
            place = account.place(PLAYER, t)
            if place and place == account.place(PLAYER, t - 1):
                named = {"place": questions.with_article(place), "t": t}
                text = questions.draw_wording("there", rng, **named)
                yield cls(text, account.moments[t].step.action, account.now - t, t)


@dataclasses.dataclass(frozen=True)
class Pitfall(ExamQuestion, kind="pitfall", title="what went wrong"):
    """A question about why an action failed: it cost points or changed nothing in the game."""

    t: int

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        """Yield actions taken once; the answer is the game's words."""
        done = Counter(moment.step.action for moment in account.moments)
        for t in shuffled(range(1, account.now), rng):
            before, moment = account.moments[t - 1 : t + 1]
            action, text = moment.step.action, squeezed(moment.step.text)
            vain = before.facts == moment.facts and not action.startswith(_LOOKS)
            if done[action] == 1 and text and (moment.step.reward < 0 or vain):
                wording = questions.draw_wording("pitfall", rng, action=action)
                yield cls(wording, text[: questions.QUOTED], account.now - t, t)

    def grade(self, reading: RecallReading) -> Verdict:
        """Grade a recall by the game's words; a recall without them is silent."""
        return "right" if reading.says(self.answer) else "silent"


@dataclasses.dataclass(frozen=True)
class Premise(ExamQuestion, kind="premise", title="false premise", wants_silence=True):
    """A question about when a thing was taken that was never taken; silence is right."""

    thing: str

    @classmethod
    def make(cls, account: Account, rng: random.Random) -> Iterator[ExamQuestion]:
        """Yield things that were seen and never carried."""
        held = {
            thing
            for t in range(account.now + 1)
            for thing, place in account.places(t).items()
            if place == INVENTORY
        }
        for thing in shuffled(sorted(account.places().keys() - held - {PLAYER}), rng):
            text = questions.draw_wording("premise", rng, thing=thing)
            yield cls(text, "(never)", None, thing)

    def grade(self, reading: RecallReading) -> Verdict:
        """Grade a recall: it is wrong if it says that the thing was ever carried."""
        held = reading.first(Triple(self.thing, "is in", INVENTORY)) is not None
        return "wrong" if held or reading.place(self.thing) == INVENTORY else "right"
