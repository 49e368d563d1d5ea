"""Build ``rank.json`` from the folders of a tier's parts, and check one.

It holds a manifest (suite, command, hashes of code and games, versions), the cells of each memory
and the cards. The same episodes give the same bytes, clocks (``ms``) apart.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from gym_memory.core.errors import ResultsError
from gym_memory.core.files import read_json, seal, write_atomic
from gym_memory.core.trajectory import read_rows
from gym_memory.evaluate.rank.card import Card, cards, correlation
from gym_memory.evaluate.rank.suite import Suite, SuiteCell, cells_of, load_suite
from gym_memory.run.config import EpisodeRow
from gym_memory.run.results.folder import read_config, read_environment, read_episodes
from gym_memory.run.results.verify import FolderFinding

__all__ = ["RESULT", "backends_of", "build", "code_hash", "hash_games", "load_reference"]
__all__ += ["same_for_all", "verify_rank", "write"]

_ORIGINAL = re.compile(r"\bnative \d+ ?")
"""Pattern of our TextWorld engine in backend versions; its output equals the original's."""

RESULT = "rank.json"
_FORMAT = 1


def load_reference(tier: str) -> dict[str, Any]:
    """Return the shipped results of a tier: ``games``, ``backends``, and cells by memory."""
    path = files("gym_memory.evaluate.rank") / "reference" / f"{tier}.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return {"games": {}, "backends": {}, "memories": {}, **found}


def code_hash() -> str:
    """Return the SHA-256 over all source files of the package."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[2]
    folders = [root, root / "wrappers", root / "baselines"]  # links are not searched
    for path in sorted({path for folder in folders for path in folder.rglob("*.py")}):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def build(
    folder: Path, suite: Suite, command: str, code: str, alone: bool
) -> tuple[dict[str, Any], list[Card]]:
    """Return the record of a folder with all parts played, and its cards.

    Args:
        folder: Folder with one results folder per part.
        suite: The tier.
        command: What was called, without the folder.
        code: :func:`code_hash` of what played.
        alone: True to leave out the results that ship.

    Raises:
        ResultsError: The games differ from those of the results that ship.
    """
    own: dict[str, list[SuiteCell]] = {}
    backends: dict[str, str] = {}
    games: dict[str, Any] = {}
    failed: set[str] = set()
    for part in suite.parts:
        path = folder / part.name
        order = {job.key: n for n, job in enumerate(read_config(path).jobs())}
        rows = [row for played in read_episodes(path) for row in played]
        rows.sort(key=lambda row: (order[row.job.key], row.trial))
        if len({row.job.key for row in rows}) < len(order):
            raise ResultsError(f"{str(path)!r} is not finished: run the same command again")
        for memory, cells in cells_of(part, rows, path / "steps").items():
            own.setdefault(memory, []).extend(cells)
        backends |= backends_of(path)
        hash_games(path, rows, games)
        failed |= {row.job.env for row in rows if row.result.failed}
    reference = load_reference("" if alone else suite.tier)
    hashes = {env: digest.hexdigest() for env, digest in games.items()}
    for name, here in (("backends", backends), ("games", hashes)):
        for env, known in reference[name].items():
            if here.get(env) != known and not (name == "games" and env in failed):
                raise ResultsError(
                    f"expected {env} as the reference results had it ({known:.80}), got "
                    f"{here.get(env, 'no game'):.80}: install the versions of constraints.txt, or "
                    "rank without the reference (--alone)"
                )
    known = {m: [SuiteCell.from_json(c) for c in v] for m, v in reference["memories"].items()}
    # Tasks and questions of a failed episode are unknown.
    whole = [c for c in (*known.values(), *own.values()) if not any(cell.failed for cell in c)]
    if len(set(map(same_for_all, whole))) > 1:
        raise ResultsError(
            "expected the games and questions of the reference results, got others: this is another"
            " version of the suite. Rank without the reference (--alone)"
        )
    made = cards(suite, {**known, **own})
    record = {
        "format": _FORMAT,
        "manifest": {
            "suite": suite.version, "tier": suite.tier, "command": command, "alone": alone,
            "code": code, "backends": backends, "games": hashes,
        },
        "memories": {memory: [asdict(c) for c in cells] for memory, cells in own.items()},
        "cards": [asdict(card) for card in made],
        "exam_predicts_play": asdict(correlation(made)),
    }  # fmt: skip
    return json.loads(json.dumps(record)), made


def same_for_all(cells: Sequence[SuiteCell]) -> tuple[Any, ...]:
    """Return what must be equal to compare two memories: the games and the questions."""
    marks = [sorted(m for m in c.marks.items() if m[0].startswith("asked ")) for c in cells]
    return tuple(
        (c.part, c.env, c.policy, c.budget, c.tasks, tuple(questions))
        for c, questions in zip(cells, marks, strict=True)
    )


def backends_of(folder: Path) -> dict[str, str]:
    """Return the versions that played each environment of a part."""
    found = read_environment(folder).get("backends", {})
    return {env: _ORIGINAL.sub("", versions) for env, versions in found.items()}


def hash_games(folder: Path, rows: Sequence[EpisodeRow], games: dict[str, Any]) -> None:
    """Hash task and first observation of each game, in the order of the jobs."""
    seen = set()
    for row in rows:
        job = row.job
        if (job.env, job.seed) in seen or row.result.failed:
            continue
        seen.add((job.env, job.seed))
        first = next(read_rows(folder / "steps" / job.steps_file))
        known = [job.seed, *(first[name] for name in ("task_id", "task", "text", "max_score"))]
        games.setdefault(job.env, hashlib.sha256()).update(json.dumps(known).encode())


def write(folder: Path, record: Mapping[str, Any]) -> None:
    """Write ``rank.json``, sealed by a checksum."""
    write_atomic(folder / RESULT, seal(json.dumps(record, indent=1, ensure_ascii=False)) + b"\n")


def verify_rank(folder: Path) -> Iterator[FolderFinding]:
    """Check that a ranking's record follows from its episodes, and that the code is unchanged."""
    try:
        record = read_json(folder / RESULT)
        manifest = record["manifest"]
        suite = load_suite(manifest["tier"])
        again, _ = build(folder, suite, manifest["command"], manifest["code"], manifest["alone"])
    except (OSError, ValueError, KeyError, TypeError, ResultsError) as error:
        yield FolderFinding("damaged", RESULT, f"cannot be built again: {error}")
        return
    other = [name for name in again if again[name] != record.get(name)]
    if other:
        yield FolderFinding("damaged", RESULT, f"{', '.join(other)} differ from the episodes")
    else:
        said = f"{len(record['cards'])} cards are what the episodes give"
        yield FolderFinding("ok", RESULT, said)
    if manifest["code"] != code_hash():
        said = f"played by other code than this, {manifest['code'][:12]}: {manifest['command']}"
        yield FolderFinding("note", RESULT, said)
