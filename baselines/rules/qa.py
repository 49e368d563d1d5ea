"""A rule-based reader of passages that answers from the recall.

Its only state is its published focus: the question and, after the first look, a name that leads
from one passage to the next. Its answer is a name, date or number, as the question word requires,
from a recalled sentence that shares words with the question.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from gym_memory.baselines.base import Policy
from gym_memory.core.records import Observation, PlanState
from gym_memory.core.settings import check_int
from gym_memory.core.text import split_sentences
from gym_memory.games.qa.rules import name_words, names_in
from gym_memory.memory.reading import split_entries

__all__ = ["Evidence", "Inquiry", "Reader", "answer_to", "before_answering", "bridge_from"]
__all__ += ["evidence_in"]

_NEXT, _LOOK = "read next", "look"
_STEM_CHARS = 5
_CONTEXT_CHARS = 60
_sentences = partial(split_sentences, before='"“A-Z0-9')
_NUMBER = re.compile(
    r"(?<![\w.])(?:every )?\d[\d,.]*\d?\s"
    r"(?!(?:and|of|in|at|when|to|it|he|she|they|the|as|with|for|has|was|is)\b)[a-z]+"
    r"|(?<!\w)\d[\d,]*"
)
_YEAR = re.compile(r"\b[12]\d{3}\b")
_YES_NO = re.compile(r"(?:is|are|was|were|did|do|does|has|have|had|can|could) ", re.IGNORECASE)
_KIND_WANTED = re.compile(r"\b(?:which|what) ((?:\w+ )?\w+)", re.IGNORECASE)
_LATER = re.compile(r"\b(?:later|latest|younger|youngest|newer|after|recently)\b", re.IGNORECASE)
_BY_DATE = re.compile(
    r"\b(?:first|earlier|earliest|older|oldest|before|later|latest|younger|after|recently)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:in|at|of|near|from|on)\s+(?:the\s+)?$", re.IGNORECASE)
_STOP_WORDS = frozenset({"name", "called", "known", "what", "which", "many", "much", "long"})


class Evidence(NamedTuple):
    """Sentences of a passage, or facts about an entity, with their title."""

    title: str
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the title and the sentences as one text."""
        return f"{self.title}. {' '.join(self.sentences)}"


@dataclass(frozen=True)
class Inquiry(PlanState):
    """A question with the names that the reader has followed; ``done`` counts them."""

    done: int = 0

    @classmethod
    def about(cls, question: str, before: PlanState) -> Inquiry:
        """Continue the inquiry of the last step, or start one."""
        return before if isinstance(before, Inquiry) else cls(question)

    def with_name(self, name: str) -> Inquiry:
        """Return the inquiry with one more followed name."""
        return replace(self, aim=f"{self.aim}; then {name}", done=self.done + 1)

    def notes(self) -> dict[str, str]:
        """Return the details to show beside the aim, by name."""
        return {**super().notes(), **({"done": str(self.done)} if self.done else {})}


class Reader(Policy):
    """A MultiHopQA player that reads everything, then answers.

    Args:
        hops: Number of recalls, in [1, 4]: one for the question and one for each followed name.
    """

    def __init__(self, hops: int = 2):
        check_int("hops", hops, 1, 4)
        self.hops = hops

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode without a plan."""
        self.focus = PlanState()

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the action to read on, to look (again with a followed name), or to answer."""
        question = obs["task"]
        plan = self.focus = Inquiry.about(question, self.focus)
        command = before_answering(obs)
        if command:
            return command
        evidence = evidence_in(obs["memory"])
        if plan.done < self.hops - 1:
            name = bridge_from(question, evidence, but=str(plan.aim))
            if name:
                self.focus = plan.with_name(name)
                return _LOOK
        return f"answer[{answer_to(question, evidence)}]"


def before_answering(obs: Observation) -> str:
    """Return the action that must precede an answer, to read on or to look; empty if none."""
    if _NEXT in obs["valid_actions"]:
        return _NEXT
    return "" if obs["text"] == obs["task"] else _LOOK


