"""Transforms of the observation for a model: to arrays (EncodeText), a prompt (PromptObservation).

For the arrays a word becomes a number by a stable hash: there is no vocabulary to build, to ship or
to leak from test games, and a word has the same id in every run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from zlib import crc32

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation
from gym_memory.core.settings import check_int, check_text
from gym_memory.core.text import words
from gym_memory.games.spaces import RAW_KEYS, FreeText, check_keys
from gym_memory.wrappers.actions import keep_evenly

__all__ = ["INSTRUCTIONS", "EncodeText", "Encoding", "PromptObservation", "encode_observation"]
__all__ += ["encoded_space", "prompt_space", "render_prompt", "word_id"]

Ids = NDArray[np.int32]
MAX_VOCABULARY = 2**24
"""Largest integer that is exact in float32, to which SB3 casts observations."""

_WORD_CHARS = 64
"""Number of leading characters by which words are distinguished."""
_CACHED_CHARS = 1000
"""Most characters of a cached text; longer ones (a rendered memory) rarely recur."""
_KEYS = ("text", "task", "inventory", "memory", "valid_actions", "triples")


@dataclasses.dataclass(frozen=True)
class Encoding:
    """Sizes of the encoded observation, in words; a key of size 0 is left out.

    ``triple`` counts the words of each of subject, relation and object, ``max_actions`` and
    ``max_triples`` the rows, and ``vocabulary`` the ids, padding included.
    """

    vocabulary: int
    text: int
    task: int
    inventory: int
    memory: int
    action: int
    triple: int
    max_actions: int
    max_triples: int

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each encoded key."""
        shapes: dict[str, tuple[int, ...]] = {
            "text": (self.text,),
            "task": (self.task,),
            "inventory": (self.inventory,),
            "memory": (self.memory,),
            "valid_actions": (self.max_actions, self.action),
            "triples": (self.max_triples, 3, self.triple),
        }
        return {key: shape for key, shape in shapes.items() if 0 not in shape}


@lru_cache(maxsize=65_536)
def word_id(word: str, vocabulary: int) -> int:
    """Return the id of a lower-case word, in [1, vocabulary); 0 is padding.

    >>> word_id("kitchen", 4096)
    2396
    """
    return 1 + crc32(word.encode("utf-8", "surrogatepass")) % (vocabulary - 1)


def _encode(text: str, size: int, vocabulary: int) -> Ids:
    """Return the first ``size`` words of a text as ids, padded with 0."""
    found = [word_id(word[:_WORD_CHARS], vocabulary) for word in words(text)[:size]]
    ids = np.zeros(size, np.int32)
    ids[: len(found)] = found
    ids.flags.writeable = False
    return ids


_encode_short = lru_cache(maxsize=16_384)(_encode)


def _ids(text: str, size: int, vocabulary: int) -> Ids:
    """Return the ids of :func:`_encode`; a repeated string is encoded once."""
    encode = _encode_short if len(text) <= _CACHED_CHARS else _encode
    return encode(text, size, vocabulary)


def encode_observation(obs: Observation | Mapping[str, Any], encoding: Encoding) -> dict[str, Ids]:
    """Return an observation as int32 arrays of :meth:`Encoding.shapes`, cut at the end.

    Words are lower-cased runs of letters and digits; unused places are 0.
    """
    n = encoding.vocabulary
    arrays: dict[str, Ids] = {}
    for key, shape in encoding.shapes().items():
        array = np.zeros(shape, np.int32)
        if key == "valid_actions":
            for row, action in zip(array, obs["valid_actions"], strict=False):
                row[:] = _ids(action, shape[1], n)
        elif key == "triples":
            for rows, triple in zip(array, obs["triples"], strict=False):
                for row, part in zip(rows, triple, strict=True):
                    row[:] = _ids(part, shape[2], n)
        else:
            array[:] = _ids(obs[key], shape[0], n)  # type: ignore[literal-required]
        arrays[key] = array
    return arrays


def encoded_space(encoding: Encoding) -> gym.spaces.Dict:
    """Return the space of :func:`encode_observation`: one level of int32 Boxes."""
    high = encoding.vocabulary - 1
    return gym.spaces.Dict(
        {key: gym.spaces.Box(0, high, shape, np.int32) for key, shape in encoding.shapes().items()}
    )


