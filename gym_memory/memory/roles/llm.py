"""Roles that a chat model plays: their common base, and the roles of AriGraph and STMA."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Container, Sequence
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, TypeVar, cast

from gym_memory.core.errors import ContextExceededError, ModelError
from gym_memory.core.optional import require
from gym_memory.core.records import Cue, Outcome, Step, Task, Triple
from gym_memory.core.text import sentence_spans
from gym_memory.extract import Extraction, Mention, Pattern, get_extractor
from gym_memory.extract.draft import attributed
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, OPPOSITE, PLAYER, way_relation
from gym_memory.llm.base import ChatModel, Reply, Request, answered
from gym_memory.llm.prompts import load_prompt
from gym_memory.llm.usage import current_scope
from gym_memory.memory.roles.base import (
    Aggregate,
    Explore,
    ExtractRelations,
    Outdated,
    RelevantEntities,
    outdated,
)
from gym_memory.memory.roles.text import (
    clip,
    fact_lines,
    prose,
    read_flag,
    read_replacements,
    read_triple_lists,
    read_triples,
    score_in_words,
    trace_text,
    triples_json,
)

__all__ = ["GOAL_TOKENS", "LLMAggregate", "LLMExplore", "LLMExtractRelations", "LLMExtractor"]
__all__ += ["LLMOutdated", "LLMRelevantEntities", "LLMRole", "RoleCounts", "chat_model"]
__all__ += ["role_counts"]

Rule = TypeVar("Rule", bound=Callable[..., Any])

GOAL_TOKENS = 1000
"""Most tokens of a goal that a prompt shows."""
_OBSERVATION_TOKENS = 2000
_LEAST_CHARS = 400
"""Size at which a slot of a prompt is not cut any further."""
_TOO_LONG = (
    "a prompt of the memory exceeds the model's context: the oldest part of its input is left out"
)
_KNOWN_FACTS = 40


class LLMRole(Generic[Rule]):
    """A role played by a chat model, or by its rule if the model fails.

    A subclass implements ``answer``, with the arguments of the role's type. After a failed call or
    an unreadable answer, the rule answers. Setup errors and a spent budget are raised.

    Args:
        model: The chat model.
        rule: The rule-based role of the same type. It must not be a bound method of the memory
            that uses it, or a fork would use the original's.
        prompt: Name of the prompt; default: the role's own.
    """

    prompt: str = ""
    max_tokens: int = 512
    temperature: float | None = None
    """Sampling temperature of the paper or its code; None for the server's default."""
    trace_tokens: int = 16_000
    """Most tokens of a trial that a prompt shows; the papers show the whole trial."""
    answer: ClassVar[Callable[..., Any]]

    def __init__(self, model: ChatModel, rule: Rule, prompt: str | None = None):
        self.model, self.rule = model, rule
        self.prompt = prompt or self.prompt
        self.calls = self.fallbacks = 0
        self._room = sys.maxsize  # characters of the longest slot
        load_prompt(self.prompt)

    @classmethod
    def or_rule(cls, model: ChatModel | None, rule: Rule, prompt: str | None = None) -> Rule:
        """Return the role played by a model, or its rule if there is none."""
        return cast(Rule, cls(model, rule, prompt)) if model else rule

    def __call__(self, *arguments: Any) -> Any:
        """Answer by the model, or by the rule."""
        try:
            return self.answer(*arguments)
        except ModelError:
            self.fallbacks += 1
            return self.rule(*arguments)

    def ask(self, *, schema: Any = None, prompt: str | None = None, **slots: str) -> Reply:
        """Fill the prompt and call the model; shorten a prompt that exceeds its context.

        The longest slot loses its oldest half until the prompt fits. Later prompts keep this size.
        """
        self.calls += 1
        filled = load_prompt(prompt or self.prompt)
        while True:
            longest = max(slots, key=lambda slot: len(slots[slot]), default="")
            if len(slots.get(longest, "")) > self._room:
                slots[longest] = f"[...] {slots[longest][-self._room :]}"
            request = Request(
                filled.messages(**slots),
                role=filled.name,
                temperature=self.temperature,
                max_tokens=self.max_tokens,
                schema=schema,
            )
            try:
                return answered(self.model.complete, request)
            except ContextExceededError:
                self._room = len(slots.get(longest, "")) // 2
                if self._room < _LEAST_CHARS:
                    raise
                for meter in current_scope().meters:
                    meter.note(_TOO_LONG)

    def ask_about(
        self,
        task: Task,
        trace: Sequence[Step],
        outcome: Outcome | None = None,
        *,
        prompt: str | None = None,
        **slots: str,
    ) -> str:
        """Ask about a trial: fill in its task, its steps and, after its end, its score in words."""
        if outcome is not None:
            slots["evaluation"] = score_in_words(outcome)
        steps = trace_text(trace, self.trace_tokens)
        return self.ask(prompt=prompt, task=clip(task.goal, GOAL_TOKENS), trace=steps, **slots).text

    def __deepcopy__(self, memo: dict[int, Any]) -> LLMRole[Rule]:
        return self  # keeps no state that an answer depends on


