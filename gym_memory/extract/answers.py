"""Short answers that confirm an action.

*Closed.*, *Okay.* and *It catches at once.* name no thing, so the action says what changed. An
answer that refuses the action, in any wording, changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gym_memory.core.text import words as split_words
from gym_memory.extract.effects import lose, perform
from gym_memory.extract.events import (
    IMMATERIAL,
    MOVING,
    ClausePart,
    Event,
    action_event,
    is_base_form,
    verbs_of,
)
from gym_memory.extract.known import meant
from gym_memory.extract.notes.words import Phrase, verb_forms
from gym_memory.extract.placing import ROOM_ITSELF, relation_for
from gym_memory.extract.scene import Scene
from gym_memory.extract.things import NAME, STATE_SYNONYMS, has_any
from gym_memory.extract.wording import STOP, either, phrases
from gym_memory.graph.schema import INVENTORY, MEANS, clean_name, head_noun

__all__ = ["learn_word", "read_answer"]


def _participles() -> Iterator[str]:
    """Yield the participles of the verbs of an answer: *taken*, *dropped*."""
    for kind in ("take", "gain", "drop", "consume", "light", "extinguish", *_OPENING, *_LOCKING):
        for verb in verbs_of(kind):
            first, _, particle = verb.partition(" ")
            if not particle:
                yield from (f for f in tuple(verb_forms(first))[1:] if f.endswith(("ed", "en")))


_OPENING = frozenset(("open", "close"))
_LOCKING = frozenset(("lock", "unlock"))
_LISTED_ANSWER = re.compile(
    r"^(?P<name>[\w' -]{2,40}): (?P<answer>(?i:taken|dropped|done|got (?:it|them)|ok(?:ay)?))\b",
    re.MULTILINE,
)
_HAPPENED = re.compile(
    rf"\A(?:[Yy]our |[Tt]he )?(?P<thing>[A-Za-z][\w' -]{{1,40}}?) (?:is |are |was |were )?(?:now )?"
    rf"(?P<done>{'|'.join(_participles())})[.!]*\s*(?:\n|\Z)"
)
"""Answer that names the thing and what is done to it: *Wrench taken*."""
_IMPLICIT_ACTION = re.compile(
    r"^\((?:taken|first (?P<doing>\w+ing (?!it\b)[\w' -]+))\)$", re.IGNORECASE | re.MULTILINE
)
"""Implicit action before the given one: *(Taken)*, *(first opening the door)*."""
_CONFIRMATION = re.compile(
    r"[ \t]*(?P<words>ok(?:ay)?|done|taken|dropped|got (?:it|them)|sure|as you wish|very well"
    r"|opened|closed|shut|locked|unlocked|lit|extinguished|eaten|drunk|placed|thrown"
    r"|(?:you|i) (?:now )?\w+ (?:it|them)(?: \w+){0,4}"
    r"|(?:it|that|they)(?:'s|'re| is| are) (?:now )?"
    r"(?:on|off|open|closed|shut|locked|unlocked|lit|done)(?: now)?"
    r")(?:[,.!](?! but\b)|$)",
    re.IGNORECASE,
)
"""First words of a line that confirms the action."""
_REFUSED = re.compile(
    rf"\b(?:{either('refusals')}|fail\w*|refuse\w*|\w+n't|\w+'d"
    r"|(?:in|im|un|ir)(?!credib|believab|forgettab)\w+[ai]bl[ey])\b|\?",
    re.IGNORECASE,
)
"""Words by which an answer may refuse the action: modals, negations, *immovable*."""
_VAGUE = re.compile(r"\b(?:it|that|they|them)\b", re.IGNORECASE)
_SOUND = re.compile(r"\w+(?<!ed)(?:[-,] ?\w+)?[.!]*")
"""A sound of one or two words, which names no state: *Click*."""
_HEARD = re.compile(r"(?:(?:You hear|There(?:'s| is)) )?an? (?:[\w-]+ ){0,2}(?P<sound>\w+)[.!]*")
_NAMED_THING = re.compile(r"\b(?:an?|the|your|some|my) \w|(?<=[a-z,] )[A-Z][a-z]|\d")
_MANNER = re.compile(r" (?:with|to|in|at|for) (?:an?|the) (?:[\w']+ )?\w+(?: of \w+)?(?=[.!,]|$)")
"""Phrase that says how something happens: *to a stop, with a soft click*."""
_LEADING_MANNER = re.compile(r"(?:With|After|At) an? [^,.!?]{3,40}?(?:,| (?=(?:the|its|your) ))")
"""Leading phrase that says how something happens: *with a squeal the key turns*."""
_PART_ACTS = re.compile(
    r"(?:The|Its|Your) (?P<part>[\w' -]+?) (?:is now (?P<now>\w+ing)"
    r"|(?:now )?(?!now|is|are|holds?|jams?|sticks?|stays?|remains?|flick)(?P<verb>\w+s)\b)"
)
"""Beginning of an answer in which the thing or a part of it acts: *the lock yields*."""
_MOVES = frozenset(form for verb in MOVING for form in verb_forms(verb))
_SHINING = frozenset(form for verb in phrases("shining") for form in verb_forms(verb))
_LIGHT_SHED = re.compile(r" (?:an?|its) (?:[\w-]+ ){0,2}(?:light|glow|flame|beam|gleam)\b")
_DESCRIBES = re.compile(r"(?:It|That|They)(?:'s|'re| is| are) ", re.IGNORECASE)
"""Beginning of an answer that only describes the thing."""
_FAILS = re.compile(r"\b(?:dies|stops|out|off)\b")
_PARTS = {
    **dict.fromkeys(("lock", "unlock"), phrases("lock_parts")),
    **dict.fromkeys(("open", "close"), phrases("lid_parts")),
    **dict.fromkeys(("light", "extinguish"), phrases("flame_parts")),
}
"""Parts of a thing that confirm an action of each kind if an answer names them."""
_COMES_FREE = re.compile(
    r"(?:It|They|The (?P<thing>[\w' -]+?)) comes? (?:free|loose|away|off|out)\b"
)
"""Beginning of an answer in which what is pulled stays in the hand."""
_LEAVES = re.compile(rf"The [\w' -]+? {either('falls')}\b")
"""Beginning of an answer in which a dropped thing stays within reach."""
_FLIES = re.compile(rf"(?:The [\w' -]+?|It) {either('flies')}\b")
"""Beginning of an answer in which a thrown thing flies off, perhaps out of reach."""
_LANDS = re.compile(
    rf"(?:The (?P<thing>[\w' -]+?)|It) \w+s (?:\w+ly )?(?P<where>into|onto|through|over) "
    rf"(?P<place>the {NAME})(?: with .*)?{STOP}"
)
_LANDING = frozenset(("drop", "cast", "put"))
_AGENT_ACTS = re.compile(
    r"(?:With [\w' ]+?,? )?(?:[Yy]ou|I) (?!find|see|feel|touch|hear|notice|examine|hit|miss|watch"
    r"|know|chase|reach|push|tap|try|admire|consider|study|inspect|need|want|recogni)\w+"
    r"(?: \w+ly| up| down| back| out| off| on| into)? (?:the|your|my|some|one of the|an?) "
    r"(?P<thing>[\w' -]+)"
)
"""Beginning of an answer in which the agent acts on a thing."""
_SETTLES = re.compile(
    rf"(?:It|They|The (?P<thing>[\w' -]+?)) "
    rf"(?:{'|'.join(f for v in verbs_of('settle') for f in verb_forms(v))}|fits?)\b"
    r"(?!.*\b(?:off|back|again|away|aside|floor|ground)\b)"
)
"""Beginning of an answer in which a thing goes to where it is put."""
_MAX_ANSWER_CHARS = 80
_MAX_DONE_WORDS = 5
_MAX_CONFIRMATION_START = 400
"""Characters of a text in which a confirming line must begin."""
_DROPPING = frozenset(("drop", "cast"))
_ALL = frozenset(("all", "everything", "them", "both", "and"))
"""Words of an action on several things."""
_GAINING = frozenset(("take", "wear"))
_INHERENT = frozenset(("consume",))
"""Kinds confirmed by any answer that does not refuse, such as the taste of a meal."""
_DARKENS = frozenset(("extinguish", "switch_off"))
_DARK = re.compile(r"\bdark(?:ness)?\b")
_SHINES = frozenset(("light", "switch_on"))
_BY_PRONOUN = frozenset(
    ("open", "close", "lock", "unlock", "light", "extinguish", "switch_on", "switch_off")
)
"""Kinds confirmed by an answer that uses a pronoun and does not refuse."""
_EFFECTS = {
    "light": ("lit", "on"), "switch_on": ("on", "lit"), "extinguish": ("off", "unlit"),
    "switch_off": ("off", "unlit"), "open": ("open",), "close": ("closed",),
    "lock": ("locked",), "unlock": ("unlocked",),
}  # fmt: skip
"""States that a text may report after an event of each kind."""
_STATES = frozenset(("opened", "shut", *(s for states in _EFFECTS.values() for s in states)))


def read_answer(draft: Scene, text: str, prose: str) -> None:
    """Read the changes that a short answer confirms, for the action or for each listed thing.

    Args:
        draft: Draft of the step.
        text: The text in plain lines.
        prose: The text with its titles and labels blanked.
    """
    several = _read_list(draft, text)
    _read_implicit_actions(draft, text)
    event = draft.event
    if event is None or not event.thing.text or (several and "put" not in event.kinds):
        return
    answer = prose.strip(" \n*_~")
    span = _confirming_span(draft, event, text, prose, answer)
    if span is not None:
        # A name of one letter is that of a line in an inventory.
        if len(draft.handled) > 1 and not _is_told_otherwise(draft, event):
            _perform(draft, event, *span)
    elif not _LANDING.isdisjoint(event.kinds) and (lands := _LANDS.match(answer)):
        _land(draft, lands, prose.index(answer))
    elif "cast" in event.kinds and _FLIES.match(answer) and draft.handled in draft.held:
        lose(draft, draft.handled)


def _read_list(draft: Scene, text: str) -> bool:
    """Read lines such as *lamp: Taken.*; return True if there are any."""
    if ": " not in text or not has_any(text, ("aken", "ropped", "one", "got", "Got", "k")):
        return False
    listed = list(_LISTED_ANSWER.finditer(text))
    action = set(split_words(draft.action.lower()))
    for found in listed:
        name = meant(draft, clean_name(found["name"]))
        if found["answer"].lower().startswith(("done", "got", "ok")):
            if head_noun(name) in action or not action.isdisjoint(_ALL):
                _do_each(draft, found["name"])
        elif found["answer"].lower() == "taken":
            draft.add(name, "is in", INVENTORY, *found.span())
        else:
            draft.outdate(name, "is in", INVENTORY)
            draft.put(Phrase(name, (), *found.span()), moved=True)
    return bool(listed)


def _read_implicit_actions(draft: Scene, text: str) -> None:
    for found in _IMPLICIT_ACTION.finditer(text) if "(" in text else ():
        first = action_event(found["doing"]) if found["doing"] else None
        if first is not None and first.thing.text:
            perform(draft, first._replace(thing=ClausePart(_the(first.thing.text), -1)))
        elif not found["doing"] and draft.handled:
            draft.carry(Phrase(draft.handled, (), *found.span()))


def _confirming_span(
    draft: Scene, event: Event, text: str, prose: str, answer: str
) -> tuple[int, int] | None:
    """Return the span of the words that confirm the action; None for another answer."""
    span = _confirmation(text, event.kinds)
    if span is not None:
        return span
    if _confirms(draft, event, answer) and not _REFUSED.search(answer):
        begin = prose.index(answer)
        return begin, begin + len(answer)
    happened = _HAPPENED.match(text)
    if happened is not None and _says_done(happened["done"], set(event.kinds)):
        noun = head_noun(happened["thing"].lower())
        if noun in (head_noun(draft.handled), head_noun(event.thing.text.lower())):
            return happened.span("thing")
    return None


def _is_told_otherwise(draft: Scene, event: Event) -> bool:
    """True if the text itself says what is taken, by another word, or where a thing lands."""
    landed = draft.moved.get(draft.handled)
    if landed is not None and not event.holder.text and not _LANDING.isdisjoint(event.kinds):
        return landed.object != draft.room  # you drop the coin into the well
    if draft.graph.knows(draft.handled) or _GAINING.isdisjoint(event.kinds):
        return False
    return any(place.object == INVENTORY for place in draft.moved.values())


def _do_each(draft: Scene, name: str) -> None:
    """Apply the action to one of several things."""
    event = draft.event
    if event is not None and event.thing.text and len(name) > 1:
        perform(draft, _with_articles(event, name))


def _land(draft: Scene, found: re.Match[str], start: int) -> None:
    """Read where a dropped thing lands: *the anchor splashes into the lake*."""
    name, place = draft.handled, clean_name(found["place"])
    called = clean_name(found["thing"] or "")
    if name in draft.held and (not called or head_noun(called) == head_noun(name)):
        lose(draft, name)
        if found["where"] not in ("through", "over") and not ROOM_ITSELF.fullmatch(place):
            span = start + found.start("place"), start + found.end("place")
            draft.add(name, relation_for(found["where"]), meant(draft, place), *span)


def _agrees(words: str, kinds: tuple[str, ...]) -> bool:
    """True unless the words state a result that the action does not have: *locked* for *open*."""
    states = _STATES.intersection(split_words(words.lower()))
    wanted = {state for kind in kinds for state in _EFFECTS.get(kind, ())}
    same = (STATE_SYNONYMS.get(state, state) for state in states)
    return not states or not wanted or not wanted.isdisjoint(same)


def _confirmation(text: str, kinds: tuple[str, ...]) -> tuple[int, int] | None:
    """Return the span of the words that confirm the action; None if no line does."""
    begin = 0
    for line in text[:_MAX_CONFIRMATION_START].split("\n"):
        done = _CONFIRMATION.match(line)
        if done is not None and not _REFUSED.search(done[0]) and _agrees(done["words"], kinds):
            return begin + done.start("words"), begin + done.end("words")
        begin += len(line) + 1
    return None


def _says_done(answer: str, kinds: set[str]) -> bool:
    """True if an answer begins with a past verb of the action's effect: *Acquired*, *Got it*."""
    words = answer.rstrip(".!").split()
    if not words or len(words) > _MAX_DONE_WORDS or is_base_form(words[0].lower()):
        return False
    done = action_event(" ".join(words))
    if done is None or done.subject.start > 0:
        return False
    found = set(done.kinds)
    return not kinds.isdisjoint(found | ({"take"} if "gain" in found else set()))