class EncodeText(
    gym.ObservationWrapper[dict[str, Ids], np.int64, dict[str, Any]],
    gym.utils.RecordConstructorArgs,
):
    """A text observation as integer arrays of fixed shape, as SB3 needs them.

    Observation: Dict of int32 Boxes of word ids in [0, vocabulary), 0 for padding: the first n
    words of ``text task inventory memory``, shape (n,); ``valid_actions``, shape (max_actions, n),
    zeros for a number without an action; ``triples``, shape (max_triples, 3, n), the most
    relevant first. Goes around ``IndexActions``. With v ids and k distinct words about k(k-1)/2v
    pairs share an id.

    Args:
        env: An environment with memory, wrapped in ``IndexActions``.
        vocabulary: Number of ids, in [2, 2**24].
        text: Words of the feedback to encode; 0 leaves the key out, as for the others.
        task: Words of the goal.
        inventory: Words of the inventory.
        memory: Words of the rendered memory; a token budget of b renders to about b words.
        action: Words of each valid action.
        triple: Words of each of subject, relation and object.
        max_triples: Triples to encode.
    """

    def __init__(
        self,
        env: gym.Env[dict[str, Any], np.int64],
        vocabulary: int = 8192,
        text: int = 128,
        task: int = 64,
        inventory: int = 32,
        memory: int = 256,
        action: int = 8,
        triple: int = 4,
        max_triples: int = 64,
    ):
        check_keys("EncodeText", env, _KEYS, "put MemoryObservation below it")
        if not isinstance(env.action_space, gym.spaces.Discrete):
            raise InvalidArgumentError(
                f"EncodeText: expected actions by number, got {env.action_space}: "
                "wrap the environment in IndexActions first"
            )
        sizes = {
            "text": text,
            "task": task,
            "inventory": inventory,
            "memory": memory,
            "action": action,
            "triple": triple,
            "max_triples": max_triples,
        }
        check_int("vocabulary", vocabulary, 2, MAX_VOCABULARY)
        for name, size in sizes.items():
            check_int(name, size, 0)
        arguments: dict[str, Any] = {"vocabulary": vocabulary, **sizes}
        gym.utils.RecordConstructorArgs.__init__(self, **arguments)
        gym.ObservationWrapper.__init__(self, env)
        self.encoding = Encoding(max_actions=int(env.action_space.n), **arguments)
        if not self.encoding.shapes():
            raise InvalidArgumentError("EncodeText: expected a size above 0, got 0 for all keys")
        self.observation_space = encoded_space(self.encoding)

    def observation(self, observation: dict[str, Any]) -> dict[str, Ids]:
        """Encode one observation."""
        return encode_observation(observation, self.encoding)

    def restore(self, snapshot: Any) -> tuple[dict[str, Ids], dict[str, Any]]:
        """Return to a snapshot of the environment below and encode its observation."""
        obs, info = self.env.get_wrapper_attr("restore")(snapshot)
        return self.observation(obs), info


# ------------------------------------------------------------ a prompt

INSTRUCTIONS = (
    "You are playing a text game. Work towards the task with one command at a time. "
    "Answer with the next command only, written exactly as the game expects it."
)
"""Instructions of every prompt."""

_SECTIONS = (
    ("Task", "task"),
    ("What you remember", "memory"),
    ("What you carry", "inventory"),
    ("What you see now", "text"),
)


def render_prompt(
    obs: Observation | Mapping[str, Any],
    instructions: str = INSTRUCTIONS,
    max_actions: int | None = None,
) -> str:
    """Return an observation as one prompt, without its empty parts.

    The parts that change least come first, so that a model's prompt cache can keep them. At
    most ``max_actions`` valid actions are listed, evenly spaced over all; None lists all. The
    prompt says how many are not listed.

    >>> print(render_prompt({"text": "A hall.", "task": "", "inventory": "", "memory": "",
    ...     "valid_actions": ("go east",)}, "Play."))
    Play.
    <BLANKLINE>
    ## What you see now
    A hall.
    <BLANKLINE>
    ## What you can do
    - go east
    """
    parts = [instructions.strip()]
    for title, key in _SECTIONS:
        text = str(obs.get(key, "")).strip()
        parts.append(f"## {title}\n{text}" if text else "")
    actions = tuple(obs["valid_actions"])
    if actions and max_actions != 0:
        listed = actions if max_actions is None else keep_evenly(actions, max_actions)
        lines = [f"- {action}" for action in listed]
        if len(listed) < len(actions):
            lines.append(f"({len(actions) - len(listed)} more are not listed)")
        parts.append("\n".join(["## What you can do", *lines]))
    return "\n\n".join(part for part in parts if part)


def prompt_space() -> FreeText:
    """Return the space of :func:`render_prompt`."""
    return FreeText(max_length=10_000_000)


class PromptObservation(
    gym.ObservationWrapper[str, str, dict[str, Any]], gym.utils.RecordConstructorArgs
):
    """An observation Dict as one string for a language model (:func:`render_prompt`).

    Only the memory has a token budget (that of ``MemoryObservation``); ``max_actions`` bounds the
    longest of the other parts.

    Args:
        env: A text environment, usually with memory.
        instructions: The first part of the prompt; empty for none.
        max_actions: Valid actions to list at most, >= 0; None for all.
    """

    def __init__(
        self,
        env: gym.Env[dict[str, Any], str],
        instructions: str = INSTRUCTIONS,
        max_actions: int | None = None,
    ):
        check_keys("PromptObservation", env, RAW_KEYS, "wrap a text environment")
        check_text("instructions", instructions)
        if max_actions is not None:
            check_int("max_actions", max_actions, 0)
        gym.utils.RecordConstructorArgs.__init__(
            self, instructions=instructions, max_actions=max_actions
        )
        gym.ObservationWrapper.__init__(self, env)
        self._instructions = instructions
        self._max_actions = max_actions
        self.observation_space = prompt_space()

    def observation(self, observation: dict[str, Any]) -> str:
        """Render one observation."""
        return render_prompt(observation, self._instructions, self._max_actions)

    def restore(self, snapshot: Any) -> tuple[str, dict[str, Any]]:
        """Return to a snapshot of the environment below and render its observation."""
        obs, info = self.env.get_wrapper_attr("restore")(snapshot)
        return self.observation(obs), info