class RoleCounts(NamedTuple):
    """Calls and fallbacks of several roles together, for ``MemoryStats``."""

    calls: int
    fallbacks: int


def role_counts(*roles: object) -> RoleCounts:
    """Sum the counters of the roles that a model plays, including their parts."""
    calls = fallbacks = 0
    for role in roles:
        if isinstance(role, LLMRole):
            inner = role_counts(*vars(role).values())
            calls += role.calls + inner.calls
            fallbacks += role.fallbacks + inner.fallbacks
    return RoleCounts(calls, fallbacks)


def chat_model(llm: str | ChatModel | None) -> ChatModel | None:
    """Return the model for a memory's argument ``llm``, or None for rules.

    Inside the name of a memory, a model's spec is quoted (:class:`gym_memory.core.names.Spec`).
    """
    if llm is None or llm == "":
        return None
    from gym_memory.llm import make_model

    model: ChatModel = make_model(llm)
    return model


AUTHORS_TEMPERATURE = 0.0
"""Temperature of these roles; almost that of the authors' code."""


class LLMOutdated(LLMRole[Outdated]):
    """AriGraph's selection of outdated triples (Appendix E)."""

    prompt = "outdated"
    temperature = AUTHORS_TEMPERATURE

    def answer(self, existing: Sequence[Triple], new: Sequence[Triple], task: Task) -> list[Triple]:
        """Return the existing facts that the answer replaces by a new one."""
        reply = self.ask(existing=fact_lines(existing), new=fact_lines(new))
        replaced = {_key(old) for old, _ in read_replacements(reply.text)}
        fresh = set(new)
        return [fact for fact in existing if _key(fact) in replaced and fact not in fresh]


def _key(fact: Triple) -> tuple[str, ...]:
    return tuple(" ".join(part.lower().split()) for part in fact)


class LLMExtractor(LLMRole[Callable[[Step, TemporalGraph, Task], Extraction]]):
    """AriGraph's triplet extraction and selection of outdated triples (Appendix E).

    Differences from the paper: the prompt asks for the player's place as a fact and shows known
    facts instead of a fixed example; the model looks for outdated facts only where the schema does
    not decide. As in the authors' code, a change of place adds the way there and back.
    """

    prompt = "extract"
    max_tokens = 1024
    temperature = AUTHORS_TEMPERATURE

    def __init__(self, model: ChatModel):
        super().__init__(model, _by_dialect)
        self.outdated: Outdated = LLMOutdated(model, outdated)

    @functools.partial(attributed, by_spans=True)
    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Return the facts of one step, given the graph as it is before the step."""
        extraction: Extraction = self(step, graph, task)
        return extraction

    def answer(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Extract by the model."""
        here = graph.value(PLAYER, "location")
        around = [INVENTORY] if here is None else [here.object, INVENTORY]
        reply = self.ask(
            known=fact_lines(graph.k_hop(around, 2)[:_KNOWN_FACTS]),
            task=clip(task.goal, _OBSERVATION_TOKENS),
            action=step.action,
            observation=clip(step.text, _OBSERVATION_TOKENS),
            inventory=clip(step.inventory, _OBSERVATION_TOKENS),
        )
        found = read_triples(reply.text)
        if reply.finish == "length":
            del found[-1:]  # cut in the middle
        facts = [_normal(fact, graph) for fact in found]
        facts += _ways(facts, step.action, None if here is None else here.object)
        facts = list(dict.fromkeys(facts))
        settled = set(facts)
        existing = list(
            dict.fromkeys(
                fact
                for name in dict.fromkeys(part for f in facts for part in (f.subject, f.object))
                for fact in graph.incident(name)
                if fact not in settled
            )
        )
        slots = set(outdated(existing, facts, task))
        open_facts = [fact for fact in existing if fact not in slots]
        ended = self.outdated(open_facts, facts, task) if open_facts and facts else []
        return Extraction(
            tuple(_mention(fact, step.text) for fact in facts),
            tuple(Pattern(*fact) for fact in ended),
        )


