"""Short answers to an action, which state that the action was done.

*Closed.*, *Okay.* and *It catches at once.* name nothing, so the action says what changed. An
answer that refuses, in any wording, changes nothing.
"""

from __future__ import annotations

import re

from gym_memory.core.text import words as split_words
from gym_memory.extract.effects import lose, perform
from gym_memory.extract.events import MOVING, ClausePart, Event, action_event, verbs_of
from gym_memory.extract.known import meant
from gym_memory.extract.notes.words import Phrase, verb_forms
from gym_memory.extract.placing import ROOM_ITSELF, relation
from gym_memory.extract.scene import Scene
from gym_memory.extract.things import NAME, SAME
from gym_memory.extract.wording import STOP
from gym_memory.graph.schema import INVENTORY, MEANS, clean_name, head_noun

__all__ = ["learn_word", "read_answer"]

_ONE_OF_SEVERAL = re.compile(
    r"^(?P<name>[\w' -]{2,40}): (?P<answer>[Tt]aken|[Dd]ropped|[Dd]one)\b", re.MULTILINE
)
_FIRST = re.compile(
    r"^\((?:taken|first (?P<doing>\w+ing (?!it\b)[\w' -]+))\)$", re.IGNORECASE | re.MULTILINE
)
"""Act that the agent does first, of itself: *(Taken)*, *(first opening the door)*."""
_DONE = re.compile(
    r"[ \t]*(?P<words>ok(?:ay)?|done|taken|dropped|got (?:it|them)|sure|as you wish|very well"
    r"|opened|closed|shut|locked|unlocked|lit|extinguished|eaten|drunk|placed|thrown"
    r"|(?:you|i) (?:now )?\w+ (?:it|them)(?: \w+){0,4}"
    r"|(?:it|that|they)(?:'s|'re| is| are) (?:now )?"
    r"(?:on|off|open|closed|shut|locked|unlocked|lit|done)(?: now)?"
    r")(?:[,.!](?! but\b)|$)",
    re.IGNORECASE,
)
"""First words of a line that grants the action."""
_REFUSED = re.compile(
    r"\b(?:can|could|would|should|must|might|need|fail\w*|refuse\w*|unable|already|nothing|no|not"
    r"|never"
    r"|none|\w+n't|too|but|which|what|how|why|huh|sorry|impossible|invalid|unknown|hardly|seems?"
    r"|appears?|stuck|wo|try|tries|tried|cannot|pardon|fixed|resists?|useless|first|before|only"
    r"|\w+'d|(?:in|im|un|ir)(?!credib|believab|forgettab)\w+[ai]bl[ey])\b|\?",
    re.IGNORECASE,
)
_VAGUE = re.compile(r"\b(?:it|that|they|them)\b", re.IGNORECASE)
_SOUND = re.compile(r"\w+(?<!ed)(?:[-,] ?\w+)?[.!]*")
"""One word or two that are no state: *Click*."""
_NAMES = re.compile(r"\b(?:an?|the|your|some|my) \w|(?<=[a-z,] )[A-Z][a-z]|\d")
_MANNER = re.compile(r" (?:with|to|in|at|for) (?:an?|the) (?:\w+ )?\w+(?=[.!,]|$)")
"""Words that say how something happens: *to a stop, with a soft click*."""
_PART = re.compile(
    r"(?:The|Its) (?P<part>[\w' -]+?) (?:is now (?P<now>\w+ing)"
    r"|(?!is|are|holds?|jams?|sticks?|stays?|remains?|flick)(?P<verb>\w+s)\b)"
)
"""Beginning of an answer in which a thing or its part does something: *the lock yields*."""
_MOVES = frozenset(form for verb in MOVING for form in verb_forms(verb))
_DESCRIBES = re.compile(r"(?:It|That|They)(?:'s|'re| is| are) ", re.IGNORECASE)
"""Beginning of an answer that says only what the thing is."""
_FAILS = re.compile(r"\b(?:dies|stops|out|off)\b")
_PARTS = {
    **dict.fromkeys(("lock", "unlock"), ("lock", "bolt", "latch", "key", "tumblers", "mechanism")),
    **dict.fromkeys(
        ("open", "close"),
        (
            "lid",
            "door",
            "cover",
            "hinges",
            "flap",
            "latch",
            "top",
            "cap",
            "cork",
            "stopper",
            "sash",
        ),
    ),
    **dict.fromkeys(("light", "extinguish"), ("flame", "wick", "light", "fire", "glow")),
}
"""Kinds of actions to the parts of a thing by which an answer says that they succeed."""
_LEAVES = re.compile(
    r"The [\w' -]+? (?:falls?|drops?|lands?|thuds?|clatters?|clangs?|rolls?|tumbles?|hits?"
    r"|bounces?|crashes|skitters?|flutters?|vanishes|disappears?|lies?)\b"
)
"""Beginning of an answer in which a thing leaves the hand and stays near."""
_FLIES = re.compile(
    r"(?:The [\w' -]+?|It) (?:flies|sails?|soars?|spins?|arcs?|whirls?|hurtles?|whistles?|glides?"
    r"|whizzes|goes flying|misses|strikes?|glances|streaks?)\b"
)
"""Beginning of an answer in which a thrown thing flies, perhaps far."""
_LANDS = re.compile(
    rf"(?:The (?P<thing>[\w' -]+?)|It) \w+s (?:\w+ly )?(?P<where>into|onto|through|over) "
    rf"(?P<place>the {NAME})(?: with .*)?{STOP}"
)
_FALLING = frozenset(("drop", "cast", "put"))
_ACTED = re.compile(
    r"(?:With [\w' ]+?,? )?(?:[Yy]ou|I) (?!find|see|feel|touch|hear|notice|examine|hit|miss|watch"
    r"|know|chase)\w+"
    r"(?: \w+ly| up| down| back| out| off)? (?:the|your|my) (?P<thing>[\w' -]+)"
)
"""Beginning of an answer in which the agent does something to a thing."""
_SETTLES = re.compile(
    rf"(?:It|They) (?:{'|'.join(f for v in verbs_of('settle') for f in verb_forms(v))}|fits?)\b"
    r"(?!.*\b(?:off|back|again|away|aside|floor|ground)\b)"
)
"""Beginning of an answer in which a thing goes where it is put."""
_MOST_CHARS = 80
_MOST_CHARS_BEFORE = 400
"""Characters of a text among which an acknowledgement ends."""
_LETTING_GO = frozenset(("drop", "cast"))
_INHERENT = frozenset(("consume",))
"""Kinds that an answer without a refusal grants: nobody says more of a taste."""
_MOVED = frozenset(("open", "close"))
_DARKENS = frozenset(("extinguish", "switch_off"))
_DARK = re.compile(r"\bdark(?:ness)?\b")
_SHINES = frozenset(("light", "switch_on"))
_BY_PRONOUN = frozenset(
    ("open", "close", "lock", "unlock", "light", "extinguish", "switch_on", "switch_off")
)
"""Kinds that an answer with a pronoun and without a refusal grants."""


