"""Extraction rules for encyclopedic prose: a title, followed by sentences about it.

The subject of a sentence is the name at its start, or else the title. Each later name yields a
fact: the subject, the words before the name, the name. There is no other grammar, so a sentence
whose verb follows its names is misread. See ``docs/question-answering.md`` for an example.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gym_memory.core.records import Step, Task
from gym_memory.core.text import compound_spans, sentence_spans, words
from gym_memory.extract import Extraction
from gym_memory.extract.draft import Draft, unrewarded
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import clean_name

__all__ = ["ProseName", "ProseRules", "name_words", "names_in"]

_MAX_TEXT_CHARS = 20_000
_MAX_RELATION_WORDS = 10
_BRACKETS = re.compile(r"(?<!\s)\s*\([^()]*\)")
_KIND = re.compile(
    r"\b(?:is|was|are|were|became|remains) (?:also |now |best known as |known as )?"
    r"(?:an?|the|one of the) (?P<kind>[^.;:()]{3,120}?)"
    r"(?=$|[.;:,()]| (?:in|of|who|which|that|from|by|at|on|for|with|located|situated|"
    r"and (?:is|was)|directed|written|based|released|born|founded|best|known) )"
)
_PRONOUNS = frozenset(("he", "she", "it", "they", "this", "and", "which", "who", "that"))
_MAX_SHORT_WORDS = 3
_LIST = re.compile(
    r"^[\s,;]*(?:(?:and|or|&|as well as)[\s,]*)?(?:(?:the|a|an)\s*)?$", re.IGNORECASE
)
_PLACE = re.compile(r"\b(?:in|at|of|from|near|to)\s+(?:the\s+)?$", re.IGNORECASE)


class ProseRules:
    """Extraction rules for one passage."""

    general = True
    """True, since any English text yields facts, which says nothing about its game."""

    @unrewarded
    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """See :class:`~gym_memory.extract.Extractor`."""
        title, _, body = step.text[:_MAX_TEXT_CHARS].partition("\n")
        topic = _BRACKETS.sub("", title).strip(' "') or title.strip()
        if not topic or not body.strip():
            return Extraction()
        passage = _PassageDraft(graph, clean_name(topic), body)
        for sentence, start in sentence_spans(body, initials=True):
            passage.read(sentence, len(title) + 1 + start)
        stated = passage.extraction()
        return stated._replace(
            said=dict.fromkeys((m.triple for m in stated.mentions), passage.topic)
        )


class _PassageDraft(Draft):
    """An extraction of one passage, with its names so far."""

    def __init__(self, graph: TemporalGraph, topic: str, body: str):
        super().__init__(graph, latest=True)
        self.topic = topic
        self._body = body
        self._known: dict[str, list[str]] = {}
        self._forms: dict[str, str] = {}
        self._named: dict[str, bool] = {}  # first words of sentences
        self._learn(topic)

    def read(self, sentence: str, start: int) -> None:
        """Read a sentence that is not a question."""
        if sentence.endswith("?"):
            return
        names = names_in(sentence, start)
        subject, after = self.topic, start
        if names and _is_at_start(sentence, names[0].start - start) and self._is_name(names[0]):
            first = names.pop(0)
            subject, after = self._subject(first), first.end
            if subject != self.topic:
                self.add(self.topic, "mentions", subject, first.start, first.end)
        kind = _KIND.search(sentence, after - start)
        if kind is not None and _has_subject(sentence[after - start : kind.start()], after > start):
            span = start + kind.start("kind"), start + kind.end("kind")
            self.add(subject, "is", clean_name(kind["kind"]), *span)
        self._relate(subject, names, sentence, start, after)

    def _is_name(self, first: ProseName) -> bool:
        """True if the first word of a sentence is a name and not only capitalized."""
        if first.date or not name_words(first.text):
            return False
        if " " in first.text:
            return True
        return first.text.lower() in self._known or self._is_used_as_name(first.text)

    def _is_used_as_name(self, text: str) -> bool:
        """True if the passage has the word within a sentence or before a verb."""
        if text not in self._named:
            word = re.escape(text)
            within = re.search(rf"[\w,] {word}\b", self._body)
            verb = rf"\b{word}(?:['’]s|,? (?:is|was|are|were|has|had|also)\b)"
            self._named[text] = bool(within or re.search(verb, self._body))
        return self._named[text]

    def _subject(self, first: ProseName) -> str:
        """Return the subject at the start of a sentence.

        The first subject is a form of the title if they share a word: ``Neil Ellwood Peart`` under
        the title ``Neil Peart``.
        """
        words = name_words(first.text)
        if not self.mentions and not set(words).isdisjoint(name_words(self.topic)):
            for word in words:
                self._known.setdefault(word, []).append(self.topic)
            self._forms[clean_name(first.text)] = self.topic
        return self._resolve(first.text)

    def _relate(
        self, subject: str, names: list[ProseName], sentence: str, start: int, after: int
    ) -> None:
        relation, before = "", ""
        for name in names:
            between = sentence[after - start : name.start - start]
            obj = name.text.lower() if name.date else self._resolve(name.text)
            if before and between == ", " and not name.date and _PLACE.search(relation + " "):
                self.add(before, "located in", obj, name.start, name.end)
            elif not (relation and _LIST.match(between)):
                relation = _life_relation(between, name, relation) or _relation(between) or "with"
            if obj != subject:
                self.add(subject, relation, obj, name.start, name.end)
            before, after = "" if name.date else obj, name.end

    def _resolve(self, text: str) -> str:
        """Return the full name of a short form, and add new names."""
        name = clean_name(text)
        if name in self._forms:
            return self._forms[name]
        for full in self._known.get(name_words(name)[0] if name_words(name) else "", ()):
            if f" {name} " in f" {full} ":
                return full
        self._learn(name)
        return name

    def _learn(self, name: str) -> None:
        for word in name_words(name):
            self._known.setdefault(word, []).append(name)


def _is_at_start(sentence: str, at: int) -> bool:
    """True if at most an article precedes the position."""
    return sentence[:at].strip(' "“').lower() in ("", "the", "a", "an")


def _has_subject(gap: str, named: bool) -> bool:
    """True if *is* belongs to the subject despite the words between them.

    After a name, these may be brackets or an apposition; otherwise a pronoun or a short *the ...*.
    """
    gap = _BRACKETS.sub("", gap).strip().lower()
    if named:
        return not gap or gap[0] in ',"”'
    return gap in _PRONOUNS or (gap.startswith("the ") and len(gap.split()) <= _MAX_SHORT_WORDS)


def _life_relation(between: str, name: ProseName, relation: str) -> str:
    """Return the relation of a date in brackets, as in ``(April 1, 1954 – August 5, 1992)``."""
    between = between.strip()
    if name.date and between.startswith("(") and not re.search(r"\w", between):
        return "born" if " " in name.text else "from"
    if name.date and between in ("–", "-", "—"):
        return {"born": "died", "from": "until"}.get(relation, "until")
    return ""


def _relation(between: str) -> str:
    """Return the last words before a name."""
    text = between.removeprefix("'s").removeprefix("’s")
    leading = [word for word, _, _ in compound_spans(text, "'’-")]
    while len(leading) > 1 and leading[0] in _PRONOUNS:
        del leading[0]
    return " ".join(leading[-_MAX_RELATION_WORDS:]).removesuffix(" the").removesuffix(" a")


_CAPITAL = r"[^\W\d_a-zà-öø-ÿ]"
_WORD = rf"{_CAPITAL}(?:\.(?:{_CAPITAL}\.)*|[\w'’–-]*)"
_ABBREVIATED = r"(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Lt|Col|Gen|No|vs)\."
_PART = rf"(?:{_ABBREVIATED}|{_WORD})"
_LINK = r"(?:of the|of|de la|de|del|di|da|du|la|le|van der|van|von|der|al|bin|ibn|and|&)"
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = rf"(?:\d{{1,2}} (?:{_MONTH})|(?:{_MONTH})(?: \d{{1,2}})?)(?:,? \d{{4}})?|[12]\d{{3}}s?"
_NAME_OR_DATE = re.compile(
    r"[\"“](?P<quoted>[\w'’][^\"“”\n]{1,80})[\"”]"
    rf"|(?<![\w-])(?P<date>{_DATE})(?![\w-])"
    rf"|(?<!\w)(?P<name>{_PART}(?: (?:{_LINK} )?(?:{_PART}|\d+(?![\w,])))*)"
)
_MAX_NAME_CHARS = 100
_JOINED = re.compile(r" and ")
_DEMONYM = re.compile(
    r"\w{2,}(?:ian|ish|ese|ean|can|ch)|Dutch|Greek|Swiss|Thai|Czech|German|Roman|Norman|Iraqi|Israeli"
)

_SMALL_WORDS = """
a about above after again all although also among an and another any are as at be because been
before being between both but by can could did do does during each early either every few first
following for from had has have having he her here hers him his how however i if in into is it its
itself just last late later like many more most much my near neither no nor not notable now of off
often on once one only or other others our out over own per she since so some such than that the
their them then there these they this those though three through thus to today together two under
until up upon us was we were what when where whereas whether which while who whom whose why will
with within without would yet you your
"""
_COMMON_WORDS = frozenset(_SMALL_WORDS.split())
"""Capitalized words at the start of a sentence that are no names."""


class ProseName(NamedTuple):
    """A name without quotation marks; ``date`` is True for dates and years."""

    text: str
    start: int
    end: int
    date: bool = False


def names_in(text: str, start: int = 0) -> list[ProseName]:
    """Return the names in a sentence that starts at ``start``.

    >>> [name.text for name in names_in("In 1913 Ann Lee of Ely sang “The Sea” to the Duke.")]
    ['1913', 'Ann Lee of Ely', 'The Sea', 'Duke']
    """
    names: list[ProseName] = []
    for found in _NAME_OR_DATE.finditer(text):
        if found["quoted"] is not None:
            inner = found["quoted"].strip(" ,.;")
            if inner:
                names.append(ProseName(inner, start + found.start(), start + found.end()))
        elif found["date"] is not None:
            names.append(ProseName(found["date"], start + found.start(), start + found.end(), True))
        else:
            rest = text[found.start() : found.end() + 2]
            names += _split_run(found["name"], start + found.start(), rest)
    return names


def _split_run(text: str, start: int, rest: str) -> list[ProseName]:
    """Return the names in a run of capitalized words, without common words at the ends."""
    names = []
    begin = 0
    for cut in [*_JOINED.finditer(text), None]:
        end = cut.start() if cut else len(text)
        piece, at = text[begin:end], start + begin
        words = piece.split(" ")
        while words and words[0].lower() in _COMMON_WORDS:
            at += len(words.pop(0)) + 1
        if words and words[0].isdigit():  # "In 1913 Ann"
            number = words.pop(0)
            if len(number) == 4:
                names.append(ProseName(number, at, at + 4, True))
            at += len(number) + 1
        while words and words[-1].lower() in _COMMON_WORDS:
            words.pop()
        piece = " ".join(words)
        short = piece.removesuffix("'s").removesuffix("’s").rstrip("'’-–")
        following = rest[at - start + len(piece) : at - start + len(piece) + 2]
        adjective = _DEMONYM.fullmatch(short) and following[:1] == " " and following[1:].islower()
        if 1 < len(short) <= _MAX_NAME_CHARS and not adjective:
            names.append(ProseName(short, at, at + len(short)))
        begin = cut.end() if cut else end
    return names


def name_words(name: str) -> list[str]:
    """Return the distinctive words of a name, in lower case without punctuation.

    >>> name_words("Buechner & Orth, Jr.")
    ['buechner', 'orth', 'jr']
    """
    return [w for w in words(name) if w not in _COMMON_WORDS]