def _confirms(draft: Scene, event: Event, answer: str) -> bool:
    """True if an answer confirms an action without a word such as *done*, unless it refuses.

    It must name no thing but those of the action, and not describe it.
    """
    kinds = set(event.kinds)
    if _says_done(answer, kinds):
        return True
    if len(answer) > _MAX_ANSWER_CHARS or _DESCRIBES.match(answer):
        return False
    manner = _LEADING_MANNER.match(answer)
    if manner is not None:
        answer = answer[manner.end() :].strip().capitalize()
    if kinds & _SHINES and _FAILS.search(answer):
        return False
    acted = _AGENT_ACTS.match(answer)
    if (
        (kinds & _DARKENS and _DARK.search(answer))
        or (acted is not None and any(_is_part(word, kinds) for word in acted["thing"].split()[:2]))
        or _is_sound(answer, kinds)
    ):
        return True
    _carry_if_free(draft, event, kinds, answer)
    names = _NAMED_THING.search(answer) is not None
    rest = _MANNER.sub("", answer)
    rest = _LIGHT_SHED.sub("", rest) if kinds & _SHINES else rest
    named = names and _NAMED_THING.search(rest) is not None
    if not named and (_part_obeys(draft, event, kinds, answer) or _settles(event, answer)):
        return True
    vague = _VAGUE.search(answer) is not None
    if named or (names and not vague):
        return _reports(event, kinds, answer, acted)
    if kinds & _INHERENT and draft.graph.knows(draft.handled):
        return True
    return bool(kinds & _BY_PRONOUN) and (vague or _SOUND.fullmatch(answer) is not None)


