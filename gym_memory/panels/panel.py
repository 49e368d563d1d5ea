"""Read and write panels: tasks, settings, and digests of texts.

A panel is a file, ``data/NAME.json.gz`` of this package or one of the user's::

    {"format": 1, "name": ..., "about": ..., "source": ..., "get": ..., "protocol": ...,
     "worlds": [{"env": ..., "tasks": [{"id": ..., "text": ..., "inventory": ..., ...}]}],
     "rows": [...]}
"""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.files import parse_json, read_bytes, write_atomic
from gym_memory.core.names import Spec
from gym_memory.games.base import ENVIRONMENTS

__all__ = ["DIGITS", "PARTS", "ObservationDigests", "Panel", "PanelTask", "load_panel"]
__all__ += ["panel_names", "shared_plan", "write_panel"]

DIGITS = 6
"""Length of a text's digest, in hexadecimal digits."""
PARTS = ("text", "inventory", "actions")
"""Parts of an observation with separate digests; the first text includes the goal."""
_FORMAT = 1
_SUFFIX = ".json.gz"
_MAX_UNPACKED_BYTES = 64 << 20
"""Size limit, in bytes, of an unpacked panel."""
_NOT_IN_PANELS = ("Foreign", "Panel")


class ObservationDigests(NamedTuple):
    """Digests of one observation, by part."""

    text: str
    inventory: str
    actions: str


class PanelTask(NamedTuple):
    """A task of a panel.

    Attributes:
        env: The world with all of its settings.
        shown: Digests of the observations at reset and along the walkthrough; empty if the world's
            data was not available when the panel was made.
        content: Digest of goal, first text and engine facts, or ``md5:`` and the sum of a story
            file; empty if unknown.
        way: Actions of a walkthrough that the engine takes long to find; else empty.
    """

    env: Spec
    task_id: str
    shown: tuple[ObservationDigests, ...] = ()
    content: str = ""
    way: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain values without the world."""
        parts = {part: "".join(getattr(s, part) for s in self.shown) for part in PARTS}
        way = {"way": list(self.way)} if self.way else {}
        return {"id": self.task_id, **parts, "content": self.content, **way}

    @classmethod
    def from_json(cls, env: Spec, record: Mapping[str, Any]) -> PanelTask:
        """Build a task from :meth:`to_json`'s record."""
        split = [_cut(record[part]) for part in PARTS]
        shown = tuple(ObservationDigests(*each) for each in zip(*split, strict=True))
        way = tuple(map(str, record.get("way", ())))
        return cls(env, str(record["id"]), shown, str(record["content"]), way)


def _cut(digits: str) -> list[str]:
    return [digits[at : at + DIGITS] for at in range(0, len(digits), DIGITS)]


