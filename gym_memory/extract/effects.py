"""Effects of events on facts: things change owner, place or state, or cease to exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gym_memory.core.records import Triple
from gym_memory.extract.events import (
    IMMATERIAL,
    INTANGIBLE,
    PLACING,
    RESULTS,
    SELVES,
    ClausePart,
    Event,
)
from gym_memory.extract.known import meant
from gym_memory.extract.notes.words import (
    CONTAINER,
    KEY,
    SUPPORTER,
    Phrase,
    kind_of_noun,
    names_person,
)
from gym_memory.extract.placing import POSSESSION, ROOM_ITSELF, find_things, relation_for
from gym_memory.extract.scene import Scene
from gym_memory.extract.things import END_OF, STATE_SYNONYMS, WITH_ARTICLE, is_name
from gym_memory.extract.wording import phrases
from gym_memory.graph.schema import DIRECTIONS, INVENTORY, LOCATIONS, clean_name, head_noun

__all__ = ["end_state", "lose", "perform", "remove", "things_of"]

_INTO_OR_ONTO = frozenset(("in", "inside", "into", "on", "onto", "upon", "under", "beneath"))
_GIVING = frozenset(("give", "put", "give_back", "cast"))
_ENDS_TO_YOU = (" to you", " to me", " to us", " toward you", " towards you")
_TO_YOU = re.compile(r"(?:you|me|us) ", re.IGNORECASE)
_PERSONAL_PRONOUNS = ("he", "she")
_OTHERS = re.compile(r"(?:his|her|its|their|my) ", re.IGNORECASE)
_GENITIVE = re.compile(r"^[\w -]+'s ")
_ASIDE = re.compile(rf" (?:{'|'.join(PLACING)}) (?:the|an?|your|its) .*")
"""Words after a subject for its place."""
_RECEIVER_AND_THING = re.compile(
    r"(?P<who>(?:the|an?|his|her) \w+|[A-Z]\w+) "
    r"(?P<thing>(?:an?|the|your|my|his|her|some|one|two|\d+) .+)"
)
"""Receiver, then thing: *you give the clerk a coin*."""
_AGENT_OR_HANDS = re.compile(
    r"(?:your|my) (?:\w+ )?(?:hands?|arms|palm|pack|pocket|inventory)|you|me"
)
_DESTINATION = re.compile(r"(?:^| )to (?P<there>the [\w' -]+)$")
_PUSHING = ("press", "push", "thrust", "slide", "slip", "stick", "move")
"""Verbs that put a thing somewhere only with *into* or *onto*."""
_LIGHTS = frozenset(
    ("lamp", "lantern", "torch", "candle", "fire", "flame", "match", "light", "lights", "fireplace")
)
_AWAY = re.compile(
    rf"(?:(?:to the )?(?:{'|'.join(DIRECTIONS)})|away|off|out|through|towards?|the (?:room|area"
    rf"|game|building|place)"
    r"|upstairs|downstairs|inside|outside|home|into (?!the room|view)"
    rf"|(?:up|down|along) the (?:[\w-]+ )?(?:{'|'.join(phrases('ways'))}))\b"
)
_OPENS_ONTO = re.compile(rf"(?:to the )?(?:{'|'.join(DIRECTIONS)}|onto|into|on|upon|off|from)\b")
"""Words after *opens* that say where a way leads."""
_LEAVES_PLACE = (
    *("off", "from the ", "from your ", "from its ", "out of your "),
    *("to the floor", "to the ground", "to the deck"),
)
"""Words after *falls* that say that a thing leaves its place."""
_NEW_PLACE = re.compile(r" (?P<where>into|onto) (?P<place>(?:the|an?) [\w' -]+)$")
_FLOOR = ("floor", "ground")
_NO_ARRIVALS = ("to ", "as ", "too ", "early", "late", "on time", "every ", "only ")
"""Words after *arrive* or *appear* with which nothing arrives here and now."""


def perform(draft: Scene, event: Event) -> bool:
    """Apply the effects of an event; return False if it has none."""
    own = event.subject.text.lower() in SELVES
    if not own and not _GIVING.isdisjoint(event.kinds):
        if event.tail.endswith(_ENDS_TO_YOU):
            return _gain(draft, event, own=True)
        if _TO_YOU.match(event.thing.text):
            sold = event.holder if event.preposition == "for" else ClausePart("", -1)
            for phrase in things_of(draft, sold, carried=True):
                lose(draft, phrase.name)
            return _give(draft, event, own)
    for kind in event.kinds:
        if kind in RESULTS:
            done = _change(draft, event, RESULTS[kind], own)
        else:
            done = _EFFECTS[kind](draft, event, own)
        if done:
            return True
    return False


# Parts of an event


def things_of(draft: Scene, part: ClausePart, *, carried: bool | None = None) -> Iterator[Phrase]:
    """Yield the things that a part of an event names, under their known names."""
    if part.start < 0 and not part.text:
        return
    start = max(part.start, 0)
    if part.is_pronoun:
        if draft.topic and draft.topic != draft.room:
            yield Phrase(draft.topic, (), start, start + len(part.text))
        return
    owner = _OTHERS.match(part.text) or END_OF.match(part.text)
    text = part.text[owner.end() :] if owner else part.text
    bare = owner is not None or part.start < 0 or text[:1].isupper() or text[:1].isdigit()
    event = draft.event
    bare = bare or draft.graph.knows(text) or (event is not None and text == event.thing.text)
    for phrase in find_things(draft, text, start + len(part.text) - len(text), bare=bare):
        name = draft.thing_called(phrase.name, carried=carried)
        noun = head_noun(phrase.name.partition(" and ")[0])
        if noun not in INTANGIBLE or draft.graph.knows(name):
            draft.topic = name
            yield phrase if name == phrase.name else phrase._replace(name=name)


def _known_things(draft: Scene, part: ClausePart, *, carried: bool | None = None) -> list[Phrase]:
    return [p for p in things_of(draft, part, carried=carried) if draft.graph.knows(p.name)]


def _affected(draft: Scene, part: ClausePart, own: bool) -> list[Phrase]:
    """Return the things that an event affects; unknown ones only if the agent acts."""
    return list(things_of(draft, part)) if own else _known_things(draft, part)


def _unowned(text: str) -> str:
    return clean_name(text).removeprefix("your ").removeprefix("my ")


def _subject_name(draft: Scene, event: Event) -> str:
    """Return the name of an event's subject."""
    if event.subject.is_pronoun:
        return draft.topic
    if event.subject.text.lower() in _PERSONAL_PRONOUNS:
        return draft.person
    name = _unowned(event.subject.text)
    if draft.graph.knows(name):
        return name
    return meant(draft, _GENITIVE.sub("", _ASIDE.sub("", name)))