def read_answer(draft: Scene, text: str) -> None:
    """Read what a short answer states about the action, or about each named thing."""
    listed = "aken" in text or "ropped" in text or "one" in text
    several = list(_ONE_OF_SEVERAL.finditer(text)) if listed else []
    for found in several:
        name = meant(draft, clean_name(found["name"]))
        if found["answer"].lower() == "done":
            _do_each(draft, found["name"], found.span())
        elif found["answer"].lower() == "taken":
            draft.add(name, "is in", INVENTORY, *found.span())
        else:
            draft.outdate(name, "is in", INVENTORY)
            draft.put(Phrase(name, (), *found.span()), moved=True)
    for found in _FIRST.finditer(text) if "(" in text else ():
        first = action_event(found["doing"]) if found["doing"] else None
        if first is not None and first.thing.text:
            perform(draft, first._replace(thing=ClausePart(_the(first.thing.text), -1)))
        elif not found["doing"] and draft.handled:
            draft.carry(Phrase(draft.handled, (), *found.span()))
    event = draft.event
    if event is None or not event.thing.text or (several and "put" not in event.kinds):
        return
    answer = text.strip(" \n*_~")
    span = _granted(text, event.kinds)
    if span is None and _grants(draft, event, answer):
        begin = text.index(answer)
        span = begin, begin + len(answer)
    if span is not None and len(draft.handled) > 1:  # no letter of an inventory
        _perform(draft, event, *span)
    elif not _FALLING.isdisjoint(event.kinds) and (lands := _LANDS.match(answer)):
        _land(draft, lands, text.index(answer))
    elif "cast" in event.kinds and _FLIES.match(answer) and draft.handled in draft.held:
        lose(draft, draft.handled)


def _do_each(draft: Scene, name: str, span: tuple[int, int]) -> None:
    """State that a thing of several was put where the action says."""
    event = draft.event
    if event is not None and "put" in event.kinds and event.holder.text and len(name) > 1:
        thing, holder = (
            ClausePart(_the(name), -1),
            event.holder._replace(text=_the(event.holder.text)),
        )
        perform(draft, event._replace(thing=thing, holder=holder))


def _land(draft: Scene, found: re.Match[str], start: int) -> None:
    """Read where what was let go of goes: *the anchor splashes into the lake*."""
    name, place = draft.handled, clean_name(found["place"])
    called = clean_name(found["thing"] or "")
    if name in draft.held and (not called or head_noun(called) == head_noun(name)):
        lose(draft, name)
        if found["where"] not in ("through", "over") and not ROOM_ITSELF.fullmatch(place):
            span = start + found.start("place"), start + found.end("place")
            draft.add(name, relation(found["where"]), meant(draft, place), *span)


def _agrees(words: str, kinds: tuple[str, ...]) -> bool:
    """True unless words state another end than that of the action: *it's locked* of *open*."""
    states = _STATES.intersection(split_words(words.lower()))
    wanted = {state for kind in kinds for state in _EFFECTS.get(kind, ())}
    return not states or not wanted or not wanted.isdisjoint(SAME.get(s, s) for s in states)


