"""Chat-model protocol: a request, a reply, and the form of a reply."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import json
import operator
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypedDict

from gym_memory.core.errors import InvalidArgumentError, ModelError, defined_at
from gym_memory.llm.thinking import split_thinking

__all__ = ["NO_ANSWER", "ChatModel", "Form", "Message", "Reply", "Request", "Scorer", "Tokens"]
__all__ += ["answered", "json_values", "repair_messages", "validate"]

_MAX_LINE_CHARS = 300
_MAX_STARTS = 64
_QUOTED = 2000
NO_ANSWER = "(no answer)"
"""Turn in place of an empty one, which some servers refuse."""
_OPENING = re.compile(r"[{\[]")
_BESIDE_JSON = re.compile(r'("(?:[^"\\]|\\.)*+")|//[^\n]*|,(?=(?:\s|//[^\n]*+)*+[}\]])', re.DOTALL)
"""Text of JSON, and what JavaScript allows beside it: comments and a last comma."""


class Message(TypedDict):
    """A turn of a chat, as in the OpenAI API."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclasses.dataclass(frozen=True)
class Request:
    """A call of a chat model; usage is counted by ``role`` (``extract``, ``plan``, ...).

    A ``temperature`` of None leaves it to the server; ``seed`` is part of the cache key.
    ``max_tokens`` limits the answer; a reasoning model gets further tokens for its thoughts,
    unless ``thinks`` is False. ``schema`` is a pydantic model of a JSON answer (with one repair)
    or a :class:`Form`; with ``strict``, the answer is constrained to it during generation if the
    model or server supports that.
    """

    messages: Sequence[Message]
    _: dataclasses.KW_ONLY
    role: str = ""
    temperature: float | None = None
    max_tokens: int = 512
    thinks: bool = True
    seed: int | None = None
    schema: Any = None
    strict: bool = False


class Tokens(NamedTuple):
    """Tokens of a call, as the server counts them.

    ``prompt`` includes ``cached``, ``completion`` includes ``reasoning``. They are ``estimated`` if
    the server reports only a part of its usage and the rest is counted from the text.
    """

    prompt: int = 0
    cached: int = 0
    completion: int = 0
    reasoning: int = 0
    estimated: bool = False

    @property
    def total(self) -> int:
        """Return the tokens that count for a hard stop."""
        return self.prompt + self.completion


class Reply(NamedTuple):
    """An answer; ``hit`` if from the response cache, ``parsed`` if the request has a schema.

    ``thought`` is the reasoning before the answer, which is not part of ``text``. ``model`` is the
    server's name for the model; empty if it gives none.
    """

    text: str
    tokens: Tokens = Tokens()
    finish: str = "stop"
    hit: bool = False
    parsed: Any = None
    thought: str = ""
    model: str = ""


class ChatModel(Protocol):
    """A language model for roles and policies; thread-safe."""

    def complete(self, request: Request) -> Reply:
        """Answer a chat; raises ModelError, ModelSetupError or BudgetExceededError."""
        ...


class Scorer(Protocol):
    """A model that rates continuations, for choosing among actions."""

    def score(self, messages: Sequence[Message], continuations: Sequence[str]) -> list[float]:
        """Return the log-likelihood (natural log, summed over tokens) of each continuation."""
        ...

    def lengths(self, continuations: Sequence[str]) -> list[int]:
        """Return the number of tokens of each continuation."""
        ...


class Form(NamedTuple):
    r"""A text with slots: the last one takes one of ``options``, every other one a free line.

    A local model writes the text directly, a server by a grammar or as a JSON object of the slots.

    >>> form = Form("Thought: {thought}\nAction: {action}", ("look", "go east"))
    >>> form.pour('{"thought": "Nothing here.", "action": "go east"}')
    'Thought: Nothing here.\nAction: go east'
    """

    template: str
    options: tuple[str, ...]

    def parts(self) -> list[tuple[str, str]]:
        """Return the slots, each with the text before it."""
        found = [(lead, slot) for lead, slot, _, _ in string.Formatter().parse(self.template)]
        if not self.options or not found or not all(slot for _, slot in found):
            raise InvalidArgumentError(
                f"expected a template that ends in a slot, and options for it, got {self!r}"
            )
        return [(lead, str(slot)) for lead, slot in found]

    def model_json_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the slots."""
        *free, (_, last) = self.parts()
        line = {"type": "string", "maxLength": _MAX_LINE_CHARS}
        return {
            "type": "object",
            "properties": {**{slot: line for _, slot in free}, last: {"enum": list(self.options)}},
            "required": [*(slot for _, slot in free), last],
            "additionalProperties": False,
        }

    def grammar(self) -> str:
        r"""Return the text as a grammar of llama.cpp (GBNF).

        >>> print(Form("Say: {what}", ("yes", "no")).grammar())
        root ::= "Say: " ("yes" | "no")
        line ::= [^\n]{1,300}
        """
        *free, (lead, _) = self.parts()
        rules = [item for text, _ in free for item in (_quoted(text), "line")]
        rules += [_quoted(lead)] if lead else []
        options = " | ".join(map(_quoted, self.options))
        return (
            f"root ::= {' '.join([*rules, f'({options})'])}\nline ::= [^\\n]{{1,{_MAX_LINE_CHARS}}}"
        )

    def pour(self, text: str) -> str:
        """Fill the template from a JSON object of the slots; raises ModelError without one."""
        names = [slot for _, slot in self.parts()]
        for value in json_values(text):
            if isinstance(value, Mapping) and all(isinstance(value.get(n), str) for n in names):
                lines = {name: " ".join(value[name].split()) for name in names[:-1]}
                return self.template.format(**lines, **{names[-1]: value[names[-1]]})
        raise ModelError("answer", f"expected a JSON object with {', '.join(names)}")


def _quoted(text: str) -> str:
    """Return a literal of GBNF; its escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False)