def _is_actor(draft: Scene, event: Event) -> bool:
    """True if the subject can act: a person, a proper name or a known thing."""
    name = _subject_name(draft, event)
    bare = event.subject.text[:1].isupper() and name == event.subject.text.lower()
    return bare or names_person(name) or draft.graph.knows(name)


def remove(draft: Scene, name: str) -> None:
    """End the place of a thing and of its contents, even a place that this text states."""
    moved = draft.moved.pop(name, None)
    if moved is not None:
        draft.mentions.pop(moved, None)
    for place in sorted(LOCATIONS):
        draft.outdate(name, place, None)
    for fact in draft.contents(name):
        draft.outdate(*fact)


def lose(draft: Scene, name: str) -> None:
    """End the fact that a thing is carried."""
    draft.outdate(name, "is in", INVENTORY)


def end_state(draft: Scene, name: str, *states: str) -> None:
    """End states of a thing."""
    for state in states:
        draft.outdate(name, "is", STATE_SYNONYMS.get(state, state))


# Effects by kind of event; each function returns False if the event has no effect


def _take(draft: Scene, event: Event, own: bool) -> bool:
    if own:
        things = list(things_of(draft, event.thing, carried=False))
        for phrase in things:
            draft.carry(phrase)
        return bool(things)
    who = _subject_name(draft, event) if event.subject.text else ""
    things = _known_things(draft, event.thing)
    for phrase in things:
        if head_noun(who) in IMMATERIAL:
            remove(draft, phrase.name)
        elif is_name(who):
            draft.place(phrase, "is carried by", who)
        elif not event.subject.text or event.subject.text.lower() in _PERSONAL_PRONOUNS:
            remove(draft, phrase.name)
    return bool(things)


def _draw(draft: Scene, event: Event, own: bool) -> bool:
    """Read ``You draw the knife from the block``, but not ``You draw the curtain``."""
    out = event.preposition in ("from", "off") or event.tail.rpartition(" out of ")[1] != ""
    return own and out and " to " not in event.tail and _take(draft, event, own)


