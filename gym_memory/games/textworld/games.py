"""Generate TextWorld games on demand, with manifests and a cache folder.

A :class:`GameKey` determines a game. Its cache folder has ``game.json`` and, once the interpreter
is needed, ``game.z8``. A folder is built under a temporary name and then renamed, so processes may
race. A damaged folder is detected and rebuilt.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import shutil
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gym_memory.core.errors import BackendError, CorruptGameError
from gym_memory.core.files import cache_dir, file_sha256, write_atomic
from gym_memory.core.optional import require
from gym_memory.games.textworld.knowledge import textworld_version
from gym_memory.games.textworld.zmachine import check_story

__all__ = ["FIRST_SEED", "SIZES", "SPLITS", "GameKey", "ListedGame", "Manifest", "cached_game"]
__all__ += ["cached_story", "compile_game", "compiled", "entries", "game_sha256", "generate"]
__all__ += ["generating", "load_manifest", "no_trial_run", "quiet_random_state"]
__all__ += ["trial_run_by_logic"]

SPLITS = ("train", "valid", "test", "held_out")
SIZES = {"train": 100, "valid": 20, "test": 20, "held_out": 100}
"""Default number of games of a level, by split."""
FIRST_SEED = {"train": 0, "valid": 100_000, "test": 200_000, "held_out": 300_000}


class ListedGame(NamedTuple):
    """A listed game; ``sha256`` is empty for a game without a manifest."""

    seed: int
    sha256: str = ""


class Manifest(NamedTuple):
    """A list of a family's games; no game is in two splits of a level.

    ``test`` is for tests and development, ``held_out`` only for tables. ``levels`` maps each level
    to ``{"settings": ..., "train": [[seed, sha256], ...], ...}``.
    """

    family: str
    generator: int
    textworld: str
    levels: Mapping[str, Mapping[str, Any]]


@lru_cache(maxsize=32)
def load_manifest(family: str) -> Manifest | None:
    """Read the manifest of a family; None if it has none."""
    source = files("gym_memory.games.textworld") / "manifests" / f"{family}.json"
    if not source.is_file():
        return None
    return Manifest(**json.loads(source.read_text(encoding="utf-8")))


def entries(family: str, generator: int, level: str, split: str) -> tuple[ListedGame, ...]:
    """Return the games of a level and split, in order.

    Without a manifest, games have consecutive seeds, which differ between splits, and no digest.
    """
    manifest = load_manifest(family)
    if manifest and manifest.generator == generator and split in manifest.levels.get(level, ()):
        return tuple(ListedGame(*pair) for pair in manifest.levels[level][split])
    first = FIRST_SEED[split]
    return tuple(ListedGame(seed) for seed in range(first, first + SIZES[split]))


_STALE_SECONDS = 3600.0
_DESCRIPTION, _STORY = "game.json", "game.z8"
_CHECKSUMS = "sha256.json"
"""File with the digests of a folder's files."""


class GameKey(NamedTuple):
    """A key that determines a generated game; ``settings`` are JSON-able."""

    family: str
    generator: int
    settings: Mapping[str, Any]
    split: str
    seed: int

    def digest(self) -> str:
        """Return the name of the game's folder in the cache."""
        record = {
            **self._asdict(),
            "settings": dict(self.settings),
            "textworld": textworld_version(),
        }
        return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:32]


@contextlib.contextmanager
def quiet_random_state() -> Iterator[None]:
    """Restore the global random state at the end of the block."""
    python_state, numpy_state = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)


@contextlib.contextmanager
def _patched(target: Any, name: str, value: Any) -> Iterator[None]:
    """Replace an attribute of one of TextWorld's classes in the block."""
    before = target.__dict__[name]
    setattr(target, name, value)
    try:
        yield
    finally:
        setattr(target, name, before)


def _maker() -> Any:
    return require("textworld.generator.maker", "textworld", "TextWorld games").GameMaker


