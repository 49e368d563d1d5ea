"""A-MEM (2502.12110): observations as notes with keywords, tags and context, and links."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

from gym_memory.core.files import typed
from gym_memory.core.records import Cue, MemoryStats, Reason, Reasons, Recall, Step, Task
from gym_memory.core.settings import Help, checked
from gym_memory.core.text import letter_words
from gym_memory.extract import get_extractor
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, PLAYER, VERBATIM
from gym_memory.llm.base import ChatModel
from gym_memory.memory.base import CHARS_PER_TOKEN, Lifetime, Memory, check_budget, is_over
from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.encoders.vectors import VectorIndex
from gym_memory.memory.roles.llm import chat_model, role_counts
from gym_memory.memory.roles.llm_experience import LLMAnnotate, LLMLinkNotes
from gym_memory.memory.stores.stream import LONGEST, StreamRecord, fit_records

__all__ = ["AMem", "LinkedNote", "annotate", "link_notes"]

_LEAST_SHARED_KEYWORDS = 2
_MOST_KEYWORDS = 30
_MAX_ENCODED_CHARS = 4000


class LinkedNote(NamedTuple):
    """An observation, last made at step ``t``; ``links`` are places of other notes."""

    t: int
    text: str
    action: str
    context: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    links: tuple[int, ...] = ()

    @property
    def encoded(self) -> str:
        """Return the text that is searched: content, context, keywords and tags."""
        words = " ".join((*self.keywords, *self.tags))
        return f"{self.context} {words} {self.text}"[:_MAX_ENCODED_CHARS]


class AMem(Memory):
    """A-MEM: each observation is a note that is linked to its nearest notes.

    A new note gets keywords, tags and a context, and is compared with its ``neighbours`` by the
    cosine of content, context, keywords and tags. It is linked to some, and may change their
    context. A recall shows the ``k`` nearest notes, each followed by those linked to it, at most
    ``k`` more.

    Differences from the paper: rules write by default. Keywords are the nouns that the extraction
    rules find, the context is place and outcome, and notes with two keywords in common are linked.
    A link leads both ways. Retrievals are not counted, as nothing uses the count. An observation
    repeated word for word is one note.
    """

    name: ClassVar[str] = "amem"

    @checked
    def __init__(
        self,
        *,
        k: Annotated[int, Help("Notes to recall by similarity.", low=1)] = 5,
        neighbours: Annotated[int, Help("Notes to compare a new one with; 5.", low=0)] = 5,
        lifetime: Annotated[Lifetime, Help("Time that the notes are kept.")] = "episode",
        encoder: Annotated[str, Help("Encoder; all-MiniLM-L6-v2 in the paper.")] = "hash",
        llm: Annotated[
            str | ChatModel | None, Help("Chat model, or its spec, that annotates and links.")
        ] = None,
    ):
        self.k, self.neighbours, self.lifetime = k, neighbours, lifetime
        self.lifetimes = {"notes": lifetime}
        self.encoder = make_encoder(encoder)
        model = chat_model(llm)
        self._annotate = LLMAnnotate.or_rule(model, annotate)
        self._link = LLMLinkNotes.or_rule(model, link_notes)
        self._task = Task("", "")
        self._clear([])

    def _clear(self, notes: Sequence[LinkedNote]) -> None:
        self._notes = list(notes)
        self._place = {(note.action, note.text): place for place, note in enumerate(notes)}
        self._index = VectorIndex(self.encoder.dim)
        self._stale = dict.fromkeys(range(len(notes)))

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode; clear the notes if their lifetime is over."""
        if is_over(self.lifetime, self._task, task):
            self._clear([])
        self._task = task

    def observe(self, step: Step) -> None:
        """Add a note and link it; of a repeated observation, change the time."""
        if self.lifetime == "step":
            self._clear([])
        step = step._replace(text=step.text[:LONGEST].strip())
        place = self._place.setdefault((step.action, step.text), len(self._notes))
        if place < len(self._notes):
            self._notes[place] = self._notes[place]._replace(t=step.t)
            return
        keywords, tags, context = self._annotate(step, self._task)
        words = tuple(dict.fromkeys(keywords))[:_MOST_KEYWORDS]
        note = LinkedNote(step.t, step.text, step.action, context, words, tuple(tags))
        near = [place for place, _ in self._nearest(note.encoded, self.neighbours)]
        others = [(self._notes[n].text, self._notes[n].keywords) for n in near]
        links, contexts = self._link(note.text, words, others) if others else ([], {})
        for n, new in contexts.items():
            self._notes[near[n]] = self._notes[near[n]]._replace(context=new)
            self._stale[near[n]] = None
        linked = tuple(dict.fromkeys(near[n] for n in links))
        self._notes.append(note._replace(links=linked))
        self._stale[place] = None
        for n in linked:
            other = self._notes[n]
            self._notes[n] = other._replace(links=(*other.links, place))

    def _nearest(self, text: str, count: int) -> list[tuple[int, float]]:
        if self._stale:
            places = list(self._stale)
            texts = [self._notes[place].encoded for place in places]
            self._index.add(places, self.encoder.encode(texts))
            self._stale = {}
        if not count or not text.strip():
            return []
        query = self.encoder.encode([text[:_MAX_ENCODED_CHARS]])
        return self._index.search(query, count)[0]

    def _ranked(self, cue: Cue) -> Iterator[tuple[LinkedNote, Reason]]:
        found = self._nearest(f"{cue.focus} {cue.text}", self.k + 1)
        own = {place for place, _ in found if self._notes[place].text == cue.text.strip()}
        near = [pair for pair in found if pair[0] not in own][: self.k]
        given, linked = own | {place for place, _ in near}, 0
        for place, score in near:
            yield self._notes[place], Reason("similar to what is seen or planned", round(score, 4))
            for other in self._notes[place].links:
                if other not in given and linked < self.k:
                    given.add(other)
                    linked += 1
                    yield self._notes[other], Reason(f"linked to step {self._notes[place].t}")

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the nearest notes and those linked to them; ``episodes`` has them by rank."""
        room = check_budget(budget) * CHARS_PER_TOKEN + 1  # the last line has no break
        records = (
            StreamRecord(note.t, f"{note.text}\n({note.context})", note.action)
            for note, _ in self._ranked(cue)
        )
        kept = fit_records(records, room)
        text = "\n".join(piece for _, piece in sorted(kept, key=lambda pair: pair[0].t))
        return Recall(text, episodes=tuple(record.text for record, _ in kept))

    def reasons(self, cue: Cue, budget: int) -> Reasons:
        """Give the similarity of each note, or the note that it is linked to."""
        shown = len(self.recall(cue, budget).episodes)
        found = itertools.islice(self._ranked(cue), shown)
        return Reasons(episodes=tuple(reason for _, reason in found))

    def state(self) -> dict[str, Any]:
        """Return the notes."""
        return {
            "task": list(self._task),
            "notes": [
                [*note[:4], list(note.keywords), list(note.tags), list(note.links)]
                for note in self._notes
            ],
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        count = len(state["notes"])
        notes = []
        for *plain, keywords, tags, links in state["notes"]:
            if not all(isinstance(n, int) and 0 <= n < count for n in links):
                raise ValueError(f"expected links to {count} notes, got {links!r:.80}")
            notes.append(typed(LinkedNote, [*plain, tuple(keywords), tuple(tags), tuple(links)]))
        self._task = typed(Task, state["task"])
        self._clear(notes)

    def stats(self) -> MemoryStats:
        """Return the number of notes, the size of the last recall and the calls of a model."""
        counts = role_counts(self._annotate, self._link)
        return MemoryStats(
            episodes=len(self._notes), extraction_calls=counts.calls, fallbacks=counts.fallbacks
        )


def annotate(step: Step, task: Task) -> tuple[list[str], list[str], str]:
    """Return the nouns that the extraction rules find, tags, and place with outcome.

    A text without facts has its words of four letters and more as keywords.
    """
    found = get_extractor(task.dialect).extract(step, TemporalGraph(), task)
    facts = [mention.triple for mention in found.mentions]
    place = next((f.object for f in facts if f.subject == PLAYER and f.relation == "is in"), "")
    names = [
        part
        for fact in facts
        for part in ((fact.subject,) if fact.relation in VERBATIM else (fact.subject, fact.object))
    ]
    nouns = [name for name in dict.fromkeys(names) if name not in (PLAYER, INVENTORY, "north",
             "south", "east", "west", "open", "closed")]  # fmt: skip
    keywords = nouns or letter_words(step.text[:_MAX_ENCODED_CHARS], least=4)
    outcome = f"{step.reward:+g} points" if step.reward else "the end" if step.done else ""
    verb = step.action.partition(" ")[0]
    context = ", ".join(part for part in (place, outcome) if part) or "somewhere"
    return keywords, [tag for tag in (place, verb, outcome) if tag], context


def link_notes(
    note: str, keywords: Sequence[str], neighbours: Sequence[tuple[str, Sequence[str]]]
) -> tuple[list[int], dict[int, str]]:
    """Link a note to the neighbours that share at least two keywords; change no context.

    >>> link_notes("", ["fridge", "apple", "milk"], [("", ["apple", "fridge"]), ("", ["milk"])])
    ([0], {})
    """
    own = set(keywords)
    shared = (len(own.intersection(other)) for _, other in neighbours)
    return [n for n, count in enumerate(shared) if count >= _LEAST_SHARED_KEYWORDS], {}
