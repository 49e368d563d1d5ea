"""Roles of the memories of experience, played by a chat model: items, workflows, rules, bullets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gym_memory.core.errors import ModelError
from gym_memory.core.records import Outcome, Step, Task
from gym_memory.llm.base import json_values
from gym_memory.memory.roles.base import Workflow
from gym_memory.memory.roles.llm import GOAL_TOKENS, LLMRole
from gym_memory.memory.roles.text import clip, clip_start, numbered, prose, some

if TYPE_CHECKING:
    from gym_memory.memory.experience.items import Item

__all__ = ["LLMAnnotate", "LLMCurate", "LLMEditRules", "LLMEvolve", "LLMExtractItems"]
__all__ += ["LLMCompareAttempts", "LLMInduceWorkflows", "LLMLinkNotes", "LLMTagBullets"]

_PAST_TOKENS = 1500
_TRACE_TOKENS = 4000
_TITLED = re.compile(
    r"^#+ *Title:? *\n?(?P<title>.+)\n+#+ *Description:? *\n?(?P<description>.+)\n+"
    r"#+ *Content:? *\n?(?P<content>(?:(?!#).+\n?)+)",
    re.IGNORECASE | re.MULTILINE,
)
_WORKFLOW = re.compile(r"^\W*workflow\W*\d*\W*:", re.IGNORECASE | re.MULTILINE)
_EDIT = re.compile(r"^\W*(ADD|AGREE|EDIT|REMOVE)(?: +(\d{1,4}))?[ *]*:[ *]*(.+)$", re.MULTILINE)


class LLMExtractItems(LLMRole[Callable[[Sequence[Step], Outcome, Task], list[str]]]):
    """ReasoningBank's items; ``reasoning_success`` or ``reasoning_failure``, for the outcome."""

    prompt = "reasoning_success"
    trace_tokens = _TRACE_TOKENS

    def answer(self, trace: Sequence[Step], outcome: Outcome, task: Task) -> list[str]:
        """Return items, each as title, description and content."""
        prompt = None if outcome.success else "reasoning_failure"
        return _titled(self.ask_about(task, trace, prompt=prompt))


class LLMCompareAttempts(LLMRole[Callable[..., list[str]]]):
    """MaTTS's items of several attempts at a task."""

    prompt = "reasoning_attempts"
    max_tokens = 1024

    def answer(self, attempts: Sequence[Item], checked: bool) -> list[str]:
        """Return items, each as title, description and content."""
        shown = [f"Attempt {n}, a {a.kind}. {a.text}" for n, a in enumerate(attempts, 1)]
        task = clip(attempts[0].goal, GOAL_TOKENS)
        return _titled(self.ask(task=task, attempts="\n\n".join(shown)).text)


class LLMInduceWorkflows(LLMRole[Callable[[Sequence[Step], Task], list[Workflow]]]):
    """AWM's workflows of a successful trajectory."""

    prompt = "workflows"
    trace_tokens = _TRACE_TOKENS
    max_tokens = 2048

    def answer(self, trace: Sequence[Step], task: Task) -> list[Workflow]:
        """Return workflows: a description, then a line for each of at least two steps."""
        text = self.ask_about(task, trace)
        parts = [part.strip() for part in _WORKFLOW.split(text)[1:]]
        found = [Workflow(part, "", part) for part in parts if part.count("\n") >= 2]
        return some(found, "workflows", text)


class LLMEditRules(LLMRole[Callable[..., list[tuple[str, int, str]]]]):
    """ExpeL's operations on its rules, for a failure and a success or for several successes."""

    prompt = "rules"

    def answer(
        self, trials: Sequence[str], rules: Sequence[str], full: bool
    ) -> list[tuple[str, int, str]]:
        """Return operations: verb, number of the rule from 1, 0 for ADD, and text."""
        text = self.ask(
            trials=clip_start("\n\n".join(trials), _TRACE_TOKENS),
            rules=numbered(rules) or "none",
            room="The list is full: prefer REMOVE, and ADD only what matters more." if full else "",
        ).text
        found = [(f[1], int(f[2] or 0), f[3].strip()) for f in _EDIT.finditer(text)]
        return some(found, "operations such as 'ADD: ...'", text)


