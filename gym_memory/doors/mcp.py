"""Games and memories as tools of the Model Context Protocol, over stdio or HTTP."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from gym_memory.core.errors import GymMemoryError, InvalidArgumentError
from gym_memory.core.optional import require
from gym_memory.core.records import Cue, Step, Task, Triple
from gym_memory.core.settings import check_int
from gym_memory.core.version import __version__
from gym_memory.doors.held import LeaseShelf
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import current_place, ordered_ways, unexplored_exits
from gym_memory.memory.base import Memory, make_memory
from gym_memory.train.session import GameTurn, Session, task_names
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["Alone", "GameView", "MapPlace", "game_server", "memory_server"]

_mcp: Any = require("mcp.server", "mcp", "the MCP server")
_exceptions: Any = require("mcp.server.mcpserver.exceptions", "mcp", "the MCP server")

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class GameView:
    """What an agent sees of its game, and how it does."""

    handle: str
    text: str
    task: str
    inventory: str
    valid_actions: list[str]
    memory: str
    reward: float
    score: float
    max_score: float
    success: bool | None
    steps: int
    done: bool
    task_id: str


@dataclass(frozen=True)
class MapPlace:
    """A place of a map: its known ways, and exits that were not taken."""

    place: str
    here: bool
    ways: dict[str, str]
    unexplored: list[str]


class Alone(NamedTuple):
    """A memory without a game; ``clock`` has one item, the step that is observed next."""

    memory: Memory
    goal: str
    clock: list[int]


def game_server(
    env: str,
    memory: str = DEFAULT_MEMORY,
    budget: int = DEFAULT_BUDGET,
    *,
    most: int = 64,
    idle_s: float = 600.0,
) -> Any:
    """Return a server whose clients play games, each by a handle of its own."""
    Session(env, memory, budget, isolate="process").close()  # a wrong name fails before any client
    task_names(env)
    shelf: LeaseShelf[Session] = LeaseShelf("game", Session.close, most, idle_s)
    server = _server(
        f"Play {env} with the memory {memory}: new_game gives a handle, act plays a command."
    )

    @_tool(server)
    def new_game(split: str = "", index: int | None = None, seed: int | None = None) -> GameView:
        """Begin a game: task `index` of a split, else the task that the seed chooses."""

        def begin() -> Session:
            session = Session(env, memory, budget, isolate="process")
            try:
                session.reset(split=split, index=index, seed=seed)
            except BaseException:
                session.close()
                raise
            return session

        handle = shelf.put(begin)
        with shelf.use(handle) as held:
            return _view(handle, held.thing.turn)

    @_tool(server)
    def act(handle: str, command: str) -> GameView:
        """Play one command of a game."""
        with shelf.use(handle) as held:
            return _view(handle, held.thing.step(command))

    @_tool(server)
    def valid_actions(handle: str) -> list[str]:
        """List the commands that the game takes now."""
        with shelf.use(handle) as held:
            return list(held.thing.valid_actions())

    @_tool(server)
    def recall(handle: str, question: str, tokens: int | None = None) -> str:
        """Return what the memory recalls for a question, in `tokens` at most; it takes no step."""
        with shelf.use(handle) as held:
            room = budget if tokens is None else check_int("tokens", tokens, 0, budget)
            return held.thing.recall(question, room)

    @_tool(server)
    def save(handle: str) -> str:
        """Return the handle of a snapshot of the game and its memory."""
        with shelf.use(handle) as held:
            return held.keep(held.thing.snapshot())

    @_tool(server)
    def go_back(handle: str, snapshot: str) -> GameView:
        """Return the game and its memory to a snapshot, any number of times."""
        with shelf.use(handle) as held:
            return _view(handle, held.thing.restore(held.kept(snapshot)))

    @_tool(server)
    def close_game(handle: str) -> str:
        """End a game; its handle is void then."""
        shelf.take(handle)
        return "closed"

    def graph_of(session: Session) -> TemporalGraph | None:
        kept: Memory = session.env.get_wrapper_attr("memory")
        return kept.graph

    _add_graph_tools(server, shelf, graph_of)
    return server


def memory_server(
    memory: str = DEFAULT_MEMORY,
    budget: int = DEFAULT_BUDGET,
    *,
    most: int = 64,
    idle_s: float = 600.0,
) -> Any:
    """Return a server whose clients keep memories without a game of ours."""
    make_memory(memory)
    shelf: LeaseShelf[Alone] = LeaseShelf("memory", lambda _: None, most, idle_s)
    server = _server(
        f"Keep a memory {memory} of what you see: new_memory gives a handle, then observe each "
        "step and recall before you act."
    )

    @_tool(server)
    def new_memory(goal: str = "", dialect: str = "plain") -> str:
        """Begin an empty memory, for a goal; return its handle."""

        def begin() -> Alone:
            made = make_memory(memory)
            made.begin(Task("", goal, dialect), 0)
            return Alone(made, goal, [0])

        return shelf.put(begin)

    @_tool(server)
    def observe(
        handle: str, text: str, action: str = "", inventory: str = "", reward: float = 0.0
    ) -> int:
        """Learn from what was seen, as the answer to an action; return the number of the step."""
        with shelf.use(handle) as held:
            alone = held.thing
            step = Step(alone.clock[0], text, action, reward, inventory)
            alone.memory.observe(alone.memory.admit(step, alone.goal))
            alone.clock[0] += 1
            return step.t

    @_tool(server)
    def recall(handle: str, question: str, tokens: int | None = None) -> str:
        """Return what is recalled for a question or an observation, in `tokens` at most."""
        with shelf.use(handle) as held:
            alone = held.thing
            room = budget if tokens is None else check_int("tokens", tokens, 0, budget)
            return alone.memory.recall(Cue(question, alone.goal, focus=question), room).text

    @_tool(server)
    def save(handle: str) -> str:
        """Return the handle of a snapshot of the memory."""
        with shelf.use(handle) as held:
            return held.keep((held.thing.memory.snapshot(), held.thing.clock[0]))

    @_tool(server)
    def go_back(handle: str, snapshot: str) -> int:
        """Return the memory to a snapshot; return the number of the step that comes next."""
        with shelf.use(handle) as held:
            kept, held.thing.clock[0] = held.kept(snapshot)
            held.thing.memory.restore(kept)
            return held.thing.clock[0]

    @_tool(server)
    def close_memory(handle: str) -> str:
        """Forget a memory; its handle is void then."""
        shelf.take(handle)
        return "closed"

    _add_graph_tools(server, shelf, lambda alone: alone.memory.graph)
    return server


def _server(instructions: str) -> Any:
    return _mcp.MCPServer(
        "gym-memory", instructions=instructions, version=__version__, log_level="WARNING"
    )


def _tool(server: Any, name: str = "") -> Callable[[F], F]:
    """Return a decorator that offers a function as a tool; an error of ours is its answer."""

    def offer(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except GymMemoryError as error:
                raise _exceptions.ToolError(" ".join(str(error).split())) from error

        server.tool(name or None)(call)
        return function

    return offer


def _view(handle: str, turn: GameTurn) -> GameView:
    obs, info = turn.obs, turn.info
    return GameView(
        handle=handle, text=obs["text"], task=obs["task"], inventory=obs["inventory"],
        valid_actions=list(obs["valid_actions"]), memory=obs["memory"], reward=turn.reward,
        score=float(info["score"]), max_score=float(info["max_score"]), success=info["success"],
        steps=info["moves"], done=turn.done, task_id=info["task_id"],
    )  # fmt: skip


# ------------------------------------------------------------ the graph


def _add_graph_tools(
    server: Any, shelf: LeaseShelf[Any], graph_of: Callable[[Any], TemporalGraph | None]
) -> None:
    def facts(handle: str, step: int | None) -> list[Triple]:
        with shelf.use(handle) as held:
            graph = graph_of(held.thing)
            if graph is None:
                raise InvalidArgumentError("this memory keeps no graph: serve one such as arigraph")
            return list(graph.live() if step is None else graph.as_of(check_int("step", step, 0)))

    @_tool(server, "map")
    def known_map(handle: str, step: int | None = None) -> list[MapPlace]:
        """Return the known places with their ways, now or as of a step."""
        return _places(TemporalGraph.of(facts(handle, step)))

    @_tool(server)
    def what_is_where(handle: str, about: str = "", step: int | None = None) -> list[str]:
        """List facts that hold now, or that held at a step; `about` is a part of a name."""
        part = about.lower()
        found = facts(handle, step)
        return [str(fact) for fact in found if part in fact.subject or part in fact.object]


def _places(graph: TemporalGraph) -> list[MapPlace]:
    here, found = current_place(graph), list[MapPlace]()
    for place in graph.entities():
        ways, new = ordered_ways(graph, place), unexplored_exits(graph, place)
        if ways or new or place == here:
            found.append(
                MapPlace(
                    place=place, here=place == here, ways=ways, unexplored=[f.object for f in new]
                )
            )
    return found