def json_values(text: str) -> Iterator[Any]:
    """Yield the JSON objects and arrays in ``text``, in order, and ignore other text.

    >>> list(json_values('Sure! [1] and then ```{"action": "go east",}``` // done'))
    [[1], {'action': 'go east'}]
    """
    decoder = json.JSONDecoder(strict=False)  # a text may have line breaks
    position = 0
    for _ in range(_MAX_STARTS):
        start = _OPENING.search(text, position)
        if start is None:
            return
        try:
            value, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            plain = _BESIDE_JSON.sub(r"\1", text[start.start() :])
            try:
                value, position = decoder.raw_decode(plain)
            except (ValueError, RecursionError):
                position = start.end()
                continue
            text = plain
        yield value


def validate(text: str, schema: Any) -> Any:
    """Return the first JSON value in ``text`` that fits a pydantic model; raises ModelError."""
    problem = "there is no whole JSON value in it"
    for value in json_values(text):
        if isinstance(value, dict) and value.keys() == {"name", "arguments"}:
            value = value["arguments"]  # the call of a tool
        try:
            return schema.model_validate(value)
        except ValueError as error:
            reasons = error.errors()  # type: ignore[attr-defined]
            with contextlib.suppress(ValueError, LookupError, TypeError):
                return schema.model_validate(_as_wanted(value, reasons))
            problem = "; ".join(f"{_dotted(item['loc'])}: {item['msg']}" for item in reasons[:5])
    raise ModelError("answer", f"expected JSON of the requested form: {problem}")


def _as_wanted(value: Any, errors: Sequence[Mapping[str, Any]]) -> Any:
    """Return a value with texts for other scalars and lists for single texts, where wanted."""
    value = copy.deepcopy(value)
    for error in errors:
        *path, last = error["loc"]
        holder, found = functools.reduce(operator.getitem, path, value), error["input"]
        if error["type"] == "string_type" and not isinstance(found, list | dict):
            holder[last] = "" if found is None else str(found)
        elif error["type"] == "list_type" and isinstance(found, str):
            holder[last] = [found]
    return value


def _dotted(location: tuple[Any, ...]) -> str:
    return ".".join(map(str, location)) or "the whole"


def repair_messages(messages: Sequence[Message], answer: str, error: ModelError) -> list[Message]:
    """Return the chat that requests another answer and states the fault of the last one."""
    return [
        *messages,
        {"role": "assistant", "content": answer[:_QUOTED] or NO_ANSWER},
        {
            "role": "user",
            "content": f"This answer cannot be used: {str(error)[:_QUOTED]}\n"
            "Answer again with nothing but the corrected JSON.",
        },
    ]


def answered(
    ask: Callable[[Request], Reply], request: Request, repaired: Callable[[], None] = lambda: None
) -> Reply:
    """Call any chat model; part its thoughts, and parse an answer of a schema, with one repair.

    Raises:
        ModelError: The repaired answer is not of the schema either; ``answer`` has its text.
    """
    first = _parted(ask, request)
    if request.schema is None or isinstance(request.schema, Form) or first.parsed is not None:
        return first
    try:
        return first._replace(parsed=validate(first.text, request.schema))
    except ModelError as error:
        repaired()
        repair = repair_messages(request.messages, first.text, error)
    second = _parted(ask, dataclasses.replace(request, messages=repair))
    try:
        return second._replace(parsed=validate(second.text, request.schema))
    except ModelError as error:
        error.answer = second.text
        raise


def _parted(ask: Callable[[Request], Reply], request: Request) -> Reply:
    reply = ask(request)
    if not isinstance(reply, Reply):
        got = type(reply).__name__
        raise InvalidArgumentError(f"expected a Reply, got {got}{defined_at('complete', ask)}")
    thought, text = split_thinking(reply.text)
    return reply._replace(text=text, thought=thought) if thought else reply
