"""Lines of status, lists and speakers, rewritten as plain labels and sentences."""

from __future__ import annotations

import re

from gym_memory.extract.label_kinds import STATE, kind_of_label
from gym_memory.extract.notes.words import ROOM, SUPPORTER, kind_of_noun
from gym_memory.extract.rewriting import Rewriter, nothing
from gym_memory.extract.wording import either
from gym_memory.graph.schema import SHORT_DIRECTIONS

__all__ = ["LINES", "STATUS_LINE"]

_ANY_TAG = re.compile(r"</?[a-zA-Z][\w-]*(?:[ =][^<>]*)?/?>")
_LEADER_PATTERN = (
    r"^[ \t]*(?P<label>[A-Z][\w']*(?: [\w']+){0,3}) ?(?:\.{3,}:?|->|=>|→) ?"
    r"(?P<value>[^\s.][^\n]*)$"
)
_LEADER = re.compile(_LEADER_PATTERN, re.MULTILINE)
_ID = re.compile(r"[ \t]*\((?:id|ID|Id|#)[:= #]*[\w-]+\)")
_SPEAKER_ENDS = (
    *("bservation:", "BSERVATION:", "bs:", "eedback:", "esponse:", "utput:", "ame:", "esult:"),
    *("essage:", "utcome:", "vent:", "escription:", "arration:", "ailed:", "ailure:", "rror:"),
    *("uccess:", "one:", "ok:", "OK:", "kay:"),
)
_SPEAKERS = (
    *("observation", "obs", "feedback", "response", "game", "output", "narrator", "result"),
    *("message", "outcome", "event", "description", "narration"),
    *("(?:(?:the )?(?:action|command|move) )?failed", "failure", "error", "success"),
    *("done", "ok", "okay"),
)
_SPEAKER = re.compile(
    rf"(?:^|(?<=[.!?] ))(?:{'|'.join(_SPEAKERS)}):[ \t]+"
    r"(?=(?-i:[A-Z\"(]|(?:the|your|you|it) )[^\n]*[.!?])",
    re.IGNORECASE | re.MULTILINE,
)
"""Name of a speaker before prose."""
_FINAL_PROMPT = re.compile(r"(?<!\s)\s+>[ \t]*\Z")
_COUNT_BEFORE = re.compile(
    r"^\[(?P<label>[A-Z][a-z]+):? (?P<value>\d[\w/:]*)\][ \t]+(?=\S)", re.MULTILINE
)
"""Count in brackets before prose: *[Turn 9] You are in the granary*."""
_COUNT_OF_EQUALS = re.compile(
    r"^[(\[] ?(?:\d{1,3}[)\]] (?=(?:An?|The|Some) [^\n]*\b(?:here|ground|floor)\b[^\n]*\.$)"
    r"|[A-Z][a-z]+[)\]] (?=(?:An?|The|Some) [^\n]*\.$))",
    re.MULTILINE,
)
"""Count or quality before a sentence about things here: *(2) A jug lies here.*"""
_MESSAGE_TAG = re.compile(r"^\[[A-Z]{2,12}\] (?=(?:The|You|Your|An?) [^\n]*[.!]$)", re.MULTILINE)
"""Sort of message in brackets before a sentence: *[ALERT] The gate is closed.*"""
_THING_SAID = re.compile(r"^[a-z][\w' -]{0,40}: (?=You [a-z]+ [^\n]*[.!]$)", re.MULTILINE)
"""Thing, of several, that the sentence after it is about."""
_NAME_IN_BRACKETS = re.compile(r"^\[(?P<name>[A-Z][\w'-]+)\](?= [a-z]+s\b)", re.MULTILINE)
"""Name of a person in brackets before a verb: *[Ann] leaves*."""
_STAR_BEFORE = re.compile(r"^\*(?=(?:An?|The|Some) [^*\n]*\.$)", re.MULTILINE)
"""Star right before a sentence about a person here."""
_ROOM_NUMBER = re.compile(r"[ \t]*\[\d{2,}\]")
_CLOSED_BRACKETS = re.compile(r"\) \((?=(?:in|on) which )")
"""Boundary between the state and the contents of a thing in brackets."""
_BAR = re.compile(r"\[[#=*.|█▓▒░ -]{3,}\] ?")
_BRACKETED_PAIRS = re.compile(
    r"\][ \t]*\[(?=[A-Z$][\w ]{0,20}: ?\S|[A-Z][A-Za-z]{0,11} \d[\d/]*\])"
)
"""Boundary between two pairs in brackets."""
_COLUMNS = re.compile(r"(?<=[^\s:.,-]) {3,}(?=[A-Z$][\w ]{0,20}: ?\S)")
"""Gap in a line of status before a label."""
STATUS_LINE = re.compile(r"^[ \t]*[\[<(]?[A-Z$][A-Za-z]{0,11}(?:: ?| )[$-]?\d[^\n]*$", re.MULTILINE)
_OUTER_BRACKETS = re.compile(r"^[ \t]*[\[<(]|[\])>][ \t]*$")
_COLUMN_GAP = re.compile(r"[ \t]*[|;·•][ \t]*|,[ \t]+|[ \t]{2,}")
_NAMED_VALUE = re.compile(r"[A-Z$][\w ]{0,20}: ?[^\s:][^:]*")
_COUNT = re.compile(
    r"(?P<label>[A-Z$][A-Za-z]{0,11})(?P<gap>: ?| )(?P<value>[$-]?\d[\w/%().]*)(?P<end> |$)"
)
_TITLE_OF_STATUS = re.compile(
    r"\A[ \t]*(?![A-Z][A-Za-z]{0,11} \d)"
    r"(?P<place>[A-Z][\w',.& -]{1,40}?(?: \([^()\n]{1,20}\))?)(?: {3,}| *\|) *"
    r"(?=[A-Z$][\w ]{0,15}: ?\S|[A-Z][A-Za-z]* \d"
    r"|\d+[/:]\d+(?: ?[aApP]\.?[mM]\.?)?[ \t]*(?:\n|$))"
)
"""Place at the left of the first line, with counts at the right."""
_LATER_STATUS = re.compile(
    r"(?<=\n)(?=[^\n]*\d)[ \t]*(?P<open>\[)?(?P<place>[A-Z][\w',.& -]{1,40}?)(?: {3,}| *[|·•] *)"
    r"(?P<counts>[^\n]{0,100}\d[^\n]{0,100}?)(?(open)\])[ \t]*$",
    re.MULTILINE,
)
"""Place with counts in a later line: *[Cell 9 | Day 3, 06:40]*."""
_ONE_WAY = r"(?:[ns][ew]?|[ewud]|(?:north|south)(?:east|west)?|east|west|up|down)"
_EXITS_AFTER_TITLE = re.compile(
    r"^[^\w\n]{0,4}(?!You|I |I'm|We )(?P<title>[A-Z](?:[\w',-]| (?=[\w-])){1,40})"
    r"(?:[ \t]*[^\w\s.,][^\w\n.]{0,4}|[ \t]{2,5})"
    r"(?:[Oo]bvious )?(?P<label>[Ee]xits?: ?[^\n]+)$",
    re.MULTILINE,
)
"""Title with the exits in the same line: *-[ The Quay ]-  exits: N S*."""
_CLOCK = re.compile(r"\d\d?:\d\d(?: ?[AaPp][Mm])?")
_TELEGRAM = re.compile(
    rf"\A(?!You|I |I'm|We )(?P<title>[A-Z][\w' -]{{1,40}}?)\. "
    rf"(?P<prose>(?:[^.\n]{{1,60}}\. ){{0,4}})"
    rf"Exits?:? (?P<ways>(?i:{_ONE_WAY}(?:(?:,? and |[, /]+){_ONE_WAY})*))\."
    r"(?: (?P<rest>[^.\n]+)\.)?\s*\Z"
)
"""Place, exits and things without verbs: *Ledge. Exits W. Rope, lamp.*"""
_BARE_EXITS = re.compile(
    rf"^Exits? (?P<ways>(?i:{_ONE_WAY}(?:(?:,? and |[, /]+){_ONE_WAY})*))\.?$", re.MULTILINE
)
_PLACED_FRAGMENT = re.compile(
    r"(?<![^ ])(?P<thing>[A-Z][\w'-]*(?: [\w'-]+)?) (?P<where>on|in|under) (?P<place>[\w'-]+)\. "
)
"""Place of a thing without a verb: *Toolbox on ledge*."""
_MAX_TELEGRAM_TITLE_WORDS = 4
_NO_FRAGMENT = re.compile(
    r"\b(?:you|it|is|are|the|here|nothing|no|not|this|there|in|on)\b", re.IGNORECASE
)
"""Words of sentences, which no list of names has."""
_QUOTED_LINE = re.compile(r"^> (?=[*_]?[A-Z][^\n]*[.!?][*_]*$)", re.MULTILINE)
_INVENTORY_CHANGE = re.compile(
    r"(?:^|(?<=[.!?] )(?=[(\[]))(?:\[\W\] ?|\W)?(?P<things>[\w',\d -]{2,60}?)"
    r"(?: (?:is|are|was|were|has been|have been))? (?P<how>added to|removed from) "
    r"(?:your |my |the )?(?:inventory|(?:back)?pack|bag|pockets?)\W*$",
    re.MULTILINE,
)
_ADDED = re.compile(
    r"^(?P<how>Added|Removed) (?P<things>[\w', -]{2,60}?) (?:to|from) "
    r"(?:your |my |the )?(?:inventory|(?:back)?pack|bag|pockets?)\W*$",
    re.MULTILINE,
)
_LETTER = r"(?:[ns][ew]?|[ewud]|[NS][EW]?|[EWUD])"
_LETTERS_OF_EXITS = re.compile(
    rf" (?P<ways>{_LETTER}(?: \([^()\n]+\))?(?:(?:, and |, | and | or )(?:{_LETTER}|up|down)\b"
    r"(?: \([^()\n]+\))?)*)(?=[.;\n]|$)"
)
_BEFORE_LETTERS = re.compile(
    rf"\b(?i:{either('ways')})(?: (?:leading|leads?|goes?|runs?|to|are|here)){{0,2}}$"
)
_MAX_BEFORE_LETTERS = 40
"""Exits by their letters in prose: *passages lead N, SE and down*."""
_DIRECTION_KEY = re.compile(r"[(\[](?P<letter>[nsewudNSEWUD])[)\]](?=orth|outh|ast|est|p\b|own\b)")
_KEY_LETTER = re.compile(r"[(\[](\w)[)\]]")
_DIRECTION_KEYS = re.compile(
    r"^[ \t]*(?:[(\[][nsewud][)\]](?:orth|outh|ast|est|p|own)\b[ \t,|/]*){2,}$",
    re.IGNORECASE | re.MULTILINE,
)
_REMARK = re.compile(
    r"^(?:\[(?P<said>[A-Z][^\[\]\n:]*[.!?])\]|\((?P<aside>You(?:'re| are) [^()\n:]*\.)\))$",
    re.MULTILINE,
)
"""A sentence in brackets."""
_LETTERED = re.compile(
    r"^(?:[A-Z]\w+\n)?(?P<letter>[a-zA-Z$]) - (?=(?:an?|the|some|\d+) )", re.MULTILINE
)
"""Line of a lettered inventory, perhaps below the name of a class."""
_OWN_STATE = re.compile(
    r"(?<![\w,] )(?<!\w)(?P<head>(?:An?|The) [^.,\n]{2,40}), (?:its|whose) \w+(?: is)? "
    r"(?P<state>ajar|open|closed|shut|locked),(?P<rest>[^.\n]*\.)"
)
_STATE_IN_BRACKETS = re.compile(
    r"\[(?<=\w \[)(?P<state>open|closed|shut|locked|unlocked|empty|lit|unlit|on|off|broken)\]"
)
_TITLE_WITH_WAYS = re.compile(
    rf"^(?P<title>[A-Z][\w',. -]{{1,40}}?) \[ ?(?:exits?: ?)?(?P<ways>[NESWUD]{{2,6}}"
    rf"|{_ONE_WAY}(?:[, /]+{_ONE_WAY})*) ?\]$",
    re.IGNORECASE | re.MULTILINE,
)
"""A title with the exits of its place: *The Quay [N, W]*."""
_WAYS_IN_BRACKETS = re.compile(
    rf"^\( ?(?P<ways>{_ONE_WAY}(?:[, /]+{_ONE_WAY})*) ?\)$", re.IGNORECASE | re.MULTILINE
)
"""Exits alone in brackets: *( north )*."""
_QUOTED_LINES = re.compile(r"\A(?:>[^\n]*(?:\n|\Z))+\Z")
_ECHO_MARK = re.compile(r"^>(?=[A-Z][\w']* [a-z])", re.MULTILINE)
"""Prompt right before prose: *>You are in a den.*"""
_QUOTE_MARK = re.compile(r"^> ?", re.MULTILINE)
_TITLE_BEFORE_PROSE = re.compile(
    r"\A(?P<title>[A-Z][\w'-]*(?: (?:of|the|in|on|at|and|[A-Z][\w'-]*)){0,5}) "
    r"(?:-{2,3}|[–—]|::|(?<=[A-Z]{3} )-) (?=[A-Za-z][^\n]*[.!\]])"
)
"""Title before the description in the same line: *Broom Closet -- Dusty*."""
_PAIRS_AT_END = re.compile(
    r"(?<=[\w.!?\]])[ \t]+\[(?P<label>[a-zA-Z][a-zA-Z ]{0,20}(?:: ?| (?=\d)))"
    r"(?P<value>[^\[\]\n]+)\](?=[ \t]*(?:\[|$))",
    re.MULTILINE,
)
"""Pair in brackets at the end of a line: *Dusty. [exits: W] [hp 4/10]*."""
_LABEL_AT_END = re.compile(
    r" \[(?<=[\w.!?] \[)(?P<pair>[A-Z][\w ]{0,20}: [^\[\]\n]+)\]\.?$", re.MULTILINE
)
_ITEMS_IN_BRACKETS = re.compile(r"\[(?<=: \[)[\w' -]{1,30}\](?:,? ?\[[\w' -]{1,30}\])+")
_PAIRS_IN_BRACES = re.compile(r"(?<=: |= )\{(?P<pairs>[\w'\" -]+: ?[^{}\n]+)\}$", re.MULTILINE)
"""Pairs in braces after a label."""
_IN_OR_ON = re.compile(r"\bin/on (?=(?:the )?(?P<place>[\w-]+))")
_ATTRIBUTE = re.compile(r"^(?P<name>[a-z]\w*)\.(?P<key>[a-z]\w*) ?= ?(?P<value>\w+)$", re.MULTILINE)
_STATE_KEYS = ("state", "status")
_LABEL_IN_BRACKETS = re.compile(
    r"^\[(?P<label>[A-Z][A-Za-z ]{1,15})\][ \t]+(?=[^\s:])", re.MULTILINE
)


