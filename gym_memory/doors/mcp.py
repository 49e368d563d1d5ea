"""Games as tools of the Model Context Protocol, over stdio or HTTP, and parts for memories."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from gym_memory.core.errors import GymMemoryError, InvalidArgumentError
from gym_memory.core.optional import require
from gym_memory.core.records import Triple
from gym_memory.core.settings import check_int
from gym_memory.core.version import __version__
from gym_memory.doors.held import LeaseShelf
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import current_place, ordered_ways, unexplored_exits
from gym_memory.memory.base import Memory
from gym_memory.train.session import GameTurn, Session, check_game
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["GameView", "MapPlace", "add_state_tools", "game_server", "make_server", "offer"]

_mcp: Any = require("mcp.server", "mcp", "the MCP server")
_exceptions: Any = require("mcp.server.mcpserver.exceptions", "mcp", "the MCP server")

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class GameView:
    """A view of a game for an agent: its observation and score."""

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


def game_server(
    env: str,
    memory: str = DEFAULT_MEMORY,
    budget: int = DEFAULT_BUDGET,
    *,
    most: int = 64,
    idle_s: float = 600.0,
) -> Any:
    """Return a server whose clients play games, each by its own handle."""
    check_game(env, memory, budget)
    shelf: LeaseShelf[Session] = LeaseShelf("game", Session.close, most, idle_s)
    server = make_server(
        f"Play {env} with the memory {memory}: new_game gives a handle, act plays a command."
    )

    @offer(server)
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

    @offer(server)
    def act(handle: str, command: str) -> GameView:
        """Play one command of a game."""
        with shelf.use(handle) as held:
            return _view(handle, held.thing.step(command))

    @offer(server)
    def valid_actions(handle: str) -> list[str]:
        """List the commands that the game takes now."""
        with shelf.use(handle) as held:
            return list(held.thing.valid_actions())

    @offer(server)
    def recall(handle: str, question: str, tokens: int | None = None) -> str:
        """Return what the memory recalls for a question, in `tokens` at most; it takes no step."""
        with shelf.use(handle) as held:
            room = budget if tokens is None else check_int("tokens", tokens, 0, budget)
            return held.thing.recall(question, room)

    @offer(server)
    def close_game(handle: str) -> str:
        """End a game and forget its handle."""
        shelf.take(handle)
        return "closed"

    def graph_of(session: Session) -> TemporalGraph | None:
        kept: Memory = session.env.get_wrapper_attr("memory")
        return kept.graph

    add_state_tools(server, shelf, graph_of, GameView, _view)
    return server


def make_server(instructions: str) -> Any:
    """Return a server without tools."""
    return _mcp.MCPServer(
        "gym-memory", instructions=instructions, version=__version__, log_level="WARNING"
    )


def offer(server: Any, name: str = "", **types: Any) -> Callable[[F], F]:
    """Return a decorator that offers a function as a tool and reports our errors as text.

    ``types`` are the schemas of arguments by name; ``returns`` is that of the answer.
    """

    def add(function: F) -> F:
        for argument, kind in types.items():
            function.__annotations__["return" if argument == "returns" else argument] = kind

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except GymMemoryError as error:
                raise _exceptions.ToolError(" ".join(str(error).split())) from error

        server.tool(name or None)(call)
        return function

    return add


def _view(handle: str, turn: GameTurn) -> GameView:
    obs, info = turn.obs, turn.info
    return GameView(
        handle=handle, text=obs["text"], task=obs["task"], inventory=obs["inventory"],
        valid_actions=list(obs["valid_actions"]), memory=obs["memory"], reward=turn.reward,
        score=float(info["score"]), max_score=float(info["max_score"]), success=info["success"],
        steps=info["moves"], done=turn.done, task_id=info["task_id"],
    )  # fmt: skip


def add_state_tools(
    server: Any,
    shelf: LeaseShelf[Any],
    graph_of: Callable[[Any], TemporalGraph | None],
    kind: type,
    view: Callable[[str, Any], Any],
) -> None:
    """Offer tools for snapshots, the map of a client's memory, and facts as of a step.

    ``view`` turns the result of a restore into the answer of ``go_back``, of type ``kind``.
    """

    @offer(server)
    def save(handle: str) -> str:
        """Return the handle of a snapshot."""
        with shelf.use(handle) as held:
            return held.keep(held.thing.snapshot())

    @offer(server, returns=kind)
    def go_back(handle: str, snapshot: str) -> Any:
        """Return to a snapshot, any number of times."""
        with shelf.use(handle) as held:
            return view(handle, held.thing.restore(held.kept(snapshot)))

    def facts(handle: str, step: int | None) -> list[Triple]:
        with shelf.use(handle) as held:
            graph = graph_of(held.thing)
            if graph is None:
                raise InvalidArgumentError("this memory keeps no graph: serve one such as arigraph")
            return list(graph.live() if step is None else graph.as_of(check_int("step", step, 0)))

    @offer(server, "map")
    def known_map(handle: str, step: int | None = None) -> list[MapPlace]:
        """Return the known places with their ways, now or as of a step."""
        return _places(TemporalGraph.of(facts(handle, step)))

    @offer(server)
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
            found.append(MapPlace(place, place == here, ways, [f.object for f in new]))
    return found
