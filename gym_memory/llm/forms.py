"""Forms of text that a model can be held to: a template that ends in one of several options."""

from __future__ import annotations

import json
import string
from collections.abc import Mapping
from typing import Any, NamedTuple

from gym_memory.core.errors import InvalidArgumentError, ModelError
from gym_memory.llm.structured import json_values

__all__ = ["Form"]

_MAX_LINE_CHARS = 300


class Form(NamedTuple):
    r"""Text with slots: the last one takes one of ``options``, every other one a free line.

    It stands where a schema may stand. A local model writes the text itself; a server writes it by
    a grammar, or a JSON object of the slots that is then poured into the template.

    Attributes:
        template: Text that ends in its last slot, as of :meth:`str.format`.
        options: What the last slot may be, at least one, each a line.

    Example:
        >>> form = Form("Thought: {thought}\nAction: {action}", ("look", "go east"))
        >>> form.pour('{"thought": "Nothing here.", "action": "go east"}')
        'Thought: Nothing here.\nAction: go east'
    """

    template: str
    options: tuple[str, ...]

    def parts(self) -> list[tuple[str, str]]:
        """The slots, each after the text before it.

        Raises:
            InvalidArgumentError: The template does not end in a slot, or there is no option.
        """
        found = [(lead, slot) for lead, slot, _, _ in string.Formatter().parse(self.template)]
        if not self.options or not found or not all(slot for _, slot in found):
            raise InvalidArgumentError(
                f"expected a template that ends in a slot, and options for it, got {self!r}"
            )
        return [(lead, str(slot)) for lead, slot in found]

    def model_json_schema(self) -> dict[str, Any]:
        """The JSON schema of its slots."""
        *free, (_, last) = self.parts()
        line = {"type": "string", "maxLength": _MAX_LINE_CHARS}
        return {
            "type": "object",
            "properties": {**{slot: line for _, slot in free}, last: {"enum": list(self.options)}},
            "required": [*(slot for _, slot in free), last],
            "additionalProperties": False,
        }

    def grammar(self) -> str:
        r"""The text as a grammar of llama.cpp (GBNF).

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
        """The template filled from a JSON object of its slots.

        Raises:
            ModelError: There is no such object in ``text`` (kind ``answer``).
        """
        names = [slot for _, slot in self.parts()]
        for value in json_values(text):
            if isinstance(value, Mapping) and all(isinstance(value.get(n), str) for n in names):
                lines = {name: " ".join(value[name].split()) for name in names[:-1]}
                return self.template.format(**lines, **{names[-1]: value[names[-1]]})
        raise ModelError("answer", f"expected a JSON object with {', '.join(names)}")


def _quoted(text: str) -> str:
    """A literal of GBNF; its escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False)
