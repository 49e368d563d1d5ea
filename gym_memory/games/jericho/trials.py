"""Commands typed from one state of a story, each in turn, to see their effects."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gym_memory.games.jericho.copies import Attempt
from gym_memory.games.jericho.vocabulary import Bytes, Vocabulary
from gym_memory.games.jericho.words import ENDING
from gym_memory.games.textworld.zmachine import Interpreter

__all__ = ["CommandResult", "StateTrials"]


class CommandResult(NamedTuple):
    """A command's result: the raw answer, dynamic memory, and if the story ended."""

    text: str
    memory: Bytes
    ends: bool


class StateTrials:
    """A state of a story to which it returns before each command.

    Args:
        machine: The interpreter, in a copy of the process that plays.
        vocabulary: The story's words.
        attempt: Announces each command; one that ended an earlier copy is not typed.
    """

    def __init__(self, machine: Interpreter, vocabulary: Vocabulary, attempt: Attempt):
        self._machine, self._vocabulary = machine, vocabulary
        self.can = attempt
        """True unless a command ended an earlier copy."""
        self._begun = machine.save()
        self._ram, self._stack = (part.ctypes.data for part in self._begun[:2])
        self.memory: Bytes = self._begun[0]
        """Dynamic memory before any command."""
        self.awaits_key = machine.awaits_key
        self.text = str(self._begun[-1].decode("cp1252"))
        """Last answer that the player read."""

    def result(self, command: str) -> CommandResult:
        """Return the result of a command; nothing if it must not be typed or breaks the story."""
        if not self.can(command):
            return CommandResult("", self.memory, ends=False)
        self._rewind()
        text = self._machine.send(self._vocabulary.spelled(command))
        ends = self._ends(text)
        if self._machine.halted and not ends:
            return CommandResult("", self.memory, ends=False)
        memory = np.empty_like(self.memory)
        self._machine.frotz.frotz_lib.getRAM(memory.ctypes.data)
        return CommandResult(text, memory, ends)

    def _rewind(self) -> None:
        """Return to the state, without the copies that ``FrotzEnv.set_state`` makes of it."""
        if self._machine.halted:
            self._machine.load(self._begun)
            return
        _, _, pc, sp, fp, frames, opcode, chance, narrative = self._begun
        library = self._machine.frotz.frotz_lib
        library.setRng(*chance)
        library.setRAM(self._ram)
        library.setStack(self._stack)
        library.setPC(pc)
        library.setSP(sp)
        library.setFP(fp)
        library.set_opcode(opcode)
        library.setFrameCount(frames)
        library.set_narrative_text(narrative)

    def _ends(self, text: str) -> bool:
        if self._machine.supported:
            frotz: Any = self._machine.frotz
            return bool(frotz.victory() or frotz.game_over())
        return ENDING.search(text) is not None
