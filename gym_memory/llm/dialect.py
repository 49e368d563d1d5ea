"""Dialects of servers, learned once from their refusals."""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["Dialect", "LearntDialect", "is_about_context", "is_about_cut", "reasons_by_name"]

LIMIT_FIELDS = ("max_tokens", "max_completion_tokens", "")
FORMATS = ("schema", "object", "")
"""Response formats, from the strictest to none."""


class Dialect(NamedTuple):
    """A way to send requests; ``limit`` is the field of the answer's limit, or "" to send none.

    ``least`` and ``most`` bound the limit that the server accepts, and ``context`` is its context;
    all are in tokens, and 0 if unknown.
    """

    limit: str = LIMIT_FIELDS[0]
    temperature: bool = True
    seed: bool = True
    system: bool = True
    format: str = FORMATS[0]
    grammar: bool = True
    stream: bool = False
    least: int = 0
    most: int = 0
    context: int = 0


_NAMED = {
    "limit": r"max_\w*tokens|max.?output|(?:completion|output).tokens|num_predict",
    "temperature": r"temperature|sampling",
    "grammar": r"grammar",
    "format": r"response.?format|json.?(?:schema|mode|object)|structured|guided|grammar",
    "system": r"system|developer|\broles?\b|alternate|messages\[0\]",
    "seed": r"\bseed\b",
    "stream": r"stream",
}
"""Patterns for errors that name a part of a request."""
_SENT = {
    "limit": "the limit of an answer is sent as {!r}",
    "temperature": "no temperature is sent",
    "grammar": "no grammar is sent",
    "format": "the form of an answer is requested as {!r}",
    "system": "rules are sent as a part of the user's message",
    "seed": "no seed is sent",
    "stream": "answers are streamed",
    "least": "the limit of an answer is at least {} tokens",
    "most": "an answer has at most {} tokens",
    "context": "prompt and answer have at most {} tokens",
}
_NOT_SENT = {
    "limit": "no limit of an answer is sent",
    "format": "no form of an answer is requested",
}
_CONTEXT = re.compile(
    r"context.{0,24}(?:length|window|size|limit|exceed|overflow)|prompt.{0,20}(?:too long|exceed)"
    r"|too (?:long|many (?:input |prompt )?tokens)|exceed.{0,40}(?:context|window|n_ctx|input)"
    r"|(?:input|request|message).{0,24}too (?:long|large)|reduce the (?:length|prompt)|n_ctx"
    r"|maximum.{0,24}(?:input|prompt|sequence)",
    re.IGNORECASE,
)
_TOO_LARGE = re.compile(
    r"too (?:large|big|high)|at most|less than|or equal|exceed|maximum|must be (?:in|between|<)"
    r"|\brange\b|limit of|up to",
    re.IGNORECASE,
)
_TOO_SMALL = re.compile(
    r"too (?:small|low)|at least|below|greater than|minimum|>=|must be (?:positive|above|over)"
)
_CUT = re.compile(r"could not finish|(?:max\w*tokens|output).{0,30}limit was reached")
_BOUND = re.compile(
    r"(?:context|max\w*|limit|at most|up to|n_ctx|allow\w*|supports?|less than|or equal to|<=?)"
    r"\D{0,48}?(\d{2,8})(?![\w.]*\d)"
)
"""Bound that an error states."""
_REFUSES = re.compile(
    r"support|unknown|unexpected|unrecogni|invalid|must|only|jinja|template|cannot|not allowed"
    r"|not implemented|refus|reject"
)
_LEAST_ROOM = 16
_LEAST_ANSWER = 512
"""Limit of an answer in tokens after an error that it is too high, without a number."""
_ROOM_FOR_THOUGHTS = 32_768
"""Limit of an answer in tokens after an error that it is too low, without a number."""
_LEAST_CONTEXT = 512
"""Least tokens of a prompt that a server may have cut."""
_LONGER, _FAR = 1.05, 1.5
"""Least ratio of two prompts of different length, and of an estimate to the count of a cut one."""