def _leader(found: re.Match[str]) -> str:
    several = len(_LEADER.findall(found.string)) > 1
    return f"{found['label']}: {found['value']}" if several else found[0]


def _remark(found: re.Match[str]) -> str:
    return found["said"] or found["aside"]


def _title_with_ways(found: re.Match[str]) -> str:
    title = found["title"]
    return f"Exits: {found['ways']}\n{title[0].upper()}{title[1:]}"


def _lettered(found: re.Match[str]) -> str:
    if "\n" not in found.string.strip() and found.start() == 0:
        return "You take "
    return (
        "Inventory:\n- " if _LETTERED.search(found.string) == found or not found.start() else "- "
    )


def _direction_keys(found: re.Match[str]) -> str:
    return f"Exits: {', '.join(key.lower() for key in re.findall(_KEY_LETTER, found[0]))}"


def _status(found: re.Match[str]) -> str:
    """Return a line of counts, some without a colon, as one label a line of the same length."""
    line = found[0]
    if line.lstrip()[0] in "[<(":
        line = _OUTER_BRACKETS.sub(lambda bracket: " " * len(bracket[0]), line).rstrip()
    if ", " in line and line.count(":") > line.count(", "):
        return found[0]  # labels, which need no lines of their own
    parts = []
    for part in _COLUMN_GAP.sub(_line_break, line).split("\n"):
        bare = part.strip()
        if _CLOCK.fullmatch(bare):
            part = f"Time: {bare}".ljust(len(part))
        elif not _is_pair(bare):
            return found[0]
        parts.append(_COUNT.sub(_count, part) if _is_counted(bare) else part)
    pairs = "\n".join(parts)
    alone = "\n" not in pairs.strip()
    if alone and (line == found[0] or kind_of_noun(bare.partition(" ")[0].lower()) == ROOM):
        return found[0]
    return pairs.ljust(len(found[0]))


