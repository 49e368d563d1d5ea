"""All kinds of questions, and how an exam draws from them."""

from __future__ import annotations

import dataclasses
import random

from gym_memory.core.records import Recall
from gym_memory.evaluate.exam import events, questions
from gym_memory.evaluate.exam.account import Account
from gym_memory.evaluate.exam.questions import ExamQuestion, QuestionText
from gym_memory.evaluate.exam.reading import RecallReading
from gym_memory.evaluate.quality.observer import spaced, squeezed

__all__ = ["KINDS", "SILENCE", "ask"]

KINDS: dict[str, type[ExamQuestion]] = {
    kind.kind: kind
    for kind in (
        *(questions.Where, questions.Read, questions.Near, questions.Past, questions.Did),
        *(questions.Order, questions.Route, questions.Inside, questions.Count, questions.Saw),
        *(questions.Unseen, events.Moved, events.Dropped, events.Next, events.There),
        *(events.Pitfall, events.Premise),
    )
}
"""All kinds, in the order of the table."""
SILENCE = frozenset(name for name, kind in KINDS.items() if kind.wants_silence)
"""Kinds that have no answer, and are kept out of means."""


def ask(account: Account, rng: random.Random, per_kind: int) -> list[ExamQuestion]:
    """Return questions after the last step of an account.

    ``per_kind`` limits the questions of a kind in words, and those by the policy's plan.
    """
    without = RecallReading(Recall(), account)
    plan = account.moment.focus
    named = spaced(squeezed(plan))
    questions: list[ExamQuestion] = []
    for kind in KINDS.values():
        left, planned = per_kind, per_kind if plan else 0
        for question in kind.make(account, rng):
            if not (left or planned):
                break
            about = question.about
            to_plan = planned > 0 and bool(about) and all(spaced(n.lower()) in named for n in about)
            if not (left or to_plan):
                continue
            if not kind.wants_silence and question.grade(without) == "right":
                continue
            text = _shortened(question.text, account) if left else QuestionText()
            text = text._replace(focus=plan) if to_plan else text
            questions.append(dataclasses.replace(question, text=text))
            left, planned = max(left - 1, 0), planned - to_plan
    return questions


def _shortened(text: QuestionText, account: Account) -> QuestionText:
    """Return a text with its wordings in partial names."""
    cut = {half: account.with_short_names(getattr(text, half)) for half in ("unseen", "everyday")}
    partial = cut["unseen"] if cut["unseen"] != text.unseen else ""
    return text._replace(partial=partial, everyday=cut["everyday"])