def _knowledge_parsed_once() -> contextlib.AbstractContextManager[None]:
    """Make TextWorld parse each knowledge base once per process; parsing takes 0.6 s per game."""
    base = require("textworld.generator.data", "textworld", "TextWorld games").KnowledgeBase
    load = base.__dict__["load"]

    def load_once(cls: Any, *args: Any, **kwargs: Any) -> Any:
        key = args, tuple(sorted(kwargs.items()))
        if key not in _knowledge_bases:
            _knowledge_bases[key] = load.__func__(cls, *args, **kwargs)
        return _knowledge_bases[key]

    return _patched(base, "load", classmethod(load_once))


def no_trial_run() -> contextlib.AbstractContextManager[None]:
    """Disable TextWorld's ``GameMaker.set_walkthrough``.

    It compiles and plays the game during generation (0.7 s) to record which commands complete which
    quest. Generators with their own objective and walkthrough do not need it.
    """
    return _patched(_maker(), "set_walkthrough", lambda self, commands: None)


def trial_run_by_logic() -> contextlib.AbstractContextManager[None]:
    """Make ``GameMaker.set_walkthrough`` play by the game's logic, without compiling.

    TextWorld plays a .json in this way. The records are the same if commands equal the logic's,
    which is not the case in ``tw-cooking``.
    """

    def describe(self: Any, path: str) -> str:
        description = os.fspath(Path(path).with_suffix(".json"))
        self.build().save(description)
        return description

    return _patched(_maker(), "compile", describe)


_knowledge_bases: dict[Any, Any] = {}
_generating = threading.Lock()
"""Lock for generating, which patches TextWorld's classes."""