def _is_counted(part: str) -> bool:
    return "".join(count[0] for count in _COUNT.finditer(part)) == part


def _is_pair(part: str) -> bool:
    return _is_counted(part) or _NAMED_VALUE.fullmatch(part) is not None


def _line_break(gap: re.Match[str]) -> str:
    return "\n".rjust(len(gap[0]))


def _count(found: re.Match[str]) -> str:
    gap = ":" if found["gap"] == " " else found["gap"]
    return f"{found['label']}{gap}{found['value']}" + "\n" * len(found["end"])


def _title_of_status(found: re.Match[str]) -> str:
    return f"{found['place']}\n---\n"


def _title_before_prose(found: re.Match[str]) -> str:
    return f"{'# ' if found['title'].isupper() else ''}{found['title']}\n"


def _unquoted(found: re.Match[str]) -> str:
    """Return quoted lines without their marks if most are labels, not choices."""
    lines = found[0].strip().split("\n")
    labels = sum(": " in line for line in lines)
    return _QUOTE_MARK.sub("", found[0]) if 2 * labels > len(lines) > 1 else found[0]


def _pair_at_end(found: re.Match[str]) -> str:
    label = found["label"].strip(": ")
    return f"\n{label.capitalize()}: {found['value']}"


def _later_status(found: re.Match[str]) -> str:
    """Return a line of status below other lines as a title with counts below it."""
    place, counts = found["place"], found["counts"]
    parts = _COLUMN_GAP.split(counts)
    numbered = place[-1].isdigit() and kind_of_noun(place.rstrip(" 0123456789").lower()) != ROOM
    if numbered or not all(_is_pair(part) or _CLOCK.fullmatch(part) for part in parts):
        return found[0]
    return f"{place}\n---\n{counts}"


