"""Read the action in a model's answer in any format.

An answer may name its action in a JSON field, between tags, after a label such as ``Action:``, on
its own line or in a sentence. The most explicit form counts and must name exactly one action.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gym_memory.baselines.actions import parse_action
from gym_memory.core.errors import ModelError
from gym_memory.core.text import sentence_spans, without_articles
from gym_memory.graph.schema import direction_in
from gym_memory.llm.base import json_values
from gym_memory.llm.thinking import without_thinking
from gym_memory.memory.reading import read_operation

__all__ = ["NO_DECISION", "Decision", "UnreadableAnswerError", "match_action", "read_action"]
__all__ += ["undressed"]

_SHOWN_CHARS = 200
_THOUGHT_CHARS = 1000
_MAX_CHARS = 8000
"""Number of last characters of an answer to read."""
_MAX_PEELS = 12
_MOST_CHOICES = 16
"""Most wordings of a valid action with choices, such as *in/on*."""
_LITERAL_CHARS = 2000
_MAX_LINE_CHARS = 600
"""Longest line, in characters, with an action and a remark."""

_BAD = (
    r"worst|worse|bad|wrong|avoid\w*|danger\w*|dead\w*|fatal\w*|kill\w*|die|dies|death|useless"
    r"|pointless|fail\w*|refus\w*|reject\w*|mistake\w*|harm\w*|impossible|forbidden|invalid"
)
_NOUN = (
    r"(?:(?:course of )?action|command|move|answer|decision|choice|act|output|response|reply|option"
    r"|aktion|befehl|antwort|acci[oó]n|respuesta|comando|a[cç][aã]o|resposta|azione|mossa|risposta"
    r"|commande|r[eé]ponse|действие|команда|ответ|ход"
    r"|\w{0,8}(?:动作|行动|操作|指令|命令|回答|答案|行動|アクション|행동|명령))"
)
_WHICH = (
    r"(?:(?:the|my|our|your|this|a|an|one|next|best|final|chosen|selected|recommended|suggested"
    r"|proposed|preferred|optimal|better|good|right|correct|first|single|only|game|player|agent"
    r"|immediate|current|present|new|planned|intended|concrete|logical|sensible|reasonable|safest|safe|wise"
    r"|(?:turn|step|round) \d+)[ _-])"
)
"""Words before the action to take; other words introduce past, bad or possible actions."""
_MADE = (
    r"(?:[ _](?:to[ _](?:take|do|perform|execute|play|make)|(?:that )?i(?:['’]ll)? "
    r"(?:will )?(?:take|choose|pick|select|do|perform)|taken|chosen|selected|decided|now|next|text"
    r"|name|string|for (?:this|the) (?:turn|step)|this (?:turn|step)))"
)
_NUMBER = r"(?:[ _-]?#?\d+)?"
_COLON = r"(?:(?:是|为)?[:：=]|->|=>|→|\||(?<= )[-–—](?= ))"
_LABEL = (
    rf"(?:\b{_WHICH}{{0,4}}{_NOUN}{_MADE}{{0,2}}{_NUMBER}"
    rf"[*_`\"' \])】>]{{0,4}}{_COLON}|(?<=[\[(【<]){_NOUN}{_NUMBER}[\])】>])"
)
_LABELLED = re.compile(rf"^[^\w\n]*{_LABEL}(?P<rest>.*)$", re.IGNORECASE | re.MULTILINE)
_IN_LINE = re.compile(rf"(?:[.!?;,)] |\t){_LABEL}(?P<rest>.*)$", re.IGNORECASE | re.MULTILINE)
_HEADING = re.compile(
    rf"^[ \t]*[#*_]+ *{_WHICH}{{0,3}}{_NOUN}{_MADE}?[ *_]*(?P<rest>)$",
    re.IGNORECASE | re.MULTILINE,
)
_PREFIX = re.compile(
    r"(?:assistant|agent|player|ai|bot|model|command|i|a|selected|chosen|final"
    r"|(?:step|turn)(?: \d+)?|choose|play|do|next|now|therefore|here is my response)\s*[:：>]\s*",
    re.IGNORECASE,
)
"""Labels without a word for *action*; the rest of the line must be a valid action."""
_LINE = re.compile(r"^(?!\s*(?:```|~~~)).*\S.*$", re.MULTILINE)
_NEXT_LINE = re.compile(r"\s*(?:(?:```|~~~)[\w-]*\s*\n\s*)?([^\n]*)")
_TAGGED = re.compile(
    rf"<(?P<tag>(?:\w+_)?(?:{_NOUN}|final)(?:_\w+)?|parameter|arg|argument)\b(?P<about>[^<>\n]{{0,120}}?)"
    r"(?:/>|>(?P<inside>(?:(?!<(?P=tag)\b).)*?)(?:</(?P=tag)>|\Z))"
    r"|\\boxed\{(?:\\\w+\{)?(?P<box>[^{}]*)\}",
    re.IGNORECASE | re.DOTALL,
)
_PARAMETERS = ("parameter", "arg", "argument")
_CALL_NAMES = ("name", "action", "command", "verb", "function", "tool", "tool_name")
_CALL_INPUTS = ("arguments", "parameters", "args", "input", "action_input", "tool_input")
_INPUT = re.compile(
    r"\n[^\w\n]*(?:action|tool)[ _]?input\W{0,4}\d{0,3}\W{0,4}?[:：](.*)", re.IGNORECASE
)
"""Line below the name of a tool, with what the tool gets (ReAct in LangChain)."""
_FUNCTION = re.compile(
    r"""<(?:function=|invoke name=["'])([^<>"'\n]+)["']?>(.*?)(?:</(?:function|invoke)>|\Z)""",
    re.DOTALL,
)
_KEYED_CALL = re.compile(r"<tool_call>\s*([\w.-]+)\s*(<arg_key>.*?)(?:</tool_call>|\Z)", re.DOTALL)
_KEYED = re.compile(r"<arg_key>([^<>\n]*)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
"""An argument in the calls of GLM, whose keys are tags of their own."""
_INSIDE = re.compile(r">([^<>]*)</")
_NAMED = re.compile(_NOUN, re.IGNORECASE)
_INNER_TAG = re.compile(r"</?\w+[^<>\n]{0,120}>")
_ATTRIBUTE = re.compile(r"""\b(\w+)\s*=\s*(["'])(.+?)\2""")
_SQUARE = re.compile(r"\[(\w+)\](.*?)\[/\1\]", re.DOTALL)
_KEY = re.compile(rf"{_WHICH}*{_NOUN}s?{_MADE}*", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|[_-]")
_FIELD = re.compile(r"""[{,]\s*["']?(\w{1,40})["']?\s*:\s*(["'])([^"\n]*?)\2\s*[,}]""")
_PAIR = re.compile(r"^[ \t-]*(\w[\w ]{0,40}):[ \t]*(.*)$", re.MULTILINE)  # of YAML
_THOUGHT_KEY = re.compile(r".*(?:thought|reason|rationale|think).*", re.IGNORECASE)
_OTHER_KEY = re.compile(
    rf"{_THOUGHT_KEY.pattern}|.*(?:{_BAD}|last|previous|past|prev|history|possible|valid|available"
    r"|example|obs|note|task|inventory|memory|alternative|fallback|other|instead"
    r"|\b(?:not|never|no|without|unless|if|but|don'?t)\b).*",
    re.IGNORECASE,
)
"""JSON keys whose value is no action to take."""
_INVENTED_REPLY = re.compile(
    r"^[^\w\n]*(?:observation|obs)\W*\d*\W*:", re.IGNORECASE | re.MULTILINE
)
"""Start of a reply by the game that the model invented."""
_THOUGHT = re.compile(
    r"^\W*(?:thoughts?|reason(?:ing)?|rationale|think(?:ing)?)(?: \d+)?\W{0,3}[:：]\W*",
    re.IGNORECASE,
)

_ASIDE = re.compile(
    rf"(?=.*[:：]\W*$)(?!.*\b{_WHICH}{_NOUN} (?:is|would be)\W*$)"
    rf"(?:{_THOUGHT.pattern}|{_OTHER_KEY.pattern}|"
    r".*\b(?:logs?|transcript|so far|before|did|was|were|went|took|played|done)\b)",
    re.IGNORECASE,
)
"""A line that introduces actions other than the chosen one."""
_STRUCK = re.compile(r"(?<!~)~~(?!~)[^~\n]+~~(?!~)|<(del|strike)>.*?</\1>", re.IGNORECASE)

# marks around an action
_MARKS = " \t\r\n\xa0\"'`*_.!>“”‘’«»👉,:|"
_NOISE = " \t\n\"'`*.!>"
_BRACKETS = {"[": "]", "(": ")", "<": ">", "{": "}"}
_BULLET = re.compile(r"(?:[-*•·>]|\[\d{1,3}\]|#\d{1,3}|[\[(]?\d{1,3}[.):\]])\s+")
_CALL = re.compile(
    r"""\w+\((?:\w+\s*=\s*)?(["'])(?P<rest>.+)\1\)"""
    rf"|(?:{_NOUN}|do|play|perform|execute|submit|finish|take_action)[(\[](?P<bare>.+)[)\]]"
    r"|(?P<empty>\w+)\(\)|(?P<verb>\w+)[(\[](?P<object>[^()\[\]]+)[)\]]",
    re.IGNORECASE,
)
_SPACE_STANDIN = re.compile(r"(?<=\w)\\?[_-](?=\w)|\\ |(?<=[a-z])(?=\d)")
"""Stand-ins for a space in an action: ``go_east``, ``cabinet1``."""
_CHARACTER_MAP: dict[int, str | None] = dict.fromkeys(map(ord, "‐‑‒–"), "-")
_CHARACTER_MAP |= dict.fromkeys(map(ord, "*`\u200b\u200c\u200d\u2060\ufeff\xad"))
"""Replacements of hyphens, invisible characters and marks of emphasis."""
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {word: str(number) for number, word in enumerate(_WORDS)}
_BETWEEN = re.compile(r"""\w+\s*=\s*(?=["'])|[^\w/'’?-]+|'(?!\w)|(?<!\w)'""")
"""Marks between the words of an action, and names of arguments."""
_SIGNS = re.compile(r"^[^\w\[({<\"'`?]+|[^\w\])}>\"'`?]+$")
_SEARCH = re.compile(r"search\[.+\]")
_INTENT = re.compile(
    r"(?=(?:so|now|then|okay|ok|sure|first|next|thus|therefore|hence|finally|i|you|we|let|the|my"
    rf"|our|in|to|because|since|as|{_NOUN})\b)"
    r"(?:(?:(?:in order )?to|because|since|as) [^,.!?\n]{3,120}, )?"
    r"(?:(?:so|now|then|okay|ok|sure|first|next|thus|therefore|hence|finally)\b[,:.!]? )*"
    r"(?:i (?:think|believe|guess|suggest|recommend|propose)(?: that)? )?"
    r"(?:i(?:'ll|’ll|'d|’d| will| would| should| must| choose to| choose| decide to| need to"
    r"| want to|'m going to| am going to)?|you(?: should| must| need to)"
    r"|we(?: should| must| need to| will)?"
    rf"|let(?:'s|’s| me| us)|{_WHICH}*(?:{_NOUN}|step|thing){_MADE}? "
    r"(?:is|would be|will be|should be)(?: to)?|(?:the )?best (?:is|would be)(?: to)?)?"
    r"(?<=[\w:,.!’'] )?[: ]*(?<=[ :])",
    re.IGNORECASE,
)
"""Beginning of a sentence that states a decision."""
_REMARK = re.compile(
    r"\s+(?:[(\[{#→]|//|->|=>)|\t|\s+[-–—]+\s+|[;.:]\s+"
    r"|,?\s+(?:because|since|as|so|in order|which|to|for)\b|\n"
)
"""Beginning of a remark after an action."""
_ADVERB = re.compile(
    r",?\s+(?:first|now|next|again|then|instead|here|please|immediately|at once|right away)$",
    re.IGNORECASE,
)
_CONTINUATION = re.compile(r"[^\w([]*(?:then|and|or|but|next|after|later)\b", re.IGNORECASE)
_EMPHASIS = re.compile(r"\*\*(.+?)\*\*|`([^`\n]+)`|[\"“]([^\"“”\n]+)[\"”]")
_DOUBT = re.compile(
    r"\b(?:not?|never|cannot|either|n?or|neither|already|tried|could|might|may|if|unless|but"
    rf"|without|except|previous\w*|last|past|earlier|history|example|possible|available|options|{_BAD})\b"
    r"|n't\b|n’t\b|\?",
    re.IGNORECASE,
)
"""Words of a sentence that makes no decision or rejects an action."""
_REJECTION = re.compile(
    rf"\W*(?:\w+\W+){{0,2}}?(?:(?:not?|never|nicht|kein\w*|nie|pas|jamais|nunca|n[ãa]o|non|не|нет"
    rf"|{_BAD})\b|[不别勿])",
    re.IGNORECASE,
)
"""Beginning of a remark that rejects its action."""
_RETRACTION = re.compile(
    r"\b(?:just kidding|correction|scratch that|no,? wait|wait,? (?:no|that)|on second thoughts?"
    r"|never ?mind|i mean|actually)\b",
    re.IGNORECASE,
)
_DECIDES = re.compile(
    r"\b(?:choose|chose|pick|select|decide|go(?:ing)? with|will|should|must|best|next|now|action"
    r"|move|choice|option|command|answer|let|try|do|proceed|take|perform|execute|so|therefore)\b"
    r"|['’](?:ll|s)\b",
    re.IGNORECASE,
)
_PRAISED = re.compile(
    r"\W*(?:is|seems|looks|would be)\b.*\b(?:best|right|next|good|sensible)\b", re.I
)


class Decision(NamedTuple):
    """An action in an answer, and the thought before it."""

    action: str
    thought: str = ""


NO_DECISION = Decision("")
"""Result for an unreadable answer."""


class UnreadableAnswerError(ModelError):
    """An error for an answer that names no possible action, or several."""

    def __init__(self, message: str):
        super().__init__("answer", message)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self),)


class _Claim(NamedTuple):
    """A part of an answer that may be the action; ``match`` is the valid action, if any."""

    said: str
    match: str
    start: int
    end: int
    thought: str = ""


Match = Callable[[str], str]
Alike = Callable[[str, Sequence[str]], str]
Kind = Callable[[str, Match], Iterator[_Claim]]


def read_action(
    text: str, valid: Sequence[str], operations: Sequence[str] = (), *, cut: bool = False
) -> Decision:
    r"""Read the action that an answer chooses.

    Args:
        text: The answer; thoughts between tags are ignored.
        valid: The valid actions; if empty, every text is valid.
        operations: Forms of operations on the memory, such as ``note: TEXT``.
        cut: Whether the answer was truncated, so its last line may be incomplete.

    Raises:
        UnreadableAnswerError: The answer names no such action, or several.

    >>> read_action("Thought: a key.\nAction 1: Take the key (it opens the box)", ("take key",))
    Decision(action='take key', thought='a key.')
    """
    answer = without_thinking(text).replace("\r\n", "\n").rstrip()[-_MAX_CHARS:]
    answer = _KEYED_CALL.sub(r"<function=\1>\2</function>", _STRUCK.sub("", answer))
    answer = _SQUARE.sub(r"<\1>\2</\1>", _KEYED.sub(r"<parameter=\1>\2</parameter>", answer))
    if not answer:
        raise UnreadableAnswerError("expected an action, got an empty answer")
    made_up = _INVENTED_REPLY.search(answer)
    before = answer[: made_up.start()] if made_up else answer
    kinds: list[Kind] = [_structured, *([_in_pairs] if valid else []), _tagged, _labelled]
    kinds += [_on_lines, _in_sentences] if valid else [_first_line]
    for alike in (_match, _match_loosely):
        match = functools.partial(undressed, valid=valid, operations=operations, alike=alike)
        claims = _claims(before, kinds, match) or _claims(answer, kinds, match)
        if cut:
            claims = [claim for claim in claims if claim.end < len(answer)]
        found = {claim.match for claim in claims} - {""}
        if found:
            break
    if len(found) > 1:
        raise UnreadableAnswerError(f"{_shown(answer)} names several possible actions")
    if not found:
        said = next((claim.said for claim in claims if claim.said.strip(_MARKS)), answer)
        raise UnreadableAnswerError(f"{_shown(said)} is not among the possible actions")
    chosen = next(claim for claim in claims if claim.match)
    if _RETRACTION.search(before, chosen.end):
        raise UnreadableAnswerError(f"{_shown(answer)} takes an action back")
    thought = chosen.thought or _THOUGHT.sub("", answer[: chosen.start].strip())
    return Decision(chosen.match, " ".join(thought.split())[:_THOUGHT_CHARS])


def _shown(text: str) -> str:
    return repr(" ".join(text.split())[:_SHOWN_CHARS])


def _claims(answer: str, kinds: Sequence[Kind], match: Match) -> list[_Claim]:
    """Return the claims of the first kind that occurs."""
    found = (list(kind(answer, match)) for kind in kinds)
    return next(filter(None, found), [])


# ------------------------------------------------------------ kinds of claims


def _structured(answer: str, match: Match) -> Iterator[_Claim]:
    """Yield JSON fields with a name for an action, or else those with a valid action."""
    values = list(json_values(answer))
    start, end = answer.find("{"), answer.rfind("}") + 1
    if not values and 0 <= start < end <= start + _LITERAL_CHARS:
        with contextlib.suppress(ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            values = [ast.literal_eval(answer[start:end])]  # a Python literal
    start = max(min((at for at in map(answer.find, "{[") if at >= 0), default=0), 0)
    end = max(answer.rfind("}"), answer.rfind("]")) + 1
    leaves = [leaf for value in values for leaf in _leaves("", value)] or [*_fields(answer)]
    thought = next((text for key, text in leaves if _THOUGHT_KEY.fullmatch(key)), "")
    top = [leaf for value in values if isinstance(value, Mapping) for leaf in value.items()]
    named = _named((key, text) for key, text in top if isinstance(text, str))
    named = named if any(map(match, named)) else _named(leaves)  # inner ones may be candidates
    others = [text for key, text in leaves if not _OTHER_KEY.fullmatch(_CAMEL.sub(" ", key))]
    fields = named or list(filter(match, others))
    for value in values:
        if isinstance(value, Mapping) and any(key in value for key in _CALL_INPUTS):
            fields = [*filter(match, _calls(value))][:1] or fields
    if not any(map(match, fields)) or len(set(fields)) > 1 > len(named):
        fields = [call for value in values for call in _calls(value) if match(call)] or fields
    for text in fields:
        found = match(text)
        inner = [] if found else list(_labelled(text, match))
        for claim in inner or [_Claim(text, found, 0, 0)]:
            yield claim._replace(start=start, end=end - 1, thought=thought or claim.thought)


def _named(leaves: Iterable[tuple[Any, str]]) -> list[str]:
    return [text for key, text in leaves if _KEY.fullmatch(_CAMEL.sub(" ", str(key)))]


def _leaves(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts in a JSON value with their keys, and other values under a key for actions."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(str(name), inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(key, inner)
    elif _KEY.fullmatch(_CAMEL.sub(" ", key)):
        yield key, "" if value is None else str(value)


def _calls(value: Any) -> Iterator[str]:
    """Yield the calls of tools in a JSON value, such as ``take(lamp)``."""
    if isinstance(value, list):
        if all(isinstance(inner, str) for inner in value):
            yield " ".join(value)
        for inner in value:
            yield from _calls(inner)
    elif isinstance(value, Mapping):
        called = next((key for key in _CALL_NAMES if isinstance(value.get(key), str)), "")
        others = {k: v for k, v in value.items() if k != called and not _OTHER_KEY.fullmatch(k)}
        given = next((value[key] for key in _CALL_INPUTS if key in value), others)
        if called and given != {}:
            yield _call(value[called], given)
        elif len(others) > 1 and all(isinstance(inner, str) for inner in others.values()):
            yield " ".join(others.values())
        for inner in value.values():
            yield from _calls(inner)


def _call(name: str, given: Any) -> str:
    """Return a call as one text, whose parts :data:`_CALL` reads."""
    inner = list(json_values(given)) if isinstance(given, str) else given
    parts = _leaves("", inner or given)
    words = [text for key, text in parts if not _THOUGHT_KEY.fullmatch(key)]
    return f"{'_'.join(name.split())}({' '.join(words)})"


def _fields(answer: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of an answer in broken JSON."""
    for field in _FIELD.finditer(answer):
        if _KEY.fullmatch(_CAMEL.sub(" ", field[1])):
            yield field[1], field[3]


def _in_pairs(answer: str, match: Match) -> Iterator[_Claim]:
    """Yield the action in the pairs of a key and a value, such as a verb and an object in YAML."""
    pairs = _PAIR.findall(answer)
    calls = _calls(dict(pairs)) if len(dict(pairs)) == len(pairs) else ()
    yield from (_Claim(call, match(call), 0, len(answer)) for call in calls if match(call))


def _tagged(answer: str, match: Match) -> Iterator[_Claim]:
    for call in _FUNCTION.finditer(answer):
        text = _call(call[1], _INSIDE.findall(call[2]) or call[2])
        yield _Claim(text, match(text), call.start(), call.end())
    for tag in _TAGGED.finditer(answer):
        inside = tag["box"] if tag["inside"] is None else tag["inside"]
        given = _ATTRIBUTE.findall(tag["about"] or "")
        parts = [value for key, _, value in given if not _OTHER_KEY.fullmatch(key)]
        if inside is None:  # a self-closing tag has the action in its attributes
            inside = next(filter(match, parts), "")
        elif (tag["tag"] or "").lower() in _PARAMETERS and not _NAMED.search(tag["about"]):
            continue
        closed = tag["inside"] is None or tag[0].endswith(">")
        found = "" if _INNER_TAG.search(inside) else match(inside)
        claims = [] if found else _claims(inside, (_tagged, _labelled), match)
        if not (found or claims):  # in parts: attributes, or tags with other names
            found = match(" ".join([*parts, *_INNER_TAG.sub(" ", inside).split()]))
        if claims:
            yield from (one._replace(start=tag.start(), end=tag.end() - closed) for one in claims)
        else:
            yield _Claim(inside, found, tag.start(), tag.end() - closed)


def _labelled(answer: str, match: Match) -> Iterator[_Claim]:
    labels = list(_LABELLED.finditer(answer)) or list(_HEADING.finditer(answer))
    for label in [*labels, *_IN_LINE.finditer(answer)]:
        rest, end = label["rest"], label.end()
        if not rest.strip(_MARKS):  # the action is on the next nonempty line
            below = _NEXT_LINE.match(answer, end)
            rest, end = (below[1], below.end()) if below else ("", end)
        found, given = match(rest), _INPUT.match(answer, end)
        if given and not found:
            found, end = match(_call(rest.strip(_MARKS), given[1].strip(_MARKS))), given.end()
        yield _Claim(rest, found, label.start(), end)


def _on_lines(answer: str, match: Match) -> Iterator[_Claim]:
    at, aside = 0, False
    for line in answer.split("\n"):
        found = match(line)
        if found and not aside:
            yield _Claim(line, found, at, at + len(line))
        if line.strip() and not found:
            aside = bool(_ASIDE.match(re.split("[.,;!?] ", line[:_MAX_LINE_CHARS])[-1]))
        at += len(line) + 1


def _first_line(answer: str, match: Match) -> Iterator[_Claim]:
    """Yield the first line if every text is valid, rather one that is no sentence or thought."""
    lines = [line for line in _LINE.finditer(answer) if not _THOUGHT.match(line[0])]
    bare = [line for line in lines if line[0].rstrip()[-1] not in ".!?:"]
    for line in (bare or lines)[:1]:
        yield _Claim(line[0], match(line[0]), *line.span())


def _in_sentences(answer: str, match: Match) -> Iterator[_Claim]:
    """Yield the action that a sentence chooses or puts between marks."""
    for words, at in sentence_spans(answer, ".!?;"):
        spoken = _INTENT.match(words)
        marked = [
            (next(filter(None, found.groups())), words[: found.start()], words[found.end() :])
            for found in _EMPHASIS.finditer(words)
        ]
        others = [(words[spoken.end() :], spoken[0], "")] if spoken and not marked else []
        for text, before, after in marked or others:
            if found := match(text):
                own = set(_plain(found).split())
                rest = " ".join(word for word in words.split() if _plain(word) not in own)
                bare = not f"{before}{after}".strip(_MARKS)
                decides = bare or bool(_DECIDES.search(before)) or bool(_PRAISED.match(after))
                if not _DOUBT.search(rest) and (not marked or decides):
                    yield _Claim(text, found, at, at + len(words))
                elif marked:
                    yield _Claim(text, "", at, at + len(words))


# ------------------------------------------------------------ one action beside the valid ones


@functools.lru_cache(maxsize=4096)
def _plain(action: str) -> str:
    """Normalize an action for comparison."""
    text = unicodedata.normalize("NFKC", action.lower()).translate(_CHARACTER_MAP)
    words = _SPACE_STANDIN.sub(" ", text).split()
    words = [_NUMBERS.get(word, word) for word in words]
    return without_articles(" ".join(words).strip(_NOISE))


def match_action(text: str, valid: Sequence[str]) -> str:
    """Return the valid action in the first line of a text; empty if there is none.

    Case, spaces, articles and surrounding marks are ignored. If one search is valid, all are.

    >>> match_action('Take the red key.', ("look", "take red key"))
    'take red key'
    >>> match_action("search[warm red coat]", ("search[coat]",))
    'search[warm red coat]'
    """
    return _match(next((one for one in text.splitlines() if one.strip(_NOISE)), ""), valid)


def _match(text: str, valid: Sequence[str]) -> str:
    line = text.strip()
    if line in valid:
        return line
    line = line.strip(_NOISE)
    if line in valid:
        return line
    if _SEARCH.fullmatch(line) and any(map(_SEARCH.fullmatch, valid)):
        return line
    return _by_plain(tuple(valid)).get(_plain(line), "") if line else ""


@functools.lru_cache(maxsize=64)
def _by_plain(valid: tuple[str, ...]) -> Mapping[str, str]:
    return {_plain(action): action for action in reversed(valid)}


def _match_loosely(text: str, valid: Sequence[str]) -> str:
    """Also match a direction, a choice (*in/on*), a call's names, inner marks, a missing source."""
    plain = _plain(_BETWEEN.sub(" ", text))
    meant = direction_in(plain) or plain
    return _match(text, valid) or (_by_meaning(tuple(valid)).get(meant, "") if plain else "")


@functools.lru_cache(maxsize=64)
def _by_meaning(valid: tuple[str, ...]) -> Mapping[str, str]:
    """Return valid actions by what :func:`_match_loosely` matches, if it fits one alone."""
    found: dict[str, list[str]] = {}
    for action in valid:
        plain = _plain(action)
        choices = itertools.product(*(word.split("/") for word in plain.split()))
        ways = itertools.islice(choices, _MOST_CHOICES)
        said = dict.fromkeys((direction_in(plain) or plain, *map(" ".join, ways)))
        said |= dict.fromkeys(_plain(_BETWEEN.sub(" ", one)) for one in said)
        bare = [parse_action(one) for one in said]
        said |= dict.fromkeys(" ".join((it.verb, *it.names)) for it in bare)
        taken = [f"{it.verb} {it.names[0]}" for it in bare if it.template == "<> from <>"]
        for one in said | dict.fromkeys(taken):  # the place is no choice
            found.setdefault(one, []).append(action)
    return {said: actions[0] for said, actions in found.items() if len(actions) == 1}


# ------------------------------------------------------------ marks around one action


def undressed(
    text: str, valid: Sequence[str], operations: Sequence[str] = (), alike: Alike = _match_loosely
) -> str:
    """Return the action of a text that has only marks and a remark beside it; else empty.

    ``alike`` returns the valid action that a bare text names, or empty.
    """
    line = text = text[:_MAX_LINE_CHARS]
    for _ in range(_MAX_PEELS):
        line = text.strip()
        if operations and read_operation(line) and line not in operations:
            return line
        if valid and (found := alike(line, valid)):
            return found
        text = _without_marks(line)
        if text == line:
            break
    if not valid:
        return _without_remark(line) if _INTENT.sub("", line) else ""
    for remark in reversed(list(_REMARK.finditer(line))):
        before, after = line[: remark.start()], line[remark.start() :]
        if (found := alike(before, valid)) and not _is_against(remark[0], after, valid):
            return found
    return ""


def _is_against(mark: str, remark: str, valid: Sequence[str]) -> bool:
    """True if a remark names another action or revokes the one before it."""
    if _CONTINUATION.match(remark) or _RETRACTION.search(remark):
        return True
    word = mark.strip(", ").lower()
    if word in ("because", "since", "as", "which"):
        return False  # the remark may argue against other actions
    if word.isalpha() or word == "in order":
        return bool(re.search(_BAD, remark, re.IGNORECASE))
    if _REJECTION.match(remark) or _match(remark.strip(_MARKS + "-=/→"), valid):
        return True
    sentences = (one.strip(_MARKS) for one, _ in sentence_spans(remark, ".!?;"))
    return any(_match(_INTENT.sub("", one, count=1), valid) for one in sentences if one)


def _without_marks(line: str) -> str:
    """Return a line without its outermost marks, if it has any."""
    if line[:1] in _BRACKETS and line.endswith(_BRACKETS[line[0]]):
        return line[1:-1]
    for dress in (_BULLET, _LABELLED, _PREFIX, _INTENT):
        found = dress.match(line)
        if found and found.end():
            return found["rest"] if "rest" in dress.groupindex else line[found.end() :]
    if found := _CALL.fullmatch(line.strip(_MARKS)):
        whole = f"{found['verb']} {found['object']}"
        return found["rest"] or found["bare"] or found["empty"] or whole
    bare = _SIGNS.sub("", line.strip(_MARKS))
    torn = any(bare.count(mark) % 2 != line.count(mark) % 2 for mark in "\"'")  # say "hello"
    return line if torn else _ADVERB.sub("", bare)


def _without_remark(line: str) -> str:
    return re.sub(r"\s+\([^()]*\)$", "", line)
