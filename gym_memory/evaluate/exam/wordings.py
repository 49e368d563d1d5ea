"""In what words questions are asked.

``wordings.json`` has several templates for every kind of question, in two halves: those *seen*
in development, and those *unseen*, which stand nowhere else in this repository, so that no rule
and no test was made by them (``tests/scoring/test_exam_wordings.py`` sees to it).
"""

from __future__ import annotations

import json
import random
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

__all__ = ["WORDINGS", "Asked", "in_words", "templates"]


class Asked(NamedTuple):
    """How a question is put to a memory; empty where it is not put so.

    Attributes:
        seen: In words that were there in development.
        unseen: In words that were not.
        focus: Not at all, but by the plan that the policy had published then, which names what
            the question is about.
    """

    seen: str = ""
    unseen: str = ""
    focus: str = ""


WORDINGS = Asked._fields


@cache
def templates() -> dict[str, dict[str, list[str]]]:
    """Sort of question to its templates, seen and unseen."""
    text = (files("gym_memory.evaluate.exam") / "wordings.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, list[str]]] = json.loads(text)
    return found


def in_words(sort: str, rng: random.Random, **named: Any) -> Asked:
    """A question in one wording of each half, drawn by chance.

    Args:
        sort: Which templates.
        rng: Draws.
        **named: What the templates name.
    """
    halves = templates()[sort]
    texts = {half: rng.choice(halves[half]).format(**named) for half in ("seen", "unseen")}
    return Asked(**{half: text[0].upper() + text[1:] for half, text in texts.items()})