def _by_dialect(step: Step, graph: TemporalGraph, task: Task) -> Extraction:
    return get_extractor(task.dialect).extract(step, graph, task)


def _normal(fact: Triple, graph: TemporalGraph) -> Triple:
    """Return a fact in the graph's names; quoted text stays as it is."""
    obj = fact.object if fact.relation.lower() == "says" else graph.normalize(fact.object)
    return Triple(graph.normalize(fact.subject), fact.relation.lower(), obj)


def _ways(facts: Sequence[Triple], action: str, before: str | None) -> list[Triple]:
    """Return the way that a step took, there and back, if the place changed."""
    words = action.lower().split()
    direction = words[-1] if words and len(words) <= 2 else ""
    places = [f.object for f in facts if f.subject == PLAYER and f.relation == "is in"]
    if direction not in OPPOSITE or before is None or not places or places[-1] == before:
        return []
    here = places[-1]
    return [
        Triple(here, way_relation(direction), before),
        Triple(before, way_relation(OPPOSITE[direction]), here),
    ]


def _mention(fact: Triple, text: str) -> Mention:
    """Return a fact with the first sentence that names subject and object, or with its object."""
    folded = text.lower()
    if len(folded) != len(text):
        return Mention(fact)
    subject, obj = fact.subject.lower(), fact.object.lower()
    for sentence, start in sentence_spans(folded):
        if subject in sentence and obj in sentence:
            return Mention(fact, start, start + len(sentence.rstrip(".!?")))
    start = folded.find(obj)
    return Mention(fact, start, start + len(obj)) if start >= 0 else Mention(fact)


class LLMRelevantEntities(LLMRole[RelevantEntities]):
    """AriGraph's search texts, each with a search depth (authors' code)."""

    prompt = "entities"
    temperature = AUTHORS_TEMPERATURE

    def answer(self, cue: Cue, known: Container[str]) -> list[tuple[str, int]]:
        """Return search texts with depth 1 or 2, in the order of the answer."""
        reply = self.ask(
            schema=_depths(),
            task=clip(cue.task, _OBSERVATION_TOKENS),
            plan=clip(cue.focus, _OBSERVATION_TOKENS),
            observation=clip(cue.text, _OBSERVATION_TOKENS),
            inventory=clip(cue.inventory, _OBSERVATION_TOKENS),
        )
        return [(" ".join(name.lower().split()), hops) for name, hops in reply.parsed.root.items()]


@functools.cache
def _depths() -> Any:
    pydantic = require("pydantic", "llm", "answers in JSON")
    name = Annotated[str, pydantic.StringConstraints(min_length=1, max_length=200)]
    depth = Annotated[int, pydantic.Field(ge=1, le=2)]
    entities = Annotated[dict[name, depth], pydantic.Field(max_length=50)]
    return pydantic.RootModel[entities]


class LLMExplore(LLMRole[Explore]):
    """A role that decides whether the plan needs exploring (AriGraph, Appendix E)."""

    prompt = "explore"
    max_tokens = 64
    temperature = AUTHORS_TEMPERATURE

    def answer(self, plan: str, task: Task) -> bool:
        """True when unexplored exits should be shown."""
        return read_flag(self.ask(plan=clip(plan, _OBSERVATION_TOKENS), task=task.goal).text)


class LLMExtractRelations(LLMRole[ExtractRelations]):
    """STMA's relation retriever (D.2)."""

    prompt = "relations"
    max_tokens = 1536

    def answer(self, belief: str, task: Task) -> list[Triple]:
        """Return the latest relations stated in ``belief``."""
        return read_triple_lists(self.ask(belief=clip(belief, 2 * _OBSERVATION_TOKENS)).text)


class LLMAggregate(LLMRole[Aggregate]):
    """STMA's relation aggregator (D.3)."""

    prompt = "aggregate"
    max_tokens = 1024

    def answer(self, triples: Sequence[Triple], task: Task) -> str:
        """Return the subgraph in prose."""
        return prose(self.ask(task=task.goal, triples=triples_json(triples)).text)
