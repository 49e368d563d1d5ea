"""Data sets of questions with their official scores: isles (included), HotpotQA, MuSiQue.

A file is a JSON array (HotpotQA) or JSON lines (MuSiQue and many mirrors of HotpotQA). The fields
of its records tell the formats apart.
"""

from __future__ import annotations

import hashlib
import os
import re
import string
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import (
    CorruptGameError,
    InvalidArgumentError,
    MissingDependencyError,
    UnknownNameError,
)
from gym_memory.core.files import LARGEST_JSON, parse_json, read_bytes

__all__ = ["CLOSED_ANSWERS", "DATASETS", "QA_DATA", "Dataset", "Hop", "Passage", "Question"]
__all__ += ["exact_match", "f1", "load_dataset", "normalize_answer", "read_questions"]

QA_DATA = "QA_DATA"
"""Environment variable with the folder of the official files."""

_OFFICIAL = {
    "hotpotqa": {"dev": "hotpot_dev_distractor_v1.json", "train": "hotpot_train_v1.1.json"},
    "musique": {"dev": "musique_ans_v1.0_dev.jsonl", "train": "musique_ans_v1.0_train.jsonl"},
}
_SOURCES = {
    "hotpotqa": "https://hotpotqa.github.io",
    "musique": "https://github.com/stonybrooknlp/musique",
}
_INCLUDED = {"isles": ("isles_musique.jsonl", "isles_hotpot.jsonl")}

DATASETS = (*_INCLUDED, *_OFFICIAL)
"""Names of data sets; only ``isles``, which is fictional, needs no download."""


class Passage(NamedTuple):
    """A paragraph with a title, which several passages may share in MuSiQue.

    ``supporting`` has the positions of sentences that the answer needs; none in a distractor.
    """

    title: str
    sentences: tuple[str, ...]
    supporting: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """Return the title on its own line, then the paragraph."""
        return f"{self.title}\n{' '.join(''.join(self.sentences).split())}"


class Hop(NamedTuple):
    """A step towards an answer (MuSiQue), with a question, its answer and its passage.

    ``#1`` in the question means the answer of hop 1; the passage is -1 if the file names none.
    """

    question: str
    answer: str
    passage: int


class Question(NamedTuple):
    """A question with its passages, including distractors, and its answer with aliases.

    ``kind`` is ``bridge`` or ``comparison`` (HotpotQA), ``2hop`` to ``4hop`` (MuSiQue); ``closed``
    is True if ``yes`` and ``no`` get no partial score (HotpotQA).
    """

    id: str
    text: str
    accepted: tuple[str, ...]
    passages: tuple[Passage, ...]
    kind: str
    hops: tuple[Hop, ...] = ()
    closed: bool = False

    @property
    def supporting(self) -> tuple[int, ...]:
        """Return the positions of the passages that the answer needs."""
        return tuple(i for i, passage in enumerate(self.passages) if passage.supporting)


def read_questions(path: str | os.PathLike[str]) -> tuple[Question, ...]:
    """Read a file of either format, without unanswerable questions."""
    name = os.fspath(path)
    try:
        text = read_bytes(Path(path).expanduser(), LARGEST_JSON).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise CorruptGameError(f"cannot read the questions {name!r}: {error}") from error
    questions: dict[str, Question] = {}
    for number, record in _records(text, name):
        try:
            if record.get("answerable", True):
                question = _hotpotqa(record) if "context" in record else _musique(record)
                if not question.passages:
                    raise ValueError("it has no passages")
                if question.id in questions:
                    raise ValueError(f"the id {question.id!r} comes twice")
                questions[question.id] = question
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            why = f"no field {error}" if isinstance(error, KeyError) else str(error)
            raise CorruptGameError(
                f"record {number} of {name!r} is neither of HotpotQA's nor of MuSiQue's form: {why}"
            ) from error
    if not questions:
        raise CorruptGameError(f"expected questions in {name!r}, found none")
    return tuple(questions.values())


def _records(text: str, name: str) -> Iterator[tuple[int, Any]]:
    """Yield the records of a JSON array or of JSON lines, numbered from 1."""
    try:
        if text.lstrip().startswith("["):
            yield from enumerate(parse_json(text), 1)
            return
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                yield number, parse_json(line)
    except ValueError as error:
        raise CorruptGameError(f"{name!r} is not JSON: {error}") from error


