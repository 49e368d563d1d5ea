"""Separation of a reasoning model's thoughts from its answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["message_parts", "split_thinking", "without_thinking"]

_NAME = r"(?:antml:|seed:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad)"
_TAG = re.compile(
    rf"[<◁](?P<end>/|\|?end_(?:of_)?|\|?/)?\|?(?:begin_of_|start_)?{_NAME}\|?[>▷]"
    r"|\[(?P<close>/)?(?-i:THINK)\]",
    re.IGNORECASE,
)
"""Tag around a thought, in all brackets and spellings in use."""
_CHANNEL = re.compile(
    r"(?:<\|start\|>\w*)?<\|?channel\|?>\s*(?P<name>\w+)(?:[^<]|<\|constrain\|>)*?(?:<\|message\|>|\n|<channel\|>)",
)
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start)\|>|<channel\|>")
_CALLED = re.compile(r"to=functions\.(\w+)")
_FINAL = ("final", "commentary")
_CONTROL = re.compile(
    r"(?:<\|(?:im_start|start_header_id|start)\|>|<start_of_turn>)(?:assistant|model)?"
    r"(?:<\|end_header_id\|>)?|<\|[\w ]{1,40}\|>|</?s>|<(?:eos|bos|end_of_turn)>|\[/?INST\]"
)
"""Control tokens that a server leaves in the text."""
_PROSE = re.compile(
    r"\s*(?:Here is my thought process:|analysis|(?=assistantfinal))(?P<thought>.*?)"
    r"(?:Here is my response:|assistantfinal)(?P<answer>.*)",
    re.DOTALL,
)
"""Thoughts and answer of Granite, and of gpt-oss where a server drops its control tokens."""


def split_thinking(text: str) -> tuple[str, str]:
    """Return the thoughts in a text and the answer after them.

    A thought is between tags with any of the usual names and brackets. Without an opening tag, it
    begins with the text; without a closing tag, the answer was cut and the thought ends the text.

    >>> split_thinking("<think>Where is it?</think>Action: look")
    ('Where is it?', 'Action: look')
    >>> split_thinking("Where is it?</think>Action: look")
    ('Where is it?', 'Action: look')
    >>> split_thinking("<think>Where is")
    ('Where is', '')
    """
    if _CHANNEL.search(text):
        return _split_channels(text)
    if prose := _PROSE.fullmatch(text):
        return prose["thought"].strip(), prose["answer"].strip()
    thoughts: list[str] = []
    answer: list[str] = []
    at, thinks = 0, False
    for tag in _TAG.finditer(text):
        before, closes = text[at : tag.start()], bool(tag["end"] or tag["close"])
        if closes and not thinks:  # the server's template has the opening tag
            thoughts += [*answer, before]
            answer.clear()
        else:
            (thoughts if thinks else answer).append(before)
        at, thinks = tag.end(), not closes
    (thoughts if thinks else answer).append(text[at:])
    spoken = "".join(answer)
    plain = _CONTROL.sub("", spoken)
    return _joined(thoughts), plain.strip() if at or plain != spoken else text


def _split_channels(text: str) -> tuple[str, str]:
    """Split the channels of gpt-oss (harmony) and similar models; ``final`` is the answer."""
    thoughts: list[str] = []
    answers: list[str] = []
    heads = list(_CHANNEL.finditer(text))
    for head, after in zip(heads, [*heads[1:], None], strict=True):
        piece = text[head.end() : after.start() if after else len(text)]
        end = _CHANNEL_END.search(piece)
        inside, rest = (piece[: end.start()], piece[end.end() :]) if end else (piece, "")
        if called := _CALLED.search(head[0]):
            inside = f"<function={called[1]}>{inside}</function>"
        (answers if head["name"].lower() in _FINAL else thoughts).append(inside)
        if rest and not _CHANNEL_END.search(rest) and head["name"].lower() not in _FINAL:
            answers.append(rest)
    return _joined([text[: heads[0].start()], *thoughts]), "".join(answers).strip()


def without_thinking(text: str) -> str:
    """Return the answer in a text, without thoughts."""
    return split_thinking(text)[1]


def _joined(pieces: list[str]) -> str:
    return "\n".join(piece.strip() for piece in pieces if piece.strip())


def message_parts(message: Mapping[str, Any]) -> tuple[str, str]:
    """Return the thoughts and the text of an assistant's message, in any server's format.

    >>> message_parts({"content": [{"type": "thinking", "thinking": "Hm"},
    ...                            {"type": "text", "text": "look"}]})
    ('Hm', 'look')
    """
    thoughts: list[str] = []
    texts: list[str] = []
    for thinks, text in _parts(message.get("content"), False):
        (thoughts if thinks else texts).append(text)
    fields = (name for name in message if name != "content" and _is_thinking(name))
    for name in sorted(fields, key=lambda name: (name.endswith("details"), name)):
        found = "".join(text for _, text in _parts(message[name], True))
        if found.strip() and not any(found.strip() in thought for thought in thoughts):
            thoughts.append(found)
    thought, answer = split_thinking("".join(texts))
    return _joined([*thoughts, thought]), answer


def _is_thinking(name: Any) -> bool:
    return any(word in str(name).lower() for word in ("think", "thought", "reason"))


def _parts(content: Any, thinks: bool) -> Iterator[tuple[bool, str]]:
    """Yield the texts of a content, and whether each is a thought."""
    if isinstance(content, str):
        yield thinks, content
    elif isinstance(content, list):
        for part in content:
            yield from _parts(part, thinks)
    elif isinstance(content, Mapping):
        inner = thinks or _is_thinking(content.get("type", "")) or content.get("thought") is True
        for name in ("text", "thinking", "reasoning", "content", "summary", "output_text"):
            if isinstance(content.get(name), str | list | Mapping):
                yield from _parts(content[name], inner or _is_thinking(name))
                break