def _drop(draft: Scene, event: Event, own: bool) -> bool:
    if event.preposition in _INTO_OR_ONTO and head_noun(event.holder.text.lower()) not in _FLOOR:
        return False
    if not own and not _is_actor(draft, event):
        return False
    things = list(things_of(draft, event.thing, carried=True if own else None))
    for phrase in things:
        lose(draft, phrase.name)
        draft.put(phrase, moved=True)
    return bool(things)


def _put(draft: Scene, event: Event, own: bool) -> bool:
    where = event.preposition
    if event.holder.text == "fire":  # set on fire
        return False
    if where not in _INTO_OR_ONTO and where not in ("to", "from"):
        return False
    place = event.holder.text.lower()
    if not own and _AGENT_OR_HANDS.fullmatch(place):
        return _gain(draft, event, own=True)
    moved = _DESTINATION.search(event.tail) if event.verb.startswith("move") else None
    if moved is not None:
        place = moved["there"]
        where = {CONTAINER: "in", SUPPORTER: "on"}.get(kind_of_noun(place), where)
    elif where == "to" or (where in ("in", "on", "under") and event.verb.startswith(_PUSHING)):
        return False
    if where not in _INTO_OR_ONTO:
        return False
    things = _affected(draft, event.thing, own or _is_actor(draft, event))
    for phrase in things:
        if ROOM_ITSELF.fullmatch(clean_name(place)):
            lose(draft, phrase.name)
            draft.put(phrase, moved=True)
        elif POSSESSION.fullmatch(place):
            draft.place(phrase, "is in", INVENTORY)
        elif is_name(holder := meant(draft, _unowned(place))):
            draft.place(phrase, relation_for(where), holder)
            draft.outdate(holder, "is", "empty")
    return bool(things)


def _give(draft: Scene, event: Event, own: bool) -> bool:
    to_you = _TO_YOU.match(event.thing.text)
    if to_you is not None:
        rest = ClausePart(event.thing.text[to_you.end() :], event.thing.start + to_you.end())
        return _gain(draft, event._replace(thing=rest), own=True)
    if event.preposition != "to":
        found = _RECEIVER_AND_THING.fullmatch(event.thing.text)
        if event.preposition or found is None:
            return False
        start = event.thing.start
        event = event._replace(
            preposition="to",
            thing=ClausePart(found["thing"], start + found.start("thing")),
            holder=ClausePart(found["who"], start),
        )
    if not own and _AGENT_OR_HANDS.fullmatch(event.holder.text.lower()):
        return _gain(draft, event, own=True)
    receiver = meant(draft, clean_name(event.holder.text))
    things = _affected(draft, event.thing, own)
    for phrase in things if is_name(receiver) else ():
        draft.place(phrase, "is carried by", receiver)
    return bool(things)


def _give_back(draft: Scene, event: Event, own: bool) -> bool:
    """Read ``Ann returns your watch``."""
    receiver = meant(draft, clean_name(event.holder.text))
    if event.preposition == "to" and not (names_person(receiver) or draft.graph.knows(receiver)):
        things = _affected(draft, event.thing, own)
        for phrase in things:
            remove(draft, phrase.name)  # he returns it to its place
        return bool(things)
    if own or event.preposition == "to":
        return _give(draft, event, own)
    return _gain(draft, event, own=True)


def _cast(draft: Scene, event: Event, own: bool) -> bool:
    """Read ``You throw the knife``: wherever it lands, it is no longer carried."""
    things = list(things_of(draft, event.thing, carried=True)) if own else []
    thrown = [phrase for phrase in things if phrase.name in draft.held]
    for phrase in thrown:
        lose(draft, phrase.name)
    return bool(thrown)


def _gain(draft: Scene, event: Event, own: bool) -> bool:
    things = list(things_of(draft, event.thing, carried=False)) if own else []
    for phrase in things:
        draft.carry(phrase)
    return bool(things)


def _wear(draft: Scene, event: Event, own: bool) -> bool:
    """Read ``You put on the hat``, but not ``You put on the light``."""
    light = _is_light(event.thing.text.lower())
    worn = not event.preposition or event.holder.text.lower().startswith(("your ", "my "))
    return worn and not light and _gain(draft, event, own)


def _make(draft: Scene, event: Event, own: bool) -> bool:
    new = re.match(r"an? |\d+ |some ", event.thing.text) is not None
    return new and _gain(draft, event, own)


