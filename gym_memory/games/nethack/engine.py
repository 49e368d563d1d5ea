"""Run NLE with fixed seeds, key by key, skipping through pages of text.

NLE's arrays are shared buffers, so a :class:`Screen` is valid until the next key.
"""

from __future__ import annotations

import _ctypes
import contextlib
import ctypes
import random
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from gym_memory.core.errors import BackendError, UnknownNameError
from gym_memory.core.optional import require

__all__ = ["GamePrompt", "NetHackEngine", "PackItem", "Screen", "make_minihack", "make_nle"]

ESCAPE, ENTER = 27, 13
KEYS = (
    "glyphs", "blstats", "message", "inv_strs", "inv_letters", "inv_oclasses",
    "screen_descriptions", "tty_chars",
)  # fmt: skip
"""NLE observations in use."""

_MAX_PAGES = 50
_BIRTHDAY = 1_000_000_000
_MORE = b"--More--"
_MENU_END = re.compile(rb"\((?:end|\d+ of \d+)\)")
_ENTRY = re.compile(r"^(?P<letter>[a-zA-Z$#*\\_]) [-+#] (?P<name>.+)$")
_CLASSES = (
    "", "", "weapon", "armor", "ring", "amulet", "tool", "food", "potion", "scroll", "spellbook",
    "wand", "coins", "gem", "rock", "ball", "chain", "venom",
)  # fmt: skip


class PackItem(NamedTuple):
    """A thing in the pack, with its full name: ``a +1 long sword (weapon in hand)``."""

    letter: str
    name: str
    kind: str


class GamePrompt(NamedTuple):
    """A question of the game.

    Attributes:
        kind: ``key`` (one of several keys), ``line`` (a line of text) or ``menu``.
        text: The question.
        options: Letter and words of each line of a menu.
    """

    kind: str
    text: str
    options: tuple[tuple[str, str], ...] = ()


class Screen(NamedTuple):
    """An output of the game after a key.

    Attributes:
        glyphs: int16 of shape (1659,), row by row.
        words: uint8 of shape (1659, 80), the English description of each cell.
        status: The 27 numbers of the status line.
        message: All messages since the key, including pages.
        prompt: The game's question; None if it waits for any command.
    """

    glyphs: npt.NDArray[np.int16]
    words: npt.NDArray[np.uint8]
    status: tuple[int, ...]
    message: str
    items: tuple[PackItem, ...]
    prompt: GamePrompt | None
    done: bool

    @property
    def here(self) -> int:
        """Return the cell of the player."""
        return self.status[1] * 79 + self.status[0]

    def shown(self, cell: int) -> str:
        """Return the content of a cell in English."""
        return _text(self.words[cell])


