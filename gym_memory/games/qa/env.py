"""MultiHopQA: read passages one at a time, then answer a question about several of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike
from typing import Annotated, Any, Literal

import numpy as np

from gym_memory.core.errors import BackendError
from gym_memory.core.optional import require
from gym_memory.core.records import Oracle, Triple
from gym_memory.core.settings import Help, checked
from gym_memory.core.text import words
from gym_memory.games.base import Feedback, TextEnv
from gym_memory.games.qa.datasets import CLOSED_ANSWERS, Question, exact_match, f1, load_dataset
from gym_memory.games.qa.rules import names_in
from gym_memory.graph.schema import clean_name

__all__ = ["MultiHopQA", "PassageSearch"]

_K1, _B = 1.5, 0.75
"""BM25's usual parameters: saturation of repeated words, weight of the text length."""
_NEXT = "read next"
_LOOK = "look"
_CALL = re.compile(r"(?P<what>search|answer)\s*\[(?P<text>.+)\]", re.IGNORECASE)
_MAX_NAME_WORDS = 8


class PassageSearch:
    """An index of a few texts.

    >>> PassageSearch(["a red door", "a blue key"]).ranked("Where is the key?")[0]
    1
    """

    def __init__(self, texts: Sequence[str]):
        bm25s: Any = require("bm25s", "qa", "search over passages")
        self._size = len(texts)
        self._index = bm25s.BM25(k1=_K1, b=_B)
        self._index.index([words(text) for text in texts], show_progress=False)

    def ranked(self, query: str) -> list[int]:
        """Return the positions of all texts, best first; ties keep their order."""
        known = [word for word in words(query) if word in self._index.vocab_dict]
        scores = self._index.get_scores(known) if known else np.zeros(self._size)
        return [int(i) for i in np.argsort(-np.round(scores, 5), kind="stable")]