def _is_sound(answer: str, kinds: set[str]) -> bool:
    """True if an answer is a sound of what the action does: *You hear a click*."""
    heard = _HEARD.fullmatch(answer) if kinds & _BY_PRONOUN else None
    return heard is not None and heard["sound"] in IMMATERIAL


def _carry_if_free(draft: Scene, event: Event, kinds: set[str], answer: str) -> None:
    """Carry what comes free when it is pulled: *It comes loose*."""
    free = _COMES_FREE.match(answer) if kinds & {"take", "draw"} else None
    if free is not None and (not free["thing"] or free["thing"].split()[-1] in event.thing.text):
        draft.carry(Phrase(draft.handled, (), *free.span()))


def _settles(event: Event, answer: str) -> bool:
    """True if the thing goes to where the action puts it: *the token slides in*."""
    found = _SETTLES.match(answer) if "put" in event.kinds and event.holder.text else None
    if found is None or not found["thing"]:
        return found is not None
    return head_noun(found["thing"].lower()) == head_noun(event.thing.text.lower())


def _is_part(noun: str, kinds: set[str]) -> bool:
    return any(noun in _PARTS.get(kind, ()) for kind in kinds)


def _part_obeys(draft: Scene, event: Event, kinds: set[str], answer: str) -> bool:
    """True if the thing or a part of it does what the action wants: *the lid swings up*."""
    part = _PART_ACTS.match(answer)
    if part is None:
        return False
    if _is_part(part["part"], kinds):
        return True
    if part["part"].lower() not in (event.thing.text.lower().removeprefix("the "), draft.handled):
        return False
    moves = part["verb"] in _MOVES and kinds & _OPENING
    moves = moves or (part["verb"] in _SHINING and kinds & _SHINES)
    return bool(moves or (part["now"] and kinds & _SHINES))