class LLMTagBullets(LLMRole[Callable[..., dict[str, str]]]):
    """ACE's reflector: judges the bullets that a trial used."""

    prompt = "bullets_reflect"
    trace_tokens = _TRACE_TOKENS
    max_tokens = 1024

    def answer(
        self, trace: Sequence[Step], outcome: Outcome, task: Task, bullets: Mapping[str, str]
    ) -> dict[str, str]:
        """Return ``helpful``, ``harmful`` or ``neutral`` by the id of a bullet."""
        playbook = "\n".join(f"[{id}] {text}" for id, text in bullets.items())
        answer = self.ask_about(task, trace, outcome, playbook=clip(playbook, _PAST_TOKENS))
        return {
            str(tag.get("id")): str(tag.get("tag"))
            for tag in _listed_in(answer, "bullet_tags")
            if isinstance(tag, dict) and tag.get("id") in bullets
        }


class LLMCurate(LLMRole[Callable[..., list[tuple[str, str]]]]):
    """ACE's curator: adds bullets to sections."""

    prompt = "bullets_curate"
    trace_tokens = _TRACE_TOKENS
    max_tokens = 1024

    def answer(
        self, trace: Sequence[Step], outcome: Outcome, task: Task, playbook: str, counts: str
    ) -> list[tuple[str, str]]:
        """Return pairs of a section and the text of a new bullet."""
        book = clip_start(playbook, _PAST_TOKENS) or "empty"
        text = self.ask_about(task, trace, outcome, playbook=book, counts=counts)
        return [
            (str(one.get("section", "")), " ".join(str(one["content"]).split()))
            for one in _listed_in(text, "operations")
            if isinstance(one, dict) and one.get("type") == "ADD" and one.get("content")
        ]


class LLMEvolve(LLMRole[Callable[[str, Sequence[Step], Outcome, Task, Sequence[str]], str]]):
    """EvoTest's evolver: the guidance for the next attempt."""

    prompt = "evolve"
    trace_tokens = _TRACE_TOKENS

    def answer(
        self,
        guidance: str,
        trace: Sequence[Step],
        outcome: Outcome,
        task: Task,
        loops: Sequence[str],
    ) -> str:
        """Return new guidance, given that of the parent and the loops to avoid."""
        past = clip(guidance, _PAST_TOKENS) or "none"
        avoid = numbered(loops) or "none"
        return prose(self.ask_about(task, trace, outcome, guidance=past, loops=avoid))


class LLMAnnotate(LLMRole[Callable[[Step, Task], tuple[list[str], list[str], str]]]):
    """A-MEM's keywords, tags and context of a note."""

    prompt = "note"

    def answer(self, step: Step, task: Task) -> tuple[list[str], list[str], str]:
        """Return keywords, tags and one sentence of context."""
        text = self.ask(action=step.action, observation=clip(step.text, _PAST_TOKENS)).text
        found = _record(text, "keywords")
        return _texts(found["keywords"]), _texts(found.get("tags")), str(found.get("context", ""))


class LLMLinkNotes(LLMRole[Callable[..., tuple[list[int], dict[int, str]]]]):
    """A-MEM's evolution of a new note and its neighbours."""

    prompt = "note_links"

    def answer(
        self, note: str, keywords: Sequence[str], neighbours: Sequence[tuple[str, Sequence[str]]]
    ) -> tuple[list[int], dict[int, str]]:
        """Return positions of neighbours to link, and new contexts by position."""
        text = self.ask(
            note=clip(note, _PAST_TOKENS),
            neighbours=numbered(clip(text, 200) for text, _ in neighbours),
        ).text
        found, places = _record(text, "should_evolve"), range(len(neighbours))
        if not found["should_evolve"]:
            return [], {}
        links = [n - 1 for n in found.get("suggested_connections") or () if isinstance(n, int)]
        contexts = found.get("new_context_neighborhood") or ()
        new = {n: " ".join(str(context).split()) for n, context in enumerate(contexts) if context}
        return [n for n in links if n in places], {n: c for n, c in new.items() if n in places}


def _titled(text: str) -> list[str]:
    found = [" ".join(" ".join(f.groups()).split()) for f in _TITLED.finditer(text)]
    return some(found, "memory items with title, description and content", text)


def _record(text: str, name: str) -> dict[str, Any]:
    for value in json_values(text):
        if isinstance(value, dict) and name in value:
            return value
    raise ModelError("answer", f"expected a JSON object with {name!r}, got {text[:200]!r}")


def _listed_in(text: str, name: str) -> Iterator[Any]:
    listed = _record(text, name)[name]
    yield from listed if isinstance(listed, list) else ()


def _texts(value: Any) -> list[str]:
    items = value if isinstance(value, list) else ()
    return [" ".join(item.split()) for item in items if isinstance(item, str) and item.strip()]