class MultiHopQA(TextEnv):
    """A question to answer from passages, some of them distractors.

    Actions: ``read next`` shows the first unread passage, its title on the first line;
    ``search[words]``, if enabled, shows the unread passage that BM25 ranks first; ``look``
    repeats the question; ``answer[words]`` ends the episode. The reward is the F1 of the answer
    (or its exact match), ``success`` is an exact match.

    The valid actions are ``look`` and, while passages are unread, ``read next``. Any answer is
    allowed but none is listed, so the list reveals nothing. For policies that choose from the list,
    ``candidates`` adds ``yes``, ``no`` and the names and dates in the passages read so far.

    Args:
        dataset: ``isles`` (included), or ``hotpotqa`` or ``musique``, with official files in the
            folder ``$QA_DATA``.
        split: ``dev``, or ``train`` of the official data sets.
        path: A file in HotpotQA's or MuSiQue's format, in place of a data set.
        search: True to allow ``search[words]``; needs bm25s.
        candidates: True to list candidate answers among the valid actions.
    """

    dialect = "prose"

    @checked
    def __init__(
        self,
        *,
        dataset: str = "isles",
        split: str = "dev",
        path: str | PathLike[str] | None = None,
        metric: Annotated[Literal["f1", "em"], Help("The score: ``f1`` or ``em``.")] = "f1",
        search: bool = False,
        candidates: bool = False,
        max_steps: int = 40,
        valid_actions: bool = True,
        render_mode: str | None = None,
    ):
        self._data = load_dataset(dataset, split, path)
        super().__init__(
            max_steps=max_steps,
            valid_actions=valid_actions,
            split=self._data.split,
            render_mode=render_mode,
        )
        if search:
            PassageSearch(["a first question"])  # fails early if the package is missing
        self.metric, self.search, self.candidates = metric, search, candidates
        self._ids = tuple(self._data.questions)
        self._question: Question | None = None
        self._seen: tuple[int, ...] = ()

    @property
    def question(self) -> Question:
        """Return the current question, with its answer and supporting passages."""
        if self._question is None:
            raise BackendError("no question is in play: call reset() first")
        return self._question

    def _open(self, task_id: str) -> Feedback:
        self._question, self._seen = self._data.questions[task_id], ()
        return self._answer(self._introduction())

    def goal(self) -> str:
        """Return the question."""
        return self.question.text

    def versions(self) -> dict[str, str]:
        """Return the data set and a prefix of its sha256."""
        return {self._data.name: self._data.fingerprint}

    def _introduction(self) -> str:
        ways = f"{_NEXT} shows the next one, "
        if self.search:
            ways += "search[words] the best match, "
        return (
            f"There are {len(self.question.passages)} passages: {ways}{_LOOK} the question. "
            "Answer it with answer[a few words], once."
        )

    def _answer(self, text: str, *, accepted: bool = True) -> Feedback:
        read, total = len(self._seen), len(self.question.passages)
        return Feedback(
            text,
            max_score=1.0,
            inventory=f"You have read {read} of {total} passages.",
            accepted=accepted,
        )

    def _send(self, action: str) -> Feedback:
        command = action.lower()
        if command == _LOOK:
            return self._answer(self.question.text)
        if command == _NEXT:
            return self._read(self._unread())
        call = _CALL.fullmatch(action)
        if call is None or not call["text"].strip():
            return self._answer("That is not understood. " + self._introduction(), accepted=False)
        if call["what"].lower() == "answer":
            return self._judge(call["text"].strip())
        if not self.search:
            return self._answer("There is no way to search here.", accepted=False)
        texts = [passage.text for passage in self.question.passages]
        unread = set(self._unread())
        return self._read([i for i in PassageSearch(texts).ranked(call["text"]) if i in unread])

    def _unread(self) -> list[int]:
        return [i for i in range(len(self.question.passages)) if i not in self._seen]

    def _read(self, order: Sequence[int]) -> Feedback:
        if not order:
            return self._answer("You have read every passage.", accepted=False)
        self._seen = (*self._seen, order[0])
        return self._answer(self.question.passages[order[0]].text)

    def _judge(self, answer: str) -> Feedback:
        question = self.question
        right = exact_match(answer, question.accepted)
        closed = CLOSED_ANSWERS if question.closed else ()
        score = right if self.metric == "em" else f1(answer, question.accepted, closed=closed)
        feedback = self._answer("That is right." if right else "That is not the answer.")
        return feedback._replace(score=score, won=bool(right), lost=not right)

    def _list_valid_actions(self) -> tuple[str, ...]:
        commands = (_NEXT, _LOOK) if self._unread() else (_LOOK,)
        if not self.candidates:
            return commands
        names: dict[str, None] = {"yes": None, "no": None}
        for i in reversed(self._seen):
            passage = self.question.passages[i]
            names[passage.title] = None
            for sentence in passage.text.split("\n")[1:]:
                names.update(dict.fromkeys(name.text for name in names_in(sentence)))
        short = [
            name for name in names if len(name.split()) <= _MAX_NAME_WORDS and name.isprintable()
        ]
        return (*commands, *(f"answer[{name}]" for name in short))

    def _save(self) -> tuple[Question, tuple[int, ...]]:
        return self.question, self._seen

    def _load(self, native: tuple[Question, tuple[int, ...]]) -> None:
        self._question, self._seen = native

    def oracle(self) -> Oracle:
        """Return the supporting sentences as facts ``title | says | ...``.

        The memory ``oracle`` recalls them, as in the paper's row "supporting facts". ``objects``
        has the accepted answers, the positions of supporting passages, and the hops.
        """
        question = self.question
        facts = frozenset(
            Triple(
                clean_name(passage.title),
                "says",
                " ".join(passage.sentences[i].strip() for i in passage.supporting),
            )
            for passage in question.passages
            if passage.supporting
        )
        read = (_NEXT,) * len(question.passages)
        return Oracle(
            facts,
            (*read, f"answer[{question.accepted[0]}]"),
            {
                "accepted": question.accepted,
                "supporting": question.supporting,
                "hops": question.hops,
                "kind": question.kind,
            },
        )