class NetHackEngine:
    """An engine that plays NetHack key by key.

    Args:
        make: Builds the NLE environment, whose action ``i`` is the key ``i``; called at the first
            start and after :meth:`close`.
    """

    def __init__(self, make: Callable[[], Any]):
        self._make = make
        self._env: Any = None
        self._inventory = b""
        self._items: tuple[PackItem, ...] = ()
        self._levels: list[str] = []
        self.ascended = False
        self.reward = 0.0
        """Sum of the NLE environment's rewards since the start."""
        self.solved = False
        """True if the task of the NLE environment is solved."""

    def start(self, seed: int) -> Screen:
        """Start a game; the same seed always gives the same game."""
        if self._env is None:
            self._env = self._make()
        self._env.unwrapped.seed(core=seed, disp=seed, reseed=False)
        self._choose_level(seed)
        observation, _ = self._env.reset()
        self._fix_birthday()
        self.ascended, self.solved, self.reward = False, False, 0.0
        self._inventory, self._items = b"", ()
        return self._read_until_prompt(observation, done=False)

    def press(self, key: int) -> Screen:
        """Press a key (code 0 to 255) and read all pages of text that follow."""
        if self._env is None:
            raise BackendError("expected a started game: call reset() first")
        observation, done = self._key(key)
        return self._read_until_prompt(observation, done=done)

    def close(self) -> None:
        """Close the game; a new one can be started."""
        if self._env is not None:
            self._env.close()
            self._env = None

    @property
    def library(self) -> str:
        """Return the path of the game's own copy of NetHack's library."""
        return str(self._env.unwrapped.nethack.dlpath)

    def _choose_level(self, seed: int) -> None:
        """Choose a level of MiniHack's Boxoban from the seed.

        Boxoban itself draws a level with Python's global generator, from files in the disk's order.
        It knows its goals only after a reset, but NLE 1.3 asks for them before.
        """
        boxoban = self._env.unwrapped
        if hasattr(boxoban, "_levels"):
            self._levels = self._levels or sorted(boxoban._levels)
            boxoban._levels = [random.Random(seed).choice(self._levels)]
            boxoban._goal_pos_set = set()

    def _fix_birthday(self) -> None:
        """Set the start time of the game, from which NetHack derives shopkeepers' names.

        NLE 1.3 fixes phases of the moon, but not this time (NetHack-LE/nle issue 129).
        """
        with contextlib.suppress(OSError, ValueError, AttributeError):
            library = ctypes.CDLL(self.library)
            try:
                ctypes.c_long.in_dll(library, "ubirthday").value = _BIRTHDAY
            finally:
                _ctypes.dlclose(library._handle)  # NLE refuses to load it while it is open

    def _key(self, key: int) -> tuple[Any, bool]:
        try:
            observation, reward, terminated, truncated, info = self._env.step(key)
        except RuntimeError as error:
            raise BackendError(f"NetHack failed: {error}") from error
        self.ascended = bool(info.get("is_ascended", False))
        self.solved = int(info.get("end_status", 0)) == 2  # MiniHack's status of a solved task
        self.reward += float(reward)
        return observation, bool(terminated or truncated)

    def _waits_for(self) -> list[int]:
        """Return three flags: the game waits for a key, a line of text, the end of a page.

        NLE keeps these in every environment; MiniHack does not return them.
        """
        raw = self._env.unwrapped
        return raw.last_observation[raw._internal_index][1:4].tolist()

    def _read_until_prompt(self, observation: Any, *, done: bool) -> Screen:
        """Skip pages until the game waits for a command, a menu or an answer; return the screen."""
        messages = [_text(observation["message"])]
        prompt = None
        for _ in range(_MAX_PAGES):
            if done:
                break
            in_question, in_line, waiting = self._waits_for()
            if not waiting:
                if in_question or in_line:
                    prompt = GamePrompt("line" if in_line else "key", messages[-1])
                break
            page, prompt = _page(observation["tty_chars"])
            if prompt is not None:
                break
            if len(page) > 1 or not messages[-1]:
                messages.extend(line for line in page if line not in messages)
            observation, done = self._key(ENTER)
            if not done:
                messages.append(_text(observation["message"]))
        return Screen(
            observation["glyphs"].ravel(),
            observation["screen_descriptions"].reshape(-1, 80),
            tuple(observation["blstats"].tolist()),
            " ".join(dict.fromkeys(filter(None, messages))),
            self._pack(observation),
            prompt,
            done,
        )

    def _pack(self, observation: Any) -> tuple[PackItem, ...]:
        written = observation["inv_strs"].tobytes()
        if written != self._inventory:
            self._inventory = written
            self._items = tuple(
                PackItem(chr(letter), _text(name), _CLASSES[kind] if kind < len(_CLASSES) else "")
                for letter, name, kind in zip(
                    observation["inv_letters"].tolist(),
                    observation["inv_strs"],
                    observation["inv_oclasses"].tolist(),
                    strict=True,
                )
                if letter
            )
        return self._items


def _text(characters: npt.NDArray[np.uint8]) -> str:
    return characters.tobytes().split(b"\0", 1)[0].decode("latin-1").strip()


def _page(terminal: npt.NDArray[np.uint8]) -> tuple[list[str], GamePrompt | None]:
    """Return the lines of a page of text, or an open menu."""
    rows = [row.tobytes() for row in terminal]
    for number, row in enumerate(rows):
        end = _MENU_END.search(row)
        if end is not None:
            lines = [_plain(line[end.start() :]) for line in rows[:number]]
            options = tuple((m["letter"], m["name"]) for m in map(_ENTRY.match, lines) if m)
            if options:
                title = next((line for line in lines if line and not _ENTRY.match(line)), "")
                return [], GamePrompt("menu", title, options)
            return [line for line in lines if line], None
        more = row.find(_MORE)
        if more >= 0:
            start = more if number > 1 else 0
            lines = [_plain(line[start:]) for line in rows[:number]]
            lines.append(_plain(row[start:more]))
            return [line for line in lines if line], None
    return [], None


def _plain(line: bytes) -> str:
    return line.replace(b"\0", b" ").decode("latin-1").strip()


_OPTIONS: dict[str, Any] = {
    "observation_keys": KEYS,
    "actions": tuple(range(256)),
    "allow_all_yn_questions": True,
    "allow_all_modes": True,
    "max_episode_steps": 10**9,
    "render_mode": None,
}
"""Options that allow every key and every question."""

_VALKYRIE = "val-hum-neu-fem"


def make_nle(character: str | None) -> Any:
    """Build NLE's environment of the whole game."""
    nle = require("nle.env", "nethack", "NetHack")
    return nle.NLE(character=character or _VALKYRIE, fix_moon_phase=True, **_OPTIONS)


def make_minihack(task: str, character: str | None) -> Any:
    """Build a MiniHack environment; None keeps its own character.

    Raises:
        MissingDependencyError: MiniHack is not installed.
        UnknownNameError: MiniHack has no such environment.
    """
    require("minihack", "pip install minihack", "MiniHack tasks")
    known = [name for name in gym.registry if name.startswith("MiniHack-")]
    if task not in known:
        raise UnknownNameError("MiniHack task", task, known)
    chosen: dict[str, Any] = {"character": character} if character else {}
    made = gym.make(task, disable_env_checker=True, **chosen, **_OPTIONS)
    return made.unwrapped  # wrappers pass a seed, which Boxoban's reset does not take