@contextlib.contextmanager
def generating() -> Iterator[None]:
    """Silence TextWorld during generation; restore the global random state at the end."""
    with _generating, quiet_random_state(), _knowledge_parsed_once(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice about TextWorld's own grammars
        yield


def generate(factory: Any, settings: Mapping[str, Any], split: str, seed: int) -> Any:
    """Generate a game of a family, without changing the global random state.

    ``held_out`` uses the words of ``test``.
    """
    if split == "held_out":
        split = "test"
    with generating():
        return factory.make_game(settings, split, seed)


def cached_game(key: GameKey, make: Callable[[], Any]) -> Path:
    """Return the path of a game's .json; if missing, generate it from the game of ``make()``."""
    folder = cache_dir() / "textworld" / key.family / key.digest()
    return _built(folder / _DESCRIPTION, lambda path: make().save(os.fspath(path)))


def cached_story(family: str, source: str) -> Path:
    """Return the path of a story compiled from Inform 7 source; compile it if missing."""
    digest = hashlib.sha256(f"{textworld_version()}\n{source}".encode()).hexdigest()[:32]
    path = cache_dir() / family / digest / _STORY
    return _built(path, lambda story: _compile_source(source, story))


def compiled(path: str | os.PathLike[str]) -> Path:
    """Return the story of a cached .json, compiled at first use; a .z8 is returned unchanged."""
    path = Path(path)
    if path.suffix != ".json":
        return path
    story = path.with_suffix(".z8")
    if not _intact(story):
        game = require("textworld.generator.game", "textworld", "compiling games").Game
        with _report_disk_errors(path.parent), _build_folder(path.parent.parent) as building:
            compile_game(game.load(os.fspath(path)), building / _STORY)
            os.replace(building / _STORY, story)
            _write_checksums(path.parent, [story, path])
    return story


def _built(path: Path, build: Callable[[Path], None]) -> Path:
    """Return a file in its own cache folder; build both unless intact."""
    if _intact(path):
        return path
    folder = path.parent
    with _report_disk_errors(folder), _build_folder(folder.parent) as building:
        build(building / path.name)
        _write_checksums(building, list(building.iterdir()))
        _flush(*building.iterdir(), building)
        _install(building, folder, lambda: _intact(path))
        _flush(folder.parent)
    return path


@contextlib.contextmanager
def _report_disk_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BackendError(
            f"cannot build a game in the cache {os.fspath(folder.parent)!r} ({error}): "
            "set GYM_MEMORY_CACHE to a folder that can be written and has space"
        ) from error


@contextlib.contextmanager
def _build_folder(parent: Path) -> Iterator[Path]:
    """Make a temporary folder, and remove it at the end."""
    folder = parent / f".building-{uuid.uuid4().hex}"
    folder.mkdir(parents=True)
    try:
        _remove_stale(parent)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write_checksums(folder: Path, files: Iterable[Path]) -> None:
    """Write the digests of a folder's files."""
    sums = {path.name: file_sha256(path) for path in files}
    write_atomic(folder / _CHECKSUMS, json.dumps(sums))


def _install(building: Path, folder: Path, intact: Callable[[], bool]) -> None:
    """Rename a finished folder unless another process did; replace a damaged one."""
    try:
        os.rename(building, folder)
    except OSError:
        if intact():
            return
        aside = building.with_name(f"{building.name}-damaged")
        with contextlib.suppress(FileNotFoundError):  # another process moved it
            os.rename(folder, aside)
        shutil.rmtree(aside, ignore_errors=True)
        try:
            os.rename(building, folder)
        except OSError:
            if not intact():
                raise


def _intact(path: Path) -> bool:
    try:
        return _matches_checksums(os.fspath(path), path.stat().st_mtime_ns)
    except OSError:
        return False


@lru_cache(maxsize=4096)
def _matches_checksums(name: str, mtime: int) -> bool:
    path = Path(name)
    try:
        if path.suffix != ".json":
            check_story(path)
        if (sums := path.with_name(_CHECKSUMS)).exists():
            return bool(json.loads(sums.read_bytes())[path.name] == file_sha256(path))
        # a folder of an older version
        data = json.loads(path.with_name(_DESCRIPTION).read_bytes())
        return all(data[key] for key in ("KB", "infos", "quests", "world"))
    except (CorruptGameError, LookupError, OSError, RecursionError, TypeError, ValueError):
        return False


def _flush(*paths: Path) -> None:
    """Sync files or folders to disk, so that a rename does not precede the content."""
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _report_compiler(story: Path, refusal: type[Exception]) -> Iterator[None]:
    try:
        with quiet_random_state():
            yield
    except refusal as error:
        detail = " ".join(str(error).split())[-500:]
        raise BackendError(f"Inform 7 could not compile {story.name}: {detail}") from error


def _compile_source(source: str, story: Path) -> None:
    inform = require("textworld.generator.inform7.world2inform7", "textworld", "compiling stories")
    with _report_compiler(story, inform.CouldNotCompileGameError):
        inform.compile_inform7_game(source, str(story))


def compile_game(game: Any, story: Path) -> None:
    """Write ``game`` as ``story`` (.z8) with its .json beside it."""
    generator = require("textworld.generator", "textworld", "compiling games")
    options = generator.GameOptions()
    options.path, options.force_recompile = str(story), True
    with _report_compiler(story, generator.CouldNotCompileGameError):
        generator.compile_game(game, options)
    story.with_suffix(".ni").unlink(missing_ok=True)


def _remove_stale(folder: Path) -> None:
    """Remove the folders of killed builds."""
    for leftover in folder.glob(".building-*"):
        with contextlib.suppress(OSError):
            if time.time() - leftover.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(leftover, ignore_errors=True)


def game_sha256(data: Mapping[str, Any]) -> str:
    """Return a digest of a serialized game that is the same on every machine.

    It omits identifiers of the run, paths and the knowledge base.
    """
    canonical = {
        "world": _sorted(data["world"]),
        "quests": [_canonical_quest(q) for q in data["quests"]],
        "infos": sorted((k, v["name"], v["desc"]) for k, v in data["infos"]),
        "objective": data["objective"],
        "walkthrough": data["metadata"].get("walkthrough"),
    }
    return hashlib.sha256(json.dumps(canonical, sort_keys=True).encode()).hexdigest()


def _sorted(values: Any) -> list[str]:
    return sorted(json.dumps(v, sort_keys=True) for v in values)


def _canonical_quest(quest: Mapping[str, Any]) -> dict[str, Any]:
    def event(record: Mapping[str, Any]) -> list[str]:
        return _sorted(record["condition"]["preconditions"])

    return {
        "reward": quest["reward"],
        "win": sorted(map(event, quest["win_events"])),
        "fail": sorted(map(event, quest["fail_events"])),
    }
