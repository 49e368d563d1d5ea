"""Text of a given form: templates that a model is held to, and JSON out of its answers."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gym_memory.core.errors import InvalidArgumentError, ModelError
from gym_memory.llm.base import Message

__all__ = ["Form", "json_values", "repair_messages", "validate"]

_MAX_LINE_CHARS = 300
_MAX_STARTS = 64
_QUOTED = 2000
_OPENING = re.compile(r"[{\[]")


class Form(NamedTuple):
    r"""Text with slots: the last one takes one of ``options``, every other one a free line.

    A local model writes the text itself; a server by a grammar, or as a JSON object of the slots.

    >>> form = Form("Thought: {thought}\nAction: {action}", ("look", "go east"))
    >>> form.pour('{"thought": "Nothing here.", "action": "go east"}')
    'Thought: Nothing here.\nAction: go east'
    """

    template: str
    options: tuple[str, ...]

    def parts(self) -> list[tuple[str, str]]:
        """Return the slots, each after the text before it."""
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
    """Yield the JSON objects and arrays in ``text``, in order, whatever surrounds them.

    >>> list(json_values('Sure! [1] and then ```{"action": "go east"}```'))
    [[1], {'action': 'go east'}]
    """
    decoder = json.JSONDecoder()
    position = 0
    for _ in range(_MAX_STARTS):
        start = _OPENING.search(text, position)
        if start is None:
            return
        try:
            value, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.end()
        else:
            yield value


def validate(text: str, schema: Any) -> Any:
    """Return the first JSON value in ``text`` that fits a pydantic model; raises ModelError."""
    problem = "there is no whole JSON value in it"
    for value in json_values(text):
        try:
            return schema.model_validate(value)
        except ValueError as error:
            reasons = error.errors()[:5]  # type: ignore[attr-defined]
            problem = "; ".join(f"{_where(item['loc'])}: {item['msg']}" for item in reasons)
    raise ModelError("answer", f"expected JSON of the asked form: {problem}")


def _where(location: tuple[Any, ...]) -> str:
    return ".".join(map(str, location)) or "the whole"


def repair_messages(messages: Sequence[Message], answer: str, error: ModelError) -> list[Message]:
    """Return the chat that requests once more what ``answer`` failed to be."""
    return [
        *messages,
        {"role": "assistant", "content": answer[:_QUOTED]},
        {
            "role": "user",
            "content": f"This answer cannot be used: {str(error)[:_QUOTED]}\n"
            "Answer again with nothing but the corrected JSON.",
        },
    ]
