"""Observation and action spaces of text games, with support for shared memory."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import (
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)

from gym_memory.core.errors import InvalidArgumentError

__all__ = ["RAW_KEYS", "FreeSequence", "FreeText", "check_keys", "memory_observation_space"]
__all__ += ["raw_observation_space", "triple_space"]

_SHARED_BYTES = 1 << 18
"""Size, in bytes, of a text or a sequence in shared memory, per environment."""
_SAMPLE_ALPHABET = "abcdefghijklmnopqrstuvwxyz "


class FreeText(spaces.Text):
    """Any string up to ``max_length`` characters; samples are short lower-case words.

    Gymnasium's ``Text`` has a list of characters, so it rejects "", spaces and accents.
    """

    def __init__(
        self, max_length: int = 1_000_000, *, seed: int | np.random.Generator | None = None
    ):
        super().__init__(max_length, min_length=0, charset=_SAMPLE_ALPHABET, seed=seed)

    @property
    def shape(self) -> tuple[int, ...]:
        """Raise an error, since text has no shape and learners of arrays would fail later."""
        raise InvalidArgumentError(
            "text has no fixed shape: wrap the environment in EncodeText for observations as "
            "arrays, and in IndexActions for actions as numbers"
        )

    def contains(self, x: Any) -> bool:
        """True if ``x`` is a string that is short enough."""
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a random lower-case string of at most 20 characters."""
        if mask is not None or probability is not None:
            return super().sample(mask=mask, probability=probability)
        length = int(self.np_random.integers(1, min(20, self.max_length) + 1))
        letters = self.np_random.integers(0, len(_SAMPLE_ALPHABET), size=length)
        return "".join(_SAMPLE_ALPHABET[i] for i in letters)

    def __repr__(self) -> str:
        return f"FreeText({self.max_length})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, FreeText) and self.max_length == other.max_length

    def __hash__(self) -> int:
        return hash((FreeText, self.max_length))


class FreeSequence(spaces.Sequence):
    """A sequence of any length whose elements are texts, or tuples of them."""


class _SharedTexts(Sequence[Any]):
    """A view of all environments' texts in shared memory; a deep copy is a snapshot."""

    def __init__(self, memory: Any, n: int):
        self._bytes = np.frombuffer(memory.get_obj(), np.uint8).reshape(n, _SHARED_BYTES)

    def __len__(self) -> int:
        return len(self._bytes)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self)[index]
        return pickle.loads(self._bytes[index])

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[Any, ...]:
        return tuple(self)

    def write(self, index: int, value: Any) -> None:
        record = pickle.dumps(value)
        if len(record) > _SHARED_BYTES:
            raise InvalidArgumentError(
                f"expected a part of the observation of at most {_SHARED_BYTES} bytes, got "
                f"{len(record)}: give AsyncVectorEnv shared_memory=False"
            )
        self._bytes[index, : len(record)] = np.frombuffer(record, np.uint8)


@create_shared_memory.register(FreeText)
@create_shared_memory.register(FreeSequence)
def _create_shared(space: spaces.Space[Any], n: int = 1, ctx: Any = multiprocessing) -> Any:
    memory = ctx.Array("B", n * _SHARED_BYTES)
    for index in range(n):
        _write_shared(space, index, "" if isinstance(space, FreeText) else (), memory)
    return memory


@read_from_shared_memory.register(FreeText)
@read_from_shared_memory.register(FreeSequence)
def _read_shared(space: spaces.Space[Any], memory: Any, n: int = 1) -> _SharedTexts:
    return _SharedTexts(memory, n)


@write_to_shared_memory.register(FreeText)
@write_to_shared_memory.register(FreeSequence)
def _write_shared(space: spaces.Space[Any], index: int, value: Any, memory: Any) -> None:
    _SharedTexts(memory, len(memory) // _SHARED_BYTES).write(index, value)


def triple_space() -> spaces.Tuple:
    """Return the space of one (subject, relation, object)."""
    return spaces.Tuple((FreeText(), FreeText(), FreeText()))


def raw_observation_space() -> spaces.Dict:
    """Return the observation space of a raw text environment."""
    return spaces.Dict(
        {
            "text": FreeText(),
            "task": FreeText(),
            "inventory": FreeText(),
            "valid_actions": FreeSequence(FreeText()),
        }
    )


def memory_observation_space() -> spaces.Dict:
    """Return the observation space with memory, the flat Dict that every policy sees."""
    return spaces.Dict(
        {
            **raw_observation_space().spaces,
            "memory": FreeText(),
            "triples": FreeSequence(triple_space()),
            "episodes": FreeSequence(FreeText()),
            "lessons": FreeSequence(FreeText()),
        }
    )


RAW_KEYS = ("text", "task", "inventory", "valid_actions")
"""Keys of a raw text observation."""


def check_keys(wrapper: str, env: Any, keys: tuple[str, ...], hint: str) -> None:
    """Check that ``env`` is an environment whose observation is a Dict with ``keys``."""
    if not isinstance(env, gym.Env):
        raise InvalidArgumentError(f"{wrapper}: expected an environment, got {env!r:.80}: {hint}")
    space = env.observation_space
    missing = [k for k in keys if not isinstance(space, gym.spaces.Dict) or k not in space.spaces]
    if missing:
        raise InvalidArgumentError(
            f"{wrapper}: expected an observation with {', '.join(keys)}, got {env} without "
            f"{', '.join(missing)}: {hint}"
        )
