"""A memory as tools of the Model Context Protocol: the five calls of docs/remote-memory.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

from gym_memory.core.optional import require
from gym_memory.core.records import Cue, Outcome, Step, Task
from gym_memory.core.settings import check_int
from gym_memory.doors.held import LeaseShelf
from gym_memory.doors.mcp import add_state_tools, make_server, offer
from gym_memory.memory.base import make_memory
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["HostedMemory", "RecallView", "memory_server"]

_types: Any = require("mcp.types", "mcp", "the MCP server")
_pydantic: Any = require("pydantic", "mcp", "the MCP server")


class HostedMemory:
    """A memory that a client fills; ``t`` is the number of the next step."""

    def __init__(self, spec: str):
        self.memory = make_memory(spec)
        self.task, self.t = Task("", "", "plain"), 0

    def snapshot(self) -> Any:
        """Return the state of the memory and the step number."""
        return self.memory.snapshot(), self.task, self.t

    def restore(self, snapshot: Any) -> int:
        """Return to a snapshot; return the number of the next step."""
        state, self.task, self.t = snapshot
        self.memory.restore(state)
        return self.t


@dataclass(frozen=True)
class RecallView:
    """Parts of a recall."""

    text: str
    triples: list[tuple[str, str, str]]
    episodes: list[str]
    lessons: list[str]


def _object(record: Any, **changed: Any) -> Any:
    """Return the schema of a record as an object; ``changed`` are other types and defaults."""
    kinds, known = get_type_hints(record), record._field_defaults
    fields = {name: (kind, known.get(name, ...)) for name, kind in kinds.items()}
    name = f"Given{record.__name__}"
    return _pydantic.create_model(name, __config__={"extra": "forbid"}, **{**fields, **changed})


_GivenTask = _object(Task, id=(str, ""), goal=(str, ""), dialect=(str, "plain"))
_GivenStep = _object(Step, t=(int | None, None))
_GivenCue, _GivenOutcome = _object(Cue), _object(Outcome)
_NO_TASK, _NO_OUTCOME = _GivenTask(), _GivenOutcome()


def memory_server(
    memory: str = DEFAULT_MEMORY,
    budget: int = DEFAULT_BUDGET,
    *,
    most: int = 64,
    idle_s: float = 600.0,
) -> Any:
    """Return a server whose clients keep memories without a game of ours."""
    make_memory(memory)
    shelf: LeaseShelf[HostedMemory] = LeaseShelf("memory", lambda _: None, most, idle_s)
    server = make_server(
        f"Keep a memory {memory} of what you see: begin gives a session, then observe each step "
        "and recall before you act. Other tools take the session as their handle."
    )

    @offer(server, task=_GivenTask)
    def begin(session: str = "", task: Any = _NO_TASK, seed: int | None = 0) -> dict[str, str]:
        """Begin an episode, in a new session or in one that is known; return the session."""
        session = shelf.put(lambda: HostedMemory(memory), session)
        with shelf.use(session) as held:
            hosted = held.thing
            hosted.task, hosted.t = Task(**dict(task)), 0
            hosted.memory.begin(hosted.task, seed)
        return {"session": session}

    @offer(server, step=_GivenStep)
    def observe(session: str, step: Any) -> dict[str, int]:
        """Learn from a step: the text that was seen, and the action that it answers."""
        with shelf.use(session) as held:
            hosted = held.thing
            t = hosted.t if step.t is None else check_int("t", step.t, 0)
            seen = Step(**{**dict(step), "t": t})
            hosted.memory.observe(hosted.memory.admit(seen, hosted.task.goal))
            hosted.t = t + 1
            return {"t": t}

    @offer(server, cue=_GivenCue, returns=Annotated[_types.CallToolResult, RecallView])
    def recall(session: str, cue: Any, budget: int = budget) -> Any:
        """Return what is recalled for a situation or a question, in `budget` tokens at most."""
        with shelf.use(session) as held:
            wanted = Cue(**dict(cue))
            found = held.thing.memory.recall(wanted, check_int("budget", budget, 0))
        parts = {**found._asdict(), "triples": [tuple(triple) for triple in found.triples]}
        text = _types.TextContent(type="text", text=found.text)  # a model reads the text alone
        return _types.CallToolResult(content=[text], structured_content=parts)

    @offer(server, outcome=_GivenOutcome)
    def end(session: str, outcome: Any = _NO_OUTCOME) -> dict[str, str]:
        """End an episode; memories that learn over episodes learn here."""
        with shelf.use(session) as held:
            held.thing.memory.end(Outcome(**dict(outcome)))
        return {}

    @offer(server)
    def close(session: str) -> dict[str, str]:
        """Forget a session."""
        shelf.take(session)
        return {}

    add_state_tools(server, shelf, lambda hosted: hosted.memory.graph, int, lambda _, t: t)
    return server