def evidence_in(memory: str) -> list[Evidence]:
    r"""Return the passages and facts of a rendered memory, passages first.

    >>> evidence_in("ely: is a town\n[step 2] > read next\nEly\nIt is old. It is small.")[0]
    Evidence(title='Ely', sentences=('It is old.', 'It is small.'))
    """
    first, entries = split_entries(memory)
    found = []
    for entry in entries:
        title, _, body = entry.text.strip().partition("\n")
        if body:
            found.append(Evidence(title, tuple(_sentences(body))))
    for line in first.splitlines():
        subject, colon, facts = line.partition(": ")
        if colon:
            stated = [fact.removeprefix("says ") for fact in facts.split("; ")]
            parts = [part for fact in stated for part in _sentences(fact)]
            found.append(Evidence(subject, tuple(parts)))
        elif line.strip():
            found.append(Evidence("", tuple(_sentences(line.strip()))))
    return found


def _stems(text: str) -> list[str]:
    """Return the first letters of each content word as its stem."""
    return [
        word[:_STEM_CHARS].replace("y", "i") for word in name_words(text) if word not in _STOP_WORDS
    ]


class _Weights:
    """Weights of the question's words by their rarity in the evidence (IDF)."""

    def __init__(self, question: str, evidence: Sequence[Evidence]):
        texts = [set(_stems(e.text)) for e in evidence]
        counts = Counter(stem for text in texts for stem in text)
        self.weight = {
            stem: math.log(1 + len(texts) / counts[stem])
            for stem in dict.fromkeys(_stems(question))
            if counts[stem]
        }

    def of(self, text: str) -> float:
        return sum(self.weight.get(stem, 0.0) for stem in dict.fromkeys(_stems(text)))


def _normalized(name: str) -> str:
    """Return a name without function words and punctuation, for comparison."""
    return " ".join(name_words(name))


def _is_covered_by(name: str, question: str) -> bool:
    return set(_stems(name)) <= set(_stems(question))


def bridge_from(question: str, evidence: Sequence[Evidence], *, but: str = "") -> str:
    """Return a name, not in ``but``, from the sentence closest to the question."""
    weights = _Weights(question, evidence)
    best, chosen = 0.0, ""
    for item in evidence:
        for sentence in item.sentences:
            score = weights.of(f"{item.title} {sentence}")
            for name in [item.title, *(n.text for n in names_in(sentence) if not n.date)]:
                if score > best and name and not _is_covered_by(name, f"{question} {but}"):
                    best, chosen = score, name
    return chosen