def is_about_cut(text: str) -> bool:
    """True if an error says that an answer reached its limit before any content."""
    return _CUT.search(text) is not None


def is_about_context(text: str) -> bool:
    """True if an error says that the prompt, perhaps together with the answer, is too long."""
    return _CONTEXT.search(text) is not None


_REASONS = re.compile(
    r"(?:^|[/:_ -])(?:o[1-9]\d?|r1|z1)(?:$|[-:_. ])|gpt-5|gpt-oss|qwq"
    r"|qwen-?3(?!.*(?:instruct|coder))"
    r"|deepseek-(?:r|v3\.[1-9]|v[4-9])|think|reason|magistral|glm-(?:4\.[5-9]|[5-9])|kimi-k2-t"
    r"|minimax-m\d|grok-(?:3-mini|[4-9])|gemini-(?:2\.5|[3-9])|seed-oss|exaone-deep|phi-4-r"
    r"|nemotron|smollm3|step-[3-9]|mimo|hunyuan-a13b|ernie.*-x1|cogito|marco-o1",
    re.IGNORECASE,
)


def reasons_by_name(model: str) -> bool:
    """True if a model with this name thinks before it answers, unless a setting says otherwise.

    >>> [reasons_by_name(name) for name in ("openai/gpt-5-mini", "o4-mini", "qwen2.5:7b", "gpt-4o")]
    [True, True, False, False]
    """
    return _REASONS.search(model) is not None


@dataclasses.dataclass
class LearntDialect:
    """A dialect of a model, shared by its clients in a process; ``notes`` report changes.

    ``reasons`` becomes True with the first thought in an answer.
    """

    now: Dialect = Dialect()  # noqa: RUF009 - immutable
    reasons: bool = False
    settled: bool = False
    """True once an answer has shown whether the model reasons."""
    notes: tuple[str, ...] = ()
    guessed: bool = False
    """True once parts that no error names were left out by trial."""
    read: int = 0
    """Tokens of the longest prompt, as the server counts them."""
    estimate: int = 0
    """Estimated tokens of that prompt, the least of prompts with the same count."""
    cuts: bool = False
    """True if the server silently cuts longer prompts."""
    lock: Any = dataclasses.field(default_factory=threading.Lock, repr=False)

    def adopt(self, dialect: Dialect, reason: str) -> None:
        """Send requests in a new way from now on."""
        with self.lock:
            new = []
            for name, value in dialect._asdict().items():
                if value != getattr(self.now, name):
                    note = _SENT[name].format(value) if value else _NOT_SENT.get(name, _SENT[name])
                    new.append(f"{note}: {reason}")
            self.now = dialect
            self.notes += tuple(note for note in new if note not in self.notes)

    def note_prompt(self, estimate: int, counted: int) -> None:
        """Compare the estimated size of a prompt with the server's count, to detect a cut.

        A server that cuts prompts, such as Ollama, counts all longer ones as equally long.
        """
        with self.lock:
            if counted < max(self.read, _LEAST_CONTEXT) or self.cuts:
                return
            if counted > self.read:
                self.read, self.estimate = counted, estimate
                return
            far = estimate != self.estimate and min(estimate, self.estimate) > _FAR * counted
            self.cuts = far or max(estimate, self.estimate) > _LONGER * min(estimate, self.estimate)
            self.estimate = min(estimate, self.estimate)
            self.notes += (self.cut_note,) if self.cuts else ()

    def is_cut(self, estimate: int) -> bool:
        """True for a prompt that the server would cut."""
        return self.cuts and estimate >= self.estimate

    @property
    def cut_note(self) -> str:
        """Return the note on a server that cuts prompts."""
        return (
            f"the server reads {self.read} tokens of a prompt and leaves out the rest without an "
            "error: give it a larger context (Ollama: OLLAMA_CONTEXT_LENGTH)"
        )


