"""Questions with their passages, read from the official files of HotpotQA and MuSiQue.

A file is a JSON array (HotpotQA) or JSON lines (MuSiQue, and HotpotQA as many mirrors have it).
Which of the two formats it has shows in the fields of its records.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import CorruptGameError
from gym_memory.core.files import LARGEST_JSON, parse_json, read_bytes

__all__ = ["Hop", "Passage", "Question", "read_questions"]


class Passage(NamedTuple):
    """A paragraph under a title.

    Attributes:
        title: Its title; several passages of a question may share one (MuSiQue).
        sentences: Its text as the file divides it; MuSiQue does not, so there is one piece.
        supporting: Positions of the sentences that the answer rests on; empty for a distractor.
    """

    title: str
    sentences: tuple[str, ...]
    supporting: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """The title on a line of its own, then the whole paragraph."""
        return f"{self.title}\n{' '.join(''.join(self.sentences).split())}"


class Hop(NamedTuple):
    """One step of the way to an answer (MuSiQue tells it).

    Attributes:
        question: The single-hop question; ``#1`` stands for the answer of hop 1.
        answer: Its answer.
        passage: Position of the passage that says so; -1 where the file names none.
    """

    question: str
    answer: str
    passage: int


class Question(NamedTuple):
    """A question with the passages that it is asked about.

    Attributes:
        id: Its id in the file.
        text: The question.
        accepted: The answer, then its aliases.
        passages: Passages in the order of the file, distractors among them.
        kind: HotpotQA's ``bridge`` or ``comparison``; for MuSiQue the hops, ``2hop`` to ``4hop``.
        hops: The way to the answer; empty where the file does not tell it.
        closed: Whether ``yes`` and ``no`` are right or wrong as a whole (HotpotQA).
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
        """Positions of the passages that the answer rests on."""
        return tuple(i for i, passage in enumerate(self.passages) if passage.supporting)


def read_questions(path: str | os.PathLike[str]) -> tuple[Question, ...]:
    """Read a file of either format; questions marked as unanswerable are left out.

    Raises:
        CorruptGameError: The file is missing, is no JSON, holds no question, names one twice, or
            lacks fields; the message says where.
    """
    name = os.fspath(path)
    try:
        text = read_bytes(Path(path).expanduser(), LARGEST_JSON).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise CorruptGameError(f"cannot read the questions {name!r}: {error}") from error
    questions: dict[str, Question] = {}
    for number, record in _records(text, name):
        try:
            if record.get("answerable", True):
                question = _question(record)
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
    """Records of a JSON array or of JSON lines, numbered from 1."""
    try:
        if text.lstrip().startswith("["):
            yield from enumerate(parse_json(text), 1)
            return
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                yield number, parse_json(line)
    except ValueError as error:
        raise CorruptGameError(f"{name!r} is not JSON: {error}") from error


def _question(record: Mapping[str, Any]) -> Question:
    return _hotpotqa(record) if "context" in record else _musique(record)


def _hotpotqa(record: Mapping[str, Any]) -> Question:
    facts: dict[str, list[int]] = {}
    for title, sentence in record["supporting_facts"]:
        facts.setdefault(_text(title), []).append(int(sentence))
    passages = []
    for title, sentences in record["context"]:
        pieces = tuple(map(_text, sentences))
        # A few official records point past the end of their paragraph.
        supporting = tuple(i for i in facts.get(title, ()) if 0 <= i < len(pieces))
        passages.append(Passage(_text(title), pieces, supporting))
    return Question(
        id=_text(record["_id"]),
        text=_text(record["question"]).strip(),
        accepted=(_text(record["answer"]),),
        passages=_some(passages),
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
        passages=_some(passages),
        kind=f"{len(hops)}hop" if hops else "",
        hops=tuple(hops),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {value!r:.60}")
    return value


def _some(passages: list[Passage]) -> tuple[Passage, ...]:
    if not passages:
        raise ValueError("it has no passages")
    return tuple(passages)