def answer_to(question: str, evidence: Sequence[Evidence]) -> str:
    """Return the best answer; ``unknown`` without evidence."""
    if not evidence:
        return "unknown"
    options = _alternatives(question)
    if options:
        return _choose_alternative(question, options, evidence)
    if _YES_NO.match(question):
        return _yes_or_no(question, evidence)
    weights = _Weights(question, evidence)
    totals: dict[str, float] = {}
    bridges = {_normalized(item.title): weights.of(item.text) for item in evidence}
    for item in evidence:
        lead = _lead_score(item, question, evidence, weights)
        for sentence in item.sentences:
            shared = weights.of(sentence) + weights.of(item.title) + lead
            for text, start, end in _candidates(question, item, sentence):
                near = (
                    sentence[max(start - _CONTEXT_CHARS, 0) : start]
                    + sentence[end : end + _CONTEXT_CHARS // 2]
                )
                score = shared + weights.of(near)
                score += _type_score(question, text, sentence[:start], evidence)
                # a passage that the question describes is seldom its answer
                score -= bridges.get(_normalized(text), 0.0)
                totals[text] = max(totals.get(text, 0.0), score)
    return max(totals, key=lambda text: totals[text]) if totals else "unknown"


def _lead_score(
    item: Evidence, question: str, evidence: Sequence[Evidence], weights: _Weights
) -> float:
    """Return the score of a passage that is named by another one but not by the question."""
    if not item.title or _is_covered_by(item.title, question):
        return 0.0
    others = (other for other in evidence if other.title != item.title)
    name = item.title.lower()
    pointing = [weights.of(other.text) for other in others if name in other.text.lower()]
    return max(pointing, default=0.0) / 2


def _candidates(question: str, item: Evidence, sentence: str) -> Iterator[tuple[str, int, int]]:
    lowered = question.lower()
    if re.search(r"\bhow (?!.*\bcalled\b)", lowered):
        for found in _NUMBER.finditer(sentence):
            yield found.group(), found.start(), found.end()
        return
    dates = re.search(r"\b(?:when|year|date|day|birthday|month)\b", lowered) is not None
    day = re.search(r"\b(?:day|date|birthday)\b", lowered) is not None
    for name in names_in(sentence):
        if day and " " not in name.text:
            continue
        if name.date == dates and not _is_covered_by(name.text, question):
            year = _YEAR.search(name.text) if "year" in lowered else None
            yield (year.group() if year else name.text), name.start, name.end
    if not dates and item.title and not _is_covered_by(item.title, question):
        yield item.title, 0, 0


def _type_score(question: str, text: str, before: str, evidence: Sequence[Evidence]) -> float:
    lowered = question.lower()
    score = 0.0
    if re.search(r"\bwho\b|\bwhom\b|\bwhose\b", lowered) and " " in text:
        score += 0.5
    if re.search(r"\b(?:where|town|city|village|country)\b", lowered) and _PLACE.search(before):
        score += 1.0
    kind = _KIND_WANTED.search(lowered)
    if kind:
        kinds = set(_stems(kind[1]))
        about = " ".join(e.text for e in evidence if e.title.lower() == text.lower())
        near = f"{before[-_CONTEXT_CHARS // 2 :]} {about[:200]} {text}"
        score += 1.5 * bool(kinds & set(_stems(near)))
    return score


def _alternatives(question: str) -> list[str]:
    found = re.search(r"([^,?:]+?),? or (?:the )?([^,?]+)", question)
    if found is None or _YES_NO.match(question):
        return []
    sides = [[n.text for n in names_in(side)] for side in (found[1], found[2])]
    return [sides[0][-1], sides[1][0]] if all(sides) else []


def _text_about(name: str, evidence: Iterable[Evidence]) -> str:
    wanted = set(name_words(name))
    return " ".join(e.text for e in evidence if wanted and wanted <= set(name_words(e.title)))


def _year_of(name: str, evidence: Sequence[Evidence]) -> int:
    found = _YEAR.search(_text_about(name, evidence))
    return int(found.group()) if found else 0


def _choose_alternative(question: str, options: Sequence[str], evidence: Sequence[Evidence]) -> str:
    if _BY_DATE.search(question):
        years = [_year_of(name, evidence) for name in options]
        if all(years):
            return options[(years[1] > years[0]) == bool(_LATER.search(question))]
    rest = question
    for name in options:
        rest = rest.replace(name, " ")
    weights = _Weights(rest, evidence)
    return max(options, key=lambda name: weights.of(_text_about(name, evidence)))


def _yes_or_no(question: str, evidence: Sequence[Evidence]) -> str:
    """Return ``yes`` or ``no``, by dates or by the facts about each name."""
    names = [name.text for name in names_in(question[question.index(" ") :]) if not name.date]
    if len(names) >= 2 and _BY_DATE.search(question):
        years = [_year_of(name, evidence) for name in names[:2]]
        if all(years):
            return "yes" if (years[0] > years[1]) == bool(_LATER.search(question)) else "no"
    sought = set(_stems(question)) - {stem for name in names for stem in _stems(name)}
    sought -= {stem for stem in sought if stem in ("both", "same")}
    shared = [sought & set(_stems(_text_about(name, evidence))) for name in names]
    return "yes" if shared and all(shared) else "no"