def _granted(text: str, kinds: tuple[str, ...]) -> tuple[int, int] | None:
    """Return the characters of a line that says that all went well."""
    begin = 0
    for line in text[:_MOST_CHARS_BEFORE].split("\n"):
        done = _DONE.match(line)
        if done is not None and not _REFUSED.search(done[0]) and _agrees(done["words"], kinds):
            return begin + done.start("words"), begin + done.end("words")
        begin += len(line) + 1
    return None


def _first_noun(words: str) -> str:
    return head_noun(words.partition(" and ")[0])


def _grants(draft: Scene, event: Event, answer: str) -> bool:
    """True if an answer without a refusal names nothing except the action's object.

    One that says what the agent did with the thing and its new place grants it, too, and one in
    which a dropped thing falls.
    """
    if len(answer) > _MOST_CHARS or _REFUSED.search(answer):
        return False
    kinds = set(event.kinds)
    if _DESCRIBES.match(answer) or (kinds & _SHINES and _FAILS.search(answer)):
        return False
    acted = _ACTED.match(answer)
    if acted is not None and any(_first_noun(acted["thing"]) in _PARTS.get(k, ()) for k in kinds):
        return True
    names = _NAMES.search(answer) is not None
    named = names and _NAMES.search(_MANNER.sub("", answer)) is not None
    part = _PART.match(answer)
    if part is not None and not named:
        called = event.thing.text.lower().removeprefix("the ")
        is_thing = part["part"].lower() in (called, draft.handled)
        moves = part["verb"] in _MOVES and kinds & _MOVED
        if any(part["part"] in _PARTS.get(kind, ()) for kind in kinds):
            return True
        if is_thing and (moves or (part["now"] and kinds & _SHINES)):
            return True
    if kinds & _DARKENS and _DARK.search(answer):
        return True
    if named or (names and not _VAGUE.search(answer)):
        words = set(split_words(answer.lower()))
        parts = {head_noun(part.text.lower()) for part in (event.thing, event.holder) if part.text}
        own = "put" in kinds and event.holder.text and answer.startswith(("You ", "I "))
        leaves = _LEAVES.match(answer) if kinds & _LETTING_GO else None
        acted = acted if "drop" in kinds and not event.holder.text else None
        dropped = acted is not None and head_noun(event.thing.text.lower()) in split_words(
            acted["thing"].lower()
        )
        worn = "take" in kinds and " your " in answer and answer.startswith("You ")
        return bool((own or leaves or dropped or worn) and parts <= words)
    short = _VAGUE.search(answer) or _SOUND.fullmatch(answer)
    settles = "put" in kinds and event.holder.text and _SETTLES.match(answer)
    return bool(kinds & _INHERENT or (kinds & _BY_PRONOUN and short) or settles)


def _perform(draft: Scene, event: Event, start: int, end: int) -> None:
    """State and end the effects of an action, with the answer as the evidence."""
    before = dict(draft.mentions)
    if "cast" in event.kinds and not event.holder.text:
        event = event._replace(kinds=("drop",))
    holder = event.holder._replace(text=_the(event.holder.text))
    thing = ClausePart(_the(draft.handled), -1) if " and " not in event.thing.text else event.thing
    perform(draft, event._replace(thing=thing, holder=holder))
    for triple, mention in draft.mentions.items():
        if triple not in before and mention.start <= 0:
            draft.mentions[triple] = mention._replace(start=start, end=end)


def _the(name: str) -> str:
    return f"the {name}" if name and name.split()[0] not in ("the", "a", "an") else name


def learn_word(draft: Scene) -> None:
    """Note that the word of the action means the one thing that the text says it happened to.

    *light lamp* and *The brass lantern is now on* speak of one thing, which is where the lamp is.
    """
    event = draft.event
    if event is None:
        return
    word = draft.handled
    if not word or _EFFECTS.keys().isdisjoint(event.kinds):
        return
    if word in draft.text or not draft.graph.knows(word):
        return
    states = {state for kind in event.kinds for state in _EFFECTS.get(kind, ())}
    found = {m.triple.subject for m in draft.mentions.values() if m.triple.relation == "is"
             and m.triple.object in states and m.start >= 0}  # fmt: skip
    if len(found) != 1:
        return
    thing = meant(draft, found.pop(), anywhere=True)
    if thing == word:  # the text calls it by fewer words
        return
    place = draft.graph.value(word, "location")
    if place is not None and place.object == INVENTORY:
        draft.add(thing, "is in", INVENTORY)
    for fact in draft.graph.outgoing(word):
        draft.outdate(*fact)
    draft.add(word, MEANS, thing)


_EFFECTS = {
    "light": ("lit", "on"), "switch_on": ("on", "lit"), "extinguish": ("off", "unlit"),
    "switch_off": ("off", "unlit"), "open": ("open",), "close": ("closed",),
    "lock": ("locked",), "unlock": ("unlocked",),
}  # fmt: skip
"""States that a text may report after a kind of event."""
_STATES = frozenset(("opened", "shut", *(s for states in _EFFECTS.values() for s in states)))
