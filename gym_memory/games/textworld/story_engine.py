"""Play a story file without a description, by the interpreter and its text alone.

This serves a TextWorld .z8 without its .json, and Jericho. Valid actions are unknown here, since
jericho's guesses need a language model to download.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from gym_memory.core.errors import BackendError
from gym_memory.core.optional import require
from gym_memory.games.textworld.engine import Answer, GameData
from gym_memory.games.textworld.logic import Fact, Index, Logic, World
from gym_memory.games.textworld.zmachine import Interpreter, clean_text, endings, trace_on

__all__ = ["SavedStory", "StoryEngine"]


class SavedStory(NamedTuple):
    """A state of a story: its path, the machine, the score, and whether it is over."""

    story: str
    machine: Any
    score: float
    over: bool


class StoryEngine:
    """An engine of one story, with the methods of :class:`~.engine.TextWorldEngine`.

    A TextWorld game reports its best score and traces its actions. In other stories, a command is
    accepted if the answer is no common complaint of parsers.

    Args:
        seed: Seed of the story's random numbers; None for that of jericho's walkthrough, or 1.
    """

    facts: frozenset[Fact] = frozenset()

    def __init__(self, seed: int | None = None) -> None:
        self._seed = seed
        self._inserted: Interpreter | None = None
        self._story = ""
        self._traced = False
        self._score = 0.0
        self._over = True
        self.game = GameData(World(Logic({}), {}, {}), Index(()), "", 0.0, {})

    def start(self, story: str | os.PathLike[str]) -> Answer:
        """Start a story."""
        if self._inserted is None or self._story != os.fspath(story):
            self.close()
            self._inserted, self._story = Interpreter(story), os.fspath(story)
        if self._seed is not None:
            self._machine.frotz.seed(self._seed)
        text, _, _, score = clean_text(self._machine.start())
        begun = self._machine.save()
        best = clean_text(self._machine.send("tw-print max_score"))[0]
        self._machine.load(begun)
        self._traced = best.isdigit()
        if self._traced:
            trace_on(self._machine)
            most, objective = float(best), text.partition("-= ")[0].strip()
        else:
            frotz, objective = self._machine.frotz, ""
            most = float(frotz.get_max_score()) if self._machine.supported else 0.0
        self.game = self.game._replace(max_score=most, objective=objective)
        self._score, self._over = self._points(score), False
        return Answer(text, self._score)

    @property
    def _machine(self) -> Interpreter:
        if self._inserted is None:
            raise BackendError("no game is running: call reset() first")
        return self._inserted

    def _points(self, status: float | None) -> float:
        if self._machine.supported:
            return float(self._machine.frotz.get_score())
        return self._score if status is None else status

    def send(self, command: str) -> Answer:
        """Play one command."""
        raw = self._machine.send(command)
        text, tags, _, score = clean_text(raw)
        if self._traced:
            won, lost, final = endings(raw)
            accepted = any(tag.endswith(" - succeeded") for tag in tags)
            self._score = self._points(score if final is None else final)
        else:
            frotz = self._machine.frotz
            won = self._machine.supported and bool(frotz.victory())
            lost = not won and (bool(frotz.game_over()) or self._machine.halted)
            accepted = bool(require("jericho.util", "textworld").recognized(text))
            self._score = self._points(score)
        self._over = won or lost
        return Answer(text, self._score, won, lost, accepted)

    def admissible_commands(self) -> tuple[str, ...]:
        """Return an empty list, since they are unknown."""
        return ()

    def inventory(self) -> str:
        """Return the answer to ``inventory``."""
        if self._over:
            return ""
        state = self._machine.save()
        text = clean_text(self._machine.send("inventory"))[0]
        self._machine.load(state)
        return text

    def save(self) -> SavedStory:
        """Return a copy of the present state."""
        return SavedStory(self._story, self._machine.save(), self._score, self._over)

    def load(self, state: SavedStory) -> None:
        """Restore a state, of this or another story."""
        if self._story != state.story:
            self.start(state.story)
        self._machine.load(state.machine)
        self._score, self._over = state.score, state.over

    def close(self) -> None:
        """Free the interpreter."""
        if self._inserted is not None:
            self._inserted.close()
            self._inserted = None