def _attach(draft: Scene, event: Event, own: bool) -> bool:
    """Read ``You tie the rope to the post``."""
    holder = meant(draft, clean_name(event.holder.text))
    if event.preposition not in ("to", "onto", "on", "around", "round") or not is_name(holder):
        return False
    things = _affected(draft, event.thing, own)
    for phrase in things:
        draft.place(phrase, "is on", holder)
    return bool(things)


def _follow(draft: Scene, event: Event, own: bool) -> bool:
    """Read ``Ann follows you``: she is where the agent is."""
    if (
        own
        or not _AGENT_OR_HANDS.fullmatch(event.thing.text.lower())
        or not _is_actor(draft, event)
    ):
        return False
    start = max(event.subject.start, 0)
    draft.put(
        Phrase(_subject_name(draft, event), (), start, start + len(event.subject.text)), moved=True
    )
    return True


def _fill(draft: Scene, event: Event, own: bool) -> bool:
    """Read ``You fill the flask with water``."""
    things = _affected(draft, event.thing, own)
    for phrase in things:
        end_state(draft, phrase.name, "empty")
        content = clean_name(event.holder.text)
        if event.preposition == "with" and is_name(content):
            draft.place(phrase._replace(name=meant(draft, content)), "is in", phrase.name)
    return bool(things)


def _lose(draft: Scene, event: Event, own: bool) -> bool:
    if not own and event.tail == "it over" and event.thing.is_pronoun and draft.aim == draft.topic:
        return _gain(draft, event, own=True)  # the agent asked for it
    parts = (event.thing, event.holder) if event.preposition == "with" else (event.thing,)
    given = _RECEIVER_AND_THING.fullmatch(event.thing.text) if own else None
    if given is not None:  # you pay the clerk a coin
        start = event.thing.start + given.start("thing")
        parts = (ClausePart(given["thing"], start),)
    lost = False
    for part in parts if own else ():
        for phrase in things_of(draft, part, carried=True):
            lost = True
            lose(draft, phrase.name)
    return lost


def _swap(draft: Scene, event: Event, own: bool) -> bool:
    """Read ``You swap the knife for a lamp``."""
    if event.preposition == "for" and event.holder.text.startswith("the "):  # not: for a ride
        _gain(draft, event._replace(thing=event.holder), own)
    return _lose(draft, event, own)


def _accept(draft: Scene, event: Event, own: bool) -> bool:
    return (not own or event.preposition == "from") and _take(draft, event, own)


def _consume(draft: Scene, event: Event, own: bool) -> bool:
    things = _affected(draft, event.thing, own)
    for phrase in things:
        draft.place(phrase, "is", "consumed")
        remove(draft, phrase.name)
    return bool(things)


def _destroy(draft: Scene, event: Event, own: bool) -> bool:
    things = _known_things(draft, event.thing)
    for phrase in things:
        remove(draft, phrase.name)
    return bool(things)


def _vanish(draft: Scene, event: Event, own: bool) -> bool:
    name = _subject_name(draft, event)
    dims = _is_light(name) and event.verb not in ("sight", "view")
    if own or event.thing.text or not draft.graph.knows(name) or dims:
        return False
    remove(draft, name)
    return True


def _leave(draft: Scene, event: Event, own: bool) -> bool:
    if own or (event.tail and not _AWAY.match(event.tail)):
        return False
    name = _subject_name(draft, event)
    if not (draft.graph.knows(name) or name in draft.moved) or _is_light(name):
        return False
    remove(draft, name)
    return True


def _travel(draft: Scene, event: Event, own: bool) -> bool:
    """Read ``The guard walks off``, and ``The coin goes in the box``."""
    if not own and event.preposition in ("in", "on") and _settle(draft, event, own):
        return True
    return event.tail != "" and _leave(draft, event, own)