def _telegram(found: re.Match[str]) -> str:
    """Return a text without verbs as a title, exits and things."""
    title, rest = found["title"], found["rest"] or ""
    if len(title.split()) > _MAX_TELEGRAM_TITLE_WORDS or _NO_FRAGMENT.search(title):
        return found[0]
    prose = _PLACED_FRAGMENT.sub(r"The \g<thing> is \g<where> the \g<place>. ", found["prose"])
    lines = [f"# {title}", prose.strip(), f"Exits: {found['ways']}"]
    lines.append(rest if not rest or _NO_FRAGMENT.search(rest) else f"Items: {rest}")
    return "\n".join(filter(None, lines))


def _quoted_line(found: re.Match[str]) -> str:
    first = 0 if found.string.startswith("> ") else found.string.find("\n> ") + 1
    alone = first == found.start() and found.string.find("\n> ", found.end()) < 0
    return "" if alone else found[0]  # several are choices


def _count_before(found: re.Match[str]) -> str:
    return f"{found['label']}: {found['value']}\n"


def _inventory_change(found: re.Match[str]) -> str:
    begin = "" if found.start() == 0 or found.string[found.start() - 1] == "\n" else "\n"
    return f"{begin}{'Gained' if found['how'] == 'added to' else 'Lost'}: {found['things']}"