def _reports(event: Event, kinds: set[str], answer: str, acted: re.Match[str] | None) -> bool:
    """True if an answer that names things reports the action on all things of the action."""
    put = "put" in kinds and event.holder.text and answer.startswith(("You ", "I "))
    leaves = kinds & _DROPPING and _LEAVES.match(answer)
    dropped = (
        acted is not None
        and "drop" in kinds
        and not event.holder.text
        and head_noun(event.thing.text.lower()) in split_words(acted["thing"].lower())
    )
    worn = "take" in kinds and " your " in answer and answer.startswith("You ")
    gained = acted is not None and kinds & _GAINING and not event.holder.text
    if not (put or leaves or dropped or worn or gained):
        return False
    nouns = {head_noun(part.text.lower()) for part in (event.thing, event.holder) if part.text}
    return nouns <= set(split_words(answer.lower()))


def _perform(draft: Scene, event: Event, start: int, end: int) -> None:
    """Apply the effects of an action, with the answer as their evidence."""
    before = dict(draft.mentions)
    if "cast" in event.kinds and not event.holder.text:
        event = event._replace(kinds=("drop",))
    named = _with_articles(event, draft.handled)
    if " and " in event.thing.text:
        named = named._replace(thing=event.thing)
    perform(draft, named)
    for triple, mention in draft.mentions.items():
        if triple not in before and mention.start <= 0:
            draft.mentions[triple] = mention._replace(start=start, end=end)