def _settle(draft: Scene, event: Event, own: bool) -> bool:
    """Read ``The coin drops into the slot``: a known thing moves by itself."""
    if own or event.thing.text:
        return False
    name, place = _subject_name(draft, event), clean_name(event.holder.text)
    start = max(event.subject.start, 0)
    phrase = Phrase(name, (), start, start + len(event.subject.text))
    if not draft.graph.knows(name):
        return False
    if event.tail.startswith(_LEAVES_PLACE) or event.tail.endswith(" your feet"):
        into = _NEW_PLACE.search(event.tail)
        if into is not None and not ROOM_ITSELF.fullmatch(clean_name(into["place"])):
            holder = meant(draft, clean_name(into["place"]))
            draft.place(phrase, relation_for(into["where"]), holder)
            return True
        lose(draft, name)
        draft.put(phrase, moved=True)
        return True
    if event.preposition not in _INTO_OR_ONTO or not is_name(place) or place.startswith("your "):
        return False
    if ROOM_ITSELF.fullmatch(place):
        lose(draft, name)
        draft.put(phrase, moved=True)
    else:
        draft.place(phrase, relation_for(event.preposition), meant(draft, place))
    return True


def _come(draft: Scene, event: Event, own: bool) -> bool:
    to_here = draft.room != "" and event.tail.startswith(f"to {draft.room}")
    if own or event.subject.is_pronoun or (event.tail.startswith(_NO_ARRIVALS) and not to_here):
        return False
    if event.verb == "in" and event.thing.text:  # in the garden
        return False
    if event.verb.startswith("appear") and event.thing.text and not event.tail.endswith("ly"):
        return False  # the raft appears seaworthy
    name = _subject_name(draft, event)
    if not is_name(name) or head_noun(name) in INTANGIBLE:
        return False
    start = event.subject.start
    draft.put(Phrase(name, (), start, start + len(event.subject.text)))
    draft.topic = name
    return True


def _extinguish(draft: Scene, event: Event, own: bool) -> bool:
    names = [] if event.verb == "of" else [phrase.name for phrase in things_of(draft, event.thing)]
    if not names and not own:
        names = [_subject_name(draft, event)]
    names = [name for name in names if _is_light(name) or draft.graph.value(name, "power")]
    for name in names:
        end_state(draft, name, "lit", "on")
        if Triple(name, "is", "on") in draft.graph:
            part = event.thing if event.thing.text else event.subject
            draft.add(name, "is", "off", part.start, part.start + len(part.text))
    return bool(names)


def _is_light(name: str) -> bool:
    return head_noun(name) in _LIGHTS


def _nothing(draft: Scene, event: Event, own: bool) -> bool:
    return False


_BY_ITSELF = ("open", "closed", "locked", "unlocked", "lit", "on", "off")
"""States that a thing takes with nobody who acts; nothing fries by itself."""


def _is_person(draft: Scene, event: Event) -> bool:
    """True if a subject is a person or has a proper name."""
    text = event.subject.text
    proper = text[:1].isupper() and not WITH_ARTICLE.match(text) and not event.subject.is_pronoun
    return proper or names_person(_subject_name(draft, event))


def _change(draft: Scene, event: Event, state: str, own: bool) -> bool:
    extent = head_noun(event.thing.text.lower()) in INTANGIBLE  # it opens a few inches
    if extent and _OTHERS.match(event.thing.text):  # its mouth
        return False
    intransitive = not event.thing.text or extent or _AWAY.match(event.thing.text) is not None
    part = event.subject if intransitive else event.thing
    if intransitive and (state not in _BY_ITSELF or (state == "lit" and _is_person(draft, event))):
        return False
    if not (own or intransitive) and kind_of_noun(event.subject.text) == KEY:
        return False  # a key opens a box: its use, not an event
    if state == "open" and _OPENS_ONTO.match(event.tail):
        return False  # an arch opens onto the garden
    if not (own or intransitive) and _is_light(clean_name(event.subject.text)):
        return False  # a torch lights a cave
    if intransitive and kind_of_noun(_subject_name(draft, event)) == KEY:
        return False  # the lock opens, not the key
    things = [] if own and intransitive else list(things_of(draft, part))
    for phrase in things:
        draft.add(phrase.name, "is", state, phrase.start, phrase.end)
    return bool(things)


_EFFECTS = {
    "take": _take, "draw": _draw, "drop": _drop, "put": _put, "give": _give, "cast": _cast,
    "gain": _gain,
    "wear": _wear, "give_back": _give_back,
    "make": _make, "fill": _fill, "attach": _attach, "follow": _follow,
    "lose": _lose, "swap": _swap, "accept": _accept, "consume": _consume,
    "destroy": _destroy, "vanish": _vanish, "leave": _leave, "travel": _travel, "come": _come,
    "settle": _settle, "extinguish": _extinguish, "nothing": _nothing,
}  # fmt: skip
