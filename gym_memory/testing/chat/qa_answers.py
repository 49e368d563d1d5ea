"""Answers to the prompts of question answering: those of the reader by rules."""

from __future__ import annotations

import json

from gym_memory.baselines.rules.qa.reader import answer_to, bridge_from, evidence_in
from gym_memory.testing.chat.answers import Slots, answers

__all__ = ["qa_answer", "qa_query"]


@answers("qa_query")
def qa_query(slots: Slots) -> str:
    """The name that leads on from the sentence closest to the question."""
    return json.dumps({"look_up": bridge_from(slots["task"], evidence_in(slots["memory"]))})


@answers("qa_answer")
def qa_answer(slots: Slots) -> str:
    """The reader's answer."""
    found = answer_to(slots["task"], evidence_in(slots["memory"]))
    return json.dumps({"reason": "It shares most words with the question.", "answer": found})
