"""Data sets of questions: the corpus that ships, official ones, files of their formats."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from gym_memory.core.errors import (
    CorruptGameError,
    InvalidArgumentError,
    MissingDependencyError,
    UnknownNameError,
)
from gym_memory.games.qa.formats import Question, read_questions

__all__ = ["DATASETS", "QA_DATA", "Dataset", "load_dataset"]

QA_DATA = "QA_DATA"
"""Environment variable that names the folder with the official files."""

_OFFICIAL = {
    "hotpotqa": {
        "dev": "hotpot_dev_distractor_v1.json",
        "train": "hotpot_train_v1.1.json",
    },
    "musique": {
        "dev": "musique_ans_v1.0_dev.jsonl",
        "train": "musique_ans_v1.0_train.jsonl",
    },
}
_SOURCES = {
    "hotpotqa": "https://hotpotqa.github.io",
    "musique": "https://github.com/stonybrooknlp/musique",
}
_OURS = {"isles": ("isles_musique.jsonl", "isles_hotpot.jsonl")}

DATASETS = (*_OURS, *_OFFICIAL)
"""Names of data sets; ``isles``, made up by us, is the one that needs no download."""


class Dataset(NamedTuple):
    """Hold the questions in the order in which seeds play them.

    Official files are sorted by kind, so the order is a shuffle by the hash of the id: any range of
    seeds is a fair sample.

    Attributes:
        fingerprint: First 12 hexadecimal digits of the sha256 of the files.
        questions: Questions by task id, ``name/split/id``.
    """

    name: str
    split: str
    fingerprint: str
    questions: dict[str, Question]


def load_dataset(
    name: str = "isles", split: str = "dev", path: str | os.PathLike[str] | None = None
) -> Dataset:
    """Load a data set; the result is kept until its file changes.

    Args:
        name: One of :data:`DATASETS`.
        split: ``dev`` or, for the official ones, ``train``.
        path: A file of either official format instead.
    """
    if path is not None:
        if not isinstance(path, str | os.PathLike):
            raise InvalidArgumentError(f"expected path as text, got {type(path).__name__}")
        file = Path(path).expanduser()
        return _load(file.stem, "file", (_stamped(file),))
    if name in _OURS:
        if split != "dev":
            raise UnknownNameError("split", str(split), ["dev"])
        folder = resources.files("gym_memory.games.qa").joinpath("data")
        return _load(name, split, tuple(_stamped(Path(str(folder / f))) for f in _OURS[name]))
    if name not in _OFFICIAL:
        raise UnknownNameError("dataset", str(name), DATASETS)
    if split not in _OFFICIAL[name]:
        raise UnknownNameError("split", str(split), _OFFICIAL[name])
    file = Path(os.environ.get(QA_DATA, ".")).expanduser() / _OFFICIAL[name][split]
    if not file.is_file():
        raise MissingDependencyError(
            str(file),
            f"download it from {_SOURCES[name]}, then: export {QA_DATA}=<its folder>",
            f"MultiHopQA?dataset={name}",
        )
    return _load(name, split, (_stamped(file),))


def _stamped(file: Path) -> tuple[str, int, int]:
    """Return a file with its time and size, which are the key of what was read."""
    try:
        found = file.stat()
    except OSError as error:
        raise CorruptGameError(f"cannot read the questions {str(file)!r}: {error}") from error
    return str(file), found.st_mtime_ns, found.st_size


@lru_cache(maxsize=4)
def _load(name: str, split: str, files: tuple[tuple[str, int, int], ...]) -> Dataset:
    digest = hashlib.sha256()
    questions: list[Question] = []
    for file, _, _ in files:
        questions += read_questions(file)
        digest.update(Path(file).read_bytes())
    questions.sort(key=lambda question: hashlib.sha256(question.id.encode()).digest())
    by_id = {f"{name}/{split}/{question.id}": question for question in questions}
    return Dataset(name, split, digest.hexdigest()[:12], by_id)