@dataclasses.dataclass(frozen=True)
class Panel:
    """A fixed list of tasks.

    ``about`` says what it is, ``source`` who chose the tasks, ``get`` how to obtain the data that a
    world needs. ``rows`` are expected results, see :mod:`gym_memory.run.results.expected`;
    ``unplayed`` says why there are none.
    """

    name: str
    about: str
    tasks: tuple[PanelTask, ...]
    source: str = ""
    get: str = ""
    protocol: str = "single_episode"
    rows: tuple[Mapping[str, Any], ...] = ()
    unplayed: str = ""

    def __post_init__(self) -> None:
        ids = [task.task_id for task in self.tasks]
        if not ids or len(set(ids)) < len(ids):
            raise InvalidArgumentError(
                f"expected the tasks of panel {self.name!r} once each, and at least one"
            )
        for world in self.worlds:
            if world.name not in ENVIRONMENTS.names() or world.name in _NOT_IN_PANELS:
                raise InvalidArgumentError(
                    f"panel {self.name!r} expected an environment of a package, got {world!r}"
                )

    @cached_property
    def worlds(self) -> tuple[Spec, ...]:
        """Return the environments without duplicates."""
        return tuple(dict.fromkeys(task.env for task in self.tasks))

    @cached_property
    def digest(self) -> str:
        """Return a hash of protocol, settings, tasks and texts, on which a cited number depends."""
        record = [self.protocol, self._worlds()]
        return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def n_texts(self) -> int:
        """Return the number of digests."""
        return sum(len(PARTS) * len(task.shown) for task in self.tasks)

    def _worlds(self) -> list[dict[str, Any]]:
        return [
            {"env": env, "tasks": [t.to_json() for t in self.tasks if t.env == env]}
            for env in self.worlds
        ]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        texts = {name: getattr(self, name) for name in ("name", "about", "source", "get")}
        end = {"protocol": self.protocol, "worlds": self._worlds(), "rows": list(self.rows)}
        end |= {"unplayed": self.unplayed} if self.unplayed else {}
        return {"format": _FORMAT, **texts, **end}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Panel:
        """Build a panel from :meth:`to_json`'s record."""
        tasks = tuple(
            PanelTask.from_json(Spec(world["env"]), task)
            for world in record["worlds"]
            for task in world["tasks"]
        )
        texts = {k: str(record[k]) for k in ("name", "about", "source", "get", "protocol")}
        texts["unplayed"] = str(record.get("unplayed", ""))
        return cls(tasks=tasks, rows=tuple(record["rows"]), **texts)


def panel_names() -> tuple[str, ...]:
    """List the panels of this package."""
    found = (entry.name for entry in (files(__package__) / "data").iterdir())
    return tuple(sorted(n.removesuffix(_SUFFIX) for n in found if n.endswith(_SUFFIX)))


def load_panel(name: str) -> Panel:
    """Read an included panel, or a user's file ``./mine.json.gz``."""
    if not isinstance(name, str):
        raise InvalidArgumentError(f"expected the name of a panel, got {name!r:.80}")
    if os.sep in name or name.endswith(_SUFFIX):
        path = Path(name).expanduser().absolute()
    elif name in panel_names():
        path = Path(str(files(__package__) / "data" / f"{name}{_SUFFIX}"))
    else:
        raise UnknownNameError("panel", name, panel_names())
    try:
        return _load(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise InvalidArgumentError(f"expected a panel at {name!r}: {error}") from error


@lru_cache(maxsize=64)
def _load(path: Path, changed: int) -> Panel:
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        text = unpacker.decompress(read_bytes(path, _MAX_UNPACKED_BYTES), _MAX_UNPACKED_BYTES)
        record = parse_json(text)
        if record["format"] != _FORMAT:
            raise ValueError(f"its format is {record['format']!r:.20}, expected {_FORMAT}")
        return Panel.from_json(record)
    except (AttributeError, KeyError, TypeError, ValueError, zlib.error) as error:
        raise InvalidArgumentError(
            f"expected a panel as gym-memory writes it at {str(path)!r}: {error!r:.200}"
        ) from error


def shared_plan(envs: Iterable[str]) -> tuple[str, str]:
    """Return seeds that play each task once, and the protocol; empty unless all are panels."""
    named = [Spec(env) for env in envs]
    if not all(spec.name == "Panel" for spec in named):
        return "", ""
    plans = {
        (len(panel.tasks), panel.protocol)
        for panel in (load_panel(spec.kwargs["panel"]) for spec in named)
    }
    if len(plans) > 1:
        found = " and ".join(f"{n} tasks under {protocol}" for n, protocol in sorted(plans))
        raise InvalidArgumentError(
            f"expected panels that play together to have as many tasks and one protocol, got "
            f"{found}: run each by gym-memory panel run, then report both folders"
        )
    ((size, protocol),) = plans
    return f"0:{size}", protocol


def write_panel(panel: Panel, path: str | os.PathLike[str]) -> None:
    """Write a panel; the same panel gives the same bytes."""
    text = json.dumps(panel.to_json(), ensure_ascii=False, separators=(",", ":"))
    write_atomic(path, gzip.compress(text.encode(), 9, mtime=0))