def _added(found: re.Match[str]) -> str:
    return f"{'Gained' if found['how'] == 'Added' else 'Lost'}: {found['things']}"


def _letters_of_exits(found: re.Match[str]) -> str:
    begin = max(found.start() - _MAX_BEFORE_LETTERS, 0)
    if _BEFORE_LETTERS.search(found.string[begin : found.start()]) is None:
        return found[0]
    return re.sub(rf"\b{_LETTER}\b", _direction, found[0])


def _direction(letters: re.Match[str]) -> str:
    return SHORT_DIRECTIONS[letters[0].lower()]


def _own_state(found: re.Match[str]) -> str:
    state = "open" if found["state"] == "ajar" else found["state"]
    return f"{found['head']}{found['rest']} {found['head']} is {state}."


def _bare_items(found: re.Match[str]) -> str:
    return ", ".join(re.findall(r"\[(.+?)\]", found[0]))


def _in_or_on(found: re.Match[str]) -> str:
    return "on " if kind_of_noun(found["place"]) == SUPPORTER else "in "


def _bracketed_label(found: re.Match[str]) -> str:
    return found[0] if kind_of_label(found["label"]) == STATE else f"{found['label']}: "


def _attribute(found: re.Match[str]) -> str:
    value = found["value"] if found["key"] in _STATE_KEYS else ""
    value = value or (found["key"] if found["value"].lower() == "true" else "")
    return f"{found['name'].capitalize()}: {value}" if value else found[0]