def _with_articles(event: Event, thing: str) -> Event:
    """Return an event on a thing, with the articles that a command leaves out."""
    holder = event.holder._replace(text=_the(event.holder.text))
    return event._replace(thing=ClausePart(_the(thing), -1), holder=holder)


def _the(name: str) -> str:
    return f"the {name}" if name and name.split()[0] not in ("the", "a", "an") else name


def learn_word(draft: Scene) -> None:
    """Note that the noun of the action means the one thing whose state the answer reports.

    After *light lamp*, *The brass lantern is now on* shows that the lamp is the brass lantern.
    """
    event = draft.event
    if event is None:
        return
    word = draft.handled
    if not word or _EFFECTS.keys().isdisjoint(event.kinds):
        return
    if (
        word in draft.text
        or head_noun(word) in split_words(draft.text)
        or not draft.graph.knows(word)
    ):
        return
    states = {state for kind in event.kinds for state in _EFFECTS.get(kind, ())}
    found = {m.triple.subject for m in draft.mentions.values() if m.triple.relation == "is"
             and m.triple.object in states and m.start >= 0}  # fmt: skip
    if len(found) != 1:
        return
    name = found.pop()
    thing = meant(draft, name, anywhere=True)
    if thing == word:  # the text calls it by fewer words
        return
    for fact in [fact for fact in draft.mentions if fact.subject == name != thing]:
        draft.rename(fact, thing)
    place = draft.graph.value(word, "location")
    if place is not None and place.object == INVENTORY:
        draft.add(thing, "is in", INVENTORY)
    for fact in draft.graph.outgoing(word):
        draft.outdate(*fact)
    draft.add(word, MEANS, thing)
