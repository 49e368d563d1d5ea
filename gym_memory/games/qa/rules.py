"""Rules for encyclopedic prose: a title, then sentences about it.

Every sentence has a subject: the name it begins with, or what the passage is about where it
begins with anything else (*he*, *the town*, *in 1913*). What is said is a fact for each further
name: the subject, the words that lead to the name, the name::

    Mountrail County Courthouse
    The Mountrail County Courthouse in Stanley, North Dakota was built in 1914. It was designed by
    architects Buechner & Orth.

    mountrail county courthouse, in, stanley
    stanley, located in, north dakota
    mountrail county courthouse, was built in, 1914
    mountrail county courthouse, was designed by architects, buechner & orth

and one fact that says what the subject is (*is a town*). A short form (*Porcaro*) means the last
name of the passage that it is a part of. There is no grammar here beyond that: a sentence whose
verb stands behind its names is read wrongly, and the passage itself stays in the episodic memory.
"""

from __future__ import annotations

import re

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import EXTRACTORS
from gym_memory.extract.base import Extraction, Mention
from gym_memory.extract.notes.words import clean_name
from gym_memory.games.qa.rules_names import Name, names_in, words_of
from gym_memory.graph import TemporalGraph

__all__ = ["ProseRules"]

_MAX_TEXT_CHARS = 20_000
_MOST_WORDS = 10
_SENTENCE = re.compile(
    r"[^\n]+?(?:(?<![A-Z])(?<!\b[A-Z][a-z])[.!?]{1,8}[\"”)]*(?=\s|$)|$)", re.MULTILINE
)
_BRACKETS = re.compile(r"(?<!\s)\s*\([^()]*\)")
_KIND = re.compile(
    r"\b(?:is|was|are|were|became|remains) (?:also |now |best known as |known as )?"
    r"(?:an?|the|one of the) (?P<kind>[^.;:()]{3,120}?)"
    r"(?=$|[.;:,()]| (?:in|of|who|which|that|from|by|at|on|for|with|located|situated|"
    r"and (?:is|was)|directed|written|based|released|born|founded|best|known) )"
)
_PRONOUNS = frozenset(("he", "she", "it", "they", "this", "and", "which", "who", "that"))
_SHORT = 3
_LIST = re.compile(
    r"^[\s,;]*(?:(?:and|or|&|as well as)[\s,]*)?(?:(?:the|a|an)\s*)?$", re.IGNORECASE
)
_PLACE = re.compile(r"\b(?:in|at|of|from|near|to)\s+(?:the\s+)?$", re.IGNORECASE)