def names_a_part(text: str) -> bool:
    """True if an error names a part of requests that can be left out."""
    return any(re.search(words, text) for words in _NAMED.values())


def named_changes(
    dialect: Dialect, body: dict[str, Any], error: str, status: int, prompt: int
) -> Iterator[Dialect]:
    """Yield the dialects that leave out or rename the part that an error names, likeliest first.

    ``prompt`` is the estimated size of the prompt in tokens.
    """
    if status >= 500 and not _REFUSES.search(error):  # the failure may have another reason
        return
    sent = _sent(dialect, body)
    wanted = int(body.get(dialect.limit, 0)) if dialect.limit else 0
    if wanted:
        yield from _smaller(dialect, error, wanted, prompt)
        if re.search(_NAMED["limit"], error) and _TOO_SMALL.search(error):
            bounds = [int(found) for found in re.findall(r"(?<![\w.-])\d{1,6}(?![\w.-]*\w)", error)]
            for bound in (*bounds, _ROOM_FOR_THOUGHTS):  # the error may have no number
                if bound > wanted:
                    yield dialect._replace(least=bound)
    if is_about_context(error):
        return
    for part in sent:
        if re.search(_NAMED[part], error):
            yield from _without(dialect, part)


def guessed_changes(dialect: Dialect, body: dict[str, Any]) -> Iterator[Dialect]:
    """Yield dialects without one part of a request, then without all parts."""
    least = dialect
    for part in _sent(dialect, body):
        if part != "stream":
            yield from _without(dialect, part)
            *_, least = _without(least, part)
    yield least


def _sent(dialect: Dialect, body: dict[str, Any]) -> list[str]:
    """Return the parts of a request that can be left out or sent in another way."""
    parts = {
        "temperature": "temperature" in body,
        "limit": bool(dialect.limit),
        "grammar": "grammar" in body,
        "format": "response_format" in body,
        "system": dialect.system and any(m["role"] == "system" for m in body["messages"]),
        "seed": "seed" in body,
        "stream": not dialect.stream,
    }
    return [part for part, is_sent in parts.items() if is_sent]


def _without(dialect: Dialect, part: str) -> Iterator[Dialect]:
    """Yield the dialects that send a part in another way, then not at all."""
    if part == "limit":
        yield from (dialect._replace(limit=f) for f in LIMIT_FIELDS if f != dialect.limit)
    elif part == "format":
        later = FORMATS[FORMATS.index(dialect.format) + 1 :]
        yield from (dialect._replace(format=name) for name in later)
    elif part == "stream":
        yield dialect._replace(stream=True)
    else:
        left_out: dict[str, Any] = {part: False}
        yield dialect._replace(**left_out)


def _smaller(dialect: Dialect, text: str, wanted: int, prompt: int) -> Iterator[Dialect]:
    """Yield dialects with a lower limit if an error says that it is too high."""
    about_context = is_about_context(text)
    if not about_context and not (re.search(_NAMED["limit"], text) and _TOO_LARGE.search(text)):
        return
    bounds = [int(found) for found in _BOUND.findall(text) if int(found) != wanted]
    others = [int(found) for found in re.findall(r"(?<![\w.-])\d{3,8}(?![\w.-]*\w)", text)]
    bounds = bounds or sorted((one for one in others if one < wanted), reverse=True)
    if "exclusive" in text:
        bounds = [bound - 1 for bound in bounds]
    for bound in bounds[:2]:
        if about_context and bound > prompt and bound != dialect.context:
            yield dialect._replace(context=bound)
        elif not about_context and _LEAST_ROOM <= bound < wanted:
            yield dialect._replace(most=bound)
    lower = max(wanted // 8, _LEAST_ANSWER)
    if lower < wanted:
        yield dialect._replace(most=lower)
