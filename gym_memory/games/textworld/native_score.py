"""Score a generated game and detect its end as Inform does, by quests after each turn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gym_memory.games.textworld.logic import Fact, State
from gym_memory.games.textworld.native_game import NativeGame

__all__ = ["ScoreBoard", "ScoreChange", "Standing", "notice"]

_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


class Standing(NamedTuple):
    """A state of the score: points, turns, finished quests, and quests not checked yet."""

    score: int = 0
    turns: int = 1
    done: frozenset[int] = frozenset()
    fresh: bool = True


class ScoreChange(NamedTuple):
    """A change of the score by a turn; a losing turn gives no notice."""

    gained: int = 0
    won: bool = False
    lost: bool = False


class ScoreBoard:
    """A score board of the quests of one game.

    It checks a quest only if one of its facts became true, since nothing else can fulfil it.
    """

    def __init__(self, game: NativeGame | None):
        self._quests, self._most = (game.quests, game.max_score) if game else ((), None)
        self._required = frozenset(i for i, q in enumerate(self._quests) if q.required)
        self._always = frozenset(i for i, q in enumerate(self._quests) if q.repeatable)
        self._watched: dict[Fact, set[int]] = {}
        for number, quest in enumerate(self._quests):
            for facts in (*quest.losing, *quest.scoring):
                for fact in facts:
                    self._watched.setdefault(fact, set()).add(number)
        self.standing = Standing()

    def count_turn(self, state: State, added: Iterable[Fact]) -> ScoreChange:
        """Score a turn, given the facts that became true."""
        score, turns, done, fresh = self.standing
        touched = set(range(len(self._quests)) if fresh else self._always)
        for fact in added:
            touched |= self._watched.get(fact, set())
        gained = 0
        for number in sorted(touched - done):
            quest = self._quests[number]
            if _holds_any(quest.losing, state):
                self.standing = Standing(score + gained, turns, done, fresh=False)
                return ScoreChange(gained, lost=True)
            if _holds_any(quest.scoring, state):
                gained += quest.reward
                done = done if quest.repeatable else done | {number}
        self.standing = Standing(score + gained, turns + 1, done, fresh=False)
        return ScoreChange(gained, won=bool(self._required) and self._required <= done)

    def text(self, outcome: ScoreChange) -> str:
        """Return the text that Inform adds to an answer: a notice of points, and the ending."""
        parts = []
        if outcome.gained and not outcome.lost:
            parts.append(notice(outcome.gained))
        if outcome.won or outcome.lost:
            parts.append("*** The End ***" if outcome.won else "*** You lost! ***")
            parts.append(self._final())
        return "".join(f"\n\n{part}" for part in parts)

    def _final(self) -> str:
        score, turns, *_ = self.standing
        took = f"in {turns} turn{'s' * (turns != 1)}."
        if self._most is None:
            return f"You scored a total of {score} point{'s' * (score != 1)}, {took}"
        return f"You scored {score} out of a possible {self._most}, {took}"


def _holds_any(alternatives: Iterable[frozenset[Fact]], state: State) -> bool:
    return any(all(fact in state for fact in facts) for facts in alternatives)


def notice(points: int) -> str:
    """Return the notice of a changed score.

    >>> notice(1), notice(-22)
    ('Your score has just gone up by one point.', 'Your score changed by minus twenty-two points.')
    """
    changed = "Your score has just gone up by" if points > 0 else "Your score changed by"
    return f"{changed} {_in_words(points)} point{'s' * (abs(points) > 1)}."


def _in_words(number: int) -> str:
    if number < 0:
        return f"minus {_in_words(-number)}"
    if number < len(_UNITS):
        return _UNITS[number]
    tens, units = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_UNITS[units]}" if units else "")