LINES = Rewriter(
    ("\n>", [((), _ECHO_MARK, nothing)]),
    ("\n> ", [((), _QUOTED_LINES, _unquoted)]),
    ("-- ", [((), _TITLE_BEFORE_PROSE, _title_before_prose)]),
    (" - ", [((), _TITLE_BEFORE_PROSE, _title_before_prose)]),
    ("— ", [((), _TITLE_BEFORE_PROSE, _title_before_prose)]),
    (":: ", [((), _TITLE_BEFORE_PROSE, _title_before_prose)]),
    ("xits: ", [((), _EXITS_AFTER_TITLE, lambda found: f"# {found['title']}\n{found['label']}")]),
    (". Exit", [((), _TELEGRAM, _telegram)]),
    ("\nExit", [((), _BARE_EXITS, lambda found: f"Exits: {found['ways']}")]),
    ("=", [((), _ATTRIBUTE, _attribute)]),
    ("in/on", [((), _IN_OR_ON, _in_or_on)]),
    ("{", [((), _PAIRS_IN_BRACES, lambda found: found["pairs"])]),
    ("</", [((), _ANY_TAG, nothing)]),
    ("...", [((), _LEADER, _leader)]),
    ("->", [((), _LEADER, _leader)]),
    ("=>", [((), _LEADER, _leader)]),
    ("→", [((), _LEADER, _leader)]),
    ("\n> ", [((), _QUOTED_LINE, _quoted_line)]),
    ("dded ", [((), _ADDED, _added)]),
    ("emoved ", [((), _ADDED, _added)]),
    ("xits ", [((), _LETTERS_OF_EXITS, _letters_of_exits)]),
    (" lead ", [((), _LETTERS_OF_EXITS, _letters_of_exits)]),
    ("oors ", [((), _LETTERS_OF_EXITS, _letters_of_exits)]),
    (" added to ", [((), _INVENTORY_CHANGE, _inventory_change)]),
    (" removed from ", [((), _INVENTORY_CHANGE, _inventory_change)]),
    ("   ", [((), _TITLE_OF_STATUS, _title_of_status), ((), _LATER_STATUS, _later_status)]),
    ("|", [((), _TITLE_OF_STATUS, _title_of_status), ((), _LATER_STATUS, _later_status)]),
    ("·", [((), _LATER_STATUS, _later_status)]),
    ("[", [(("][", "] [", "]  ["), _BRACKETED_PAIRS, lambda found: "]\n[")]),
    ("", [(tuple("0123456789"), STATUS_LINE, _status)]),
    ("(", [(("(id", "(ID", "(Id", "(#"), _ID, nothing)]),
    ("\n(", [((), _COUNT_OF_EQUALS, nothing)]),
    ("\n*", [((), _STAR_BEFORE, nothing)]),
    (") (", [((), _CLOSED_BRACKETS, lambda found: ", ")]),
    (":", [(_SPEAKER_ENDS, _SPEAKER, nothing)]),
    ("\n[", [((), _MESSAGE_TAG, nothing), ((), _LABEL_IN_BRACKETS, _bracketed_label)]),
    ("\n[", [((), _COUNT_OF_EQUALS, nothing), ((), _COUNT_BEFORE, _count_before)]),
    ("[", [((), _BAR, nothing), ((), _NAME_IN_BRACKETS, lambda found: found["name"])]),
    (": You ", [((), _THING_SAID, nothing)]),
    (" >", [((), _FINAL_PROMPT, nothing)]),
    ("   ", [((), _COLUMNS, lambda found: "\n")]),
    (" [", [
        ((), _ROOM_NUMBER, nothing),
        ((), _TITLE_WITH_WAYS, _title_with_ways),
        ((), _PAIRS_AT_END, _pair_at_end),
        ((), _LABEL_AT_END, lambda found: f"\n{found['pair']}"),
        ((), _STATE_IN_BRACKETS, lambda found: f"({found['state']})"),
        ((), _ITEMS_IN_BRACKETS, _bare_items),
    ]),
    ("]", [
        (("]o", "]O", "]a", "]A", "]e", "]E"), _DIRECTION_KEYS, _direction_keys),
        (("]o", "]O", "]a", "]A", "]e", "]E", "]p"), _DIRECTION_KEY, lambda found: found["letter"]),
        ((".]", "!]", "?]"), _REMARK, _remark),
    ]),
    (")", [
        ((".)",), _REMARK, _remark),
        ((), _WAYS_IN_BRACKETS, lambda found: f"Exits: {found['ways']}"),
        ((")o", ")O", ")a", ")A", ")e", ")E"), _DIRECTION_KEYS, _direction_keys),
        ((")o", ")O", ")a", ")A", ")e", ")E", ")p"), _DIRECTION_KEY, lambda found: found["letter"]),
    ]),
    (" - ", [((), _LETTERED, _lettered)]),
    (", its ", [((), _OWN_STATE, _own_state)]),
    (", whose ", [((), _OWN_STATE, _own_state)]),
)  # fmt: skip