@EXTRACTORS.register("prose")
class ProseRules:
    """What a passage says of the names in it."""

    general = True
    """Whether any English text may be read, so that finding facts tells nothing of its author."""

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Facts of one step; see :class:`~gym_memory.extract.base.Extractor`."""
        title, _, body = step.text[:_MAX_TEXT_CHARS].partition("\n")
        topic = _BRACKETS.sub("", title).strip(' "') or title.strip()
        if not topic or not body.strip():
            return Extraction()
        passage = _Passage(clean_name(topic), body)
        for found in _SENTENCE.finditer(step.text, len(title) + 1, _MAX_TEXT_CHARS):
            passage.read(found.group(), found.start())
        return Extraction(tuple({m.triple: m for m in reversed(passage.mentions)}.values())[::-1])


class _Passage:
    """Reads the sentences of one passage."""

    def __init__(self, topic: str, body: str):
        self.topic = topic
        self._body = body
        self.mentions: list[Mention] = []
        self._known: dict[str, list[str]] = {}
        self._forms: dict[str, str] = {}
        self._named: dict[str, bool] = {}  # words that sentences begin with
        self._learn(topic)

    def read(self, sentence: str, start: int) -> None:
        """Facts of one sentence; questions state nothing."""
        if sentence.rstrip().endswith("?"):
            return
        names = names_in(sentence, start)
        subject, after = self.topic, start
        if names and _starts(sentence, names[0].start - start) and self._is_name(names[0]):
            first = names.pop(0)
            subject, after = self._subject(first), first.end
            if subject != self.topic:
                self._say(self.topic, "mentions", subject, first.start, first.end)
        kind = _KIND.search(sentence, after - start)
        if kind is not None and _is_of(sentence[after - start : kind.start()], after > start):
            span = start + kind.start("kind"), start + kind.end("kind")
            self._say(subject, "is", clean_name(kind["kind"]), *span)
        self._relate(subject, names, sentence, start, after)

    def _is_name(self, first: Name) -> bool:
        """Whether what a sentence begins with is a name, and not any word in capitals."""
        if first.date or not words_of(first.text):
            return False
        if " " in first.text:
            return True
        return first.text.lower() in self._known or self._is_used_as_name(first.text)

    def _is_used_as_name(self, text: str) -> bool:
        """Whether the passage has the word within a sentence, or before a verb."""
        if text not in self._named:
            word = re.escape(text)
            within = re.search(rf"[\w,] {word}\b", self._body)
            verb = rf"\b{word}(?:['’]s|,? (?:is|was|are|were|has|had|also)\b)"
            self._named[text] = bool(within or re.search(verb, self._body))
        return self._named[text]

    def _subject(self, first: Name) -> str:
        """The subject that a sentence begins with.

        The first one is another form of the title where the two share a word: ``Neil Ellwood
        Peart`` under the title ``Neil Peart``.
        """
        words = words_of(first.text)
        if not self.mentions and not set(words).isdisjoint(words_of(self.topic)):
            for word in words:
                self._known.setdefault(word, []).append(self.topic)
            self._forms[clean_name(first.text)] = self.topic
        return self._resolve(first.text)

    def _relate(
        self, subject: str, names: list[Name], sentence: str, start: int, after: int
    ) -> None:
        relation, before = "", ""
        for name in names:
            between = sentence[after - start : name.start - start]
            obj = name.text.lower() if name.date else self._resolve(name.text)
            if before and between == ", " and not name.date and _PLACE.search(relation + " "):
                self._say(before, "located in", obj, name.start, name.end)
            elif not (relation and _LIST.match(between)):
                relation = _life(between, name, relation) or _relation(between) or "with"
            if obj != subject:
                self._say(subject, relation, obj, name.start, name.end)
            before, after = "" if name.date else obj, name.end

    def _say(self, subject: str, relation: str, obj: str, start: int, end: int) -> None:
        self.mentions.append(Mention(Triple(subject, relation, obj), start, end))

    def _resolve(self, text: str) -> str:
        """The full name that a short form stands for; a name that is new is learnt."""
        name = clean_name(text)
        if name in self._forms:
            return self._forms[name]
        for full in self._known.get(words_of(name)[0] if words_of(name) else "", ()):
            if f" {name} " in f" {full} ":
                return full
        self._learn(name)
        return name

    def _learn(self, name: str) -> None:
        for word in words_of(name):
            self._known.setdefault(word, []).append(name)


def _starts(sentence: str, at: int) -> bool:
    """Whether nothing but an article stands before the position."""
    return sentence[:at].strip(' "“').lower() in ("", "the", "a", "an")


def _is_of(gap: str, named: bool) -> bool:
    """Whether what stands between the subject and *is* leaves *is* to the subject.

    Nothing, brackets or an apposition after a name; else a pronoun or a short *the ...*.
    """
    gap = _BRACKETS.sub("", gap).strip().lower()
    if named:
        return not gap or gap[0] in ',"”'
    return gap in _PRONOUNS or (gap.startswith("the ") and len(gap.split()) <= _SHORT)


def _life(between: str, name: Name, relation: str) -> str:
    """Dates of a life in brackets: ``(April 1, 1954 – August 5, 1992)``, or years."""
    between = between.strip()
    if name.date and between.startswith("(") and not re.search(r"\w", between):
        return "born" if " " in name.text else "from"
    if name.date and between in ("–", "-", "—"):
        return {"born": "died", "from": "until"}.get(relation, "until")
    return ""


def _relation(between: str) -> str:
    """The words that lead to a name, the last ones of many."""
    words = re.findall(r"\w[\w'’-]*", between.lower().removeprefix("'s").removeprefix("’s"))
    while len(words) > 1 and words[0] in _PRONOUNS:
        del words[0]
    return " ".join(words[-_MOST_WORDS:]).removesuffix(" the").removesuffix(" a")