def _hotpotqa(record: Mapping[str, Any]) -> Question:
    facts: dict[str, list[int]] = {}
    for title, sentence in record["supporting_facts"]:
        facts.setdefault(_text(title), []).append(int(sentence))
    passages = []
    for title, sentences in record["context"]:
        pieces = tuple(map(_text, sentences))
        # some official records point past the end of their paragraph
        supporting = tuple(i for i in facts.get(title, ()) if 0 <= i < len(pieces))
        passages.append(Passage(_text(title), pieces, supporting))
    return Question(
        id=_text(record["_id"]),
        text=_text(record["question"]).strip(),
        accepted=(_text(record["answer"]),),
        passages=tuple(passages),
        kind=str(record.get("type", "")),
        closed=True,
    )


def _musique(record: Mapping[str, Any]) -> Question:
    passages = [
        Passage(
            _text(paragraph["title"]),
            (_text(paragraph["paragraph_text"]),),
            (0,) if paragraph["is_supporting"] else (),
        )
        for paragraph in record["paragraphs"]
    ]
    position = {paragraph["idx"]: i for i, paragraph in enumerate(record["paragraphs"])}
    hops = [
        Hop(
            _text(hop["question"]),
            _text(hop["answer"]),
            position.get(hop["paragraph_support_idx"], -1),
        )
        for hop in record.get("question_decomposition", ())
    ]
    return Question(
        id=_text(record["id"]),
        text=_text(record["question"]).strip(),
        accepted=(_text(record["answer"]), *map(_text, record.get("answer_aliases", ()))),
        passages=tuple(passages),
        kind=f"{len(hops)}hop" if hops else "",
        hops=tuple(hops),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {value!r:.60}")
    return value


class Dataset(NamedTuple):
    """Questions by task id (``name/split/id``), in the order in which seeds play them.

    Official files are sorted by kind, so questions are shuffled by the hash of their id, and any
    range of seeds is a fair sample. ``fingerprint`` is a prefix of the files' sha256.
    """

    name: str
    split: str
    fingerprint: str
    questions: dict[str, Question]


def load_dataset(
    name: str = "isles", split: str = "dev", path: str | os.PathLike[str] | None = None
) -> Dataset:
    """Load one of :data:`DATASETS`, or an official file; cached until the file changes."""
    if path is not None:
        if not isinstance(path, str | os.PathLike):
            raise InvalidArgumentError(f"expected path as text, got {type(path).__name__}")
        file = Path(path).expanduser()
        return _load(file.stem, "file", (_with_stamp(file),))
    if name in _INCLUDED:
        if split != "dev":
            raise UnknownNameError("split", str(split), ["dev"])
        folder = resources.files("gym_memory.games.qa").joinpath("data")
        return _load(
            name, split, tuple(_with_stamp(Path(str(folder / f))) for f in _INCLUDED[name])
        )
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
    return _load(name, split, (_with_stamp(file),))


def _with_stamp(file: Path) -> tuple[str, int, int]:
    """Return a file with its time and size, the key of the cache."""
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


# Both data sets normalize alike and take the best score over all accepted answers.

CLOSED_ANSWERS = frozenset({"yes", "no", "noanswer"})
"""HotpotQA's answers without a partial score."""

_SCORING_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize_answer(text: str) -> str:
    """Normalize an answer for comparison.

    >>> normalize_answer(" The  7 Habits, of U.S. people!")
    '7 habits of us people'
    """
    text = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_SCORING_ARTICLES.sub(" ", text).split())


def exact_match(answer: str, accepted: Iterable[str]) -> float:
    """Return 1.0 if the answer equals an accepted one, else 0.0."""
    given = normalize_answer(answer)
    return float(any(given == normalize_answer(right) for right in accepted))


def f1(answer: str, accepted: Iterable[str], *, closed: Iterable[str] = ()) -> float:
    """Return the best F1 over words with an accepted answer, in [0, 1].

    ``closed`` has normalized answers without a partial score, such as :data:`CLOSED_ANSWERS`.
    """
    given, whole = normalize_answer(answer), frozenset(closed)
    return max((_f1(given, normalize_answer(right), whole) for right in accepted), default=0.0)


def _f1(given: str, right: str, closed: frozenset[str]) -> float:
    if given == right:
        return 1.0
    if given in closed or right in closed:
        return 0.0
    given_words, right_words = given.split(), right.split()
    same = (Counter(given_words) & Counter(right_words)).total()
    if not same:
        return 0.0
    precision, recall = same / len(given_words), same / len(right_words)
    return 2 * precision * recall / (precision + recall)
