"""Imports run one way, and what is optional is imported only when it is used.

The rules are read off the sources; what they are for is then tried in fresh processes.
"""

from __future__ import annotations

import ast
import functools
import importlib.metadata
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gym_memory"

# From the bottom up; a module may import its own layer and those before it.
LAYERS = [
    {"core", "draw"},
    {"graph"},
    {"extract", "llm"},
    {"memory"},
    {"games"},
    {"panels"},
    {"wrappers"},
    {"baselines"},
    {"run"},
    {"evaluate"},
    {"papers", "train", "testing"},
    {"viewer", "doors"},
]
TOP = len(LAYERS)
"""The command line and the package itself."""

# Besides the ground, all that a policy may use: how text is read, where things lie in a graph, how
# a model is called. No wrapper, no loop; no game but the rules that read its text, and those only
# by its players.
FOR_BASELINES = (
    "gym_memory.extract",
    "gym_memory.graph",
    "gym_memory.llm",
    "gym_memory.memory.base.CHARS_PER_TOKEN",
    "gym_memory.memory.encoders",
    "gym_memory.memory.reading",
    "gym_memory.memory.roles.text",
)
RULES = re.compile(r"gym_memory\.games\.(\w+)\.rules")
PLAYERS = re.compile(r"gym_memory\.baselines\.rules\.(\w+)")
# Who answers a question about a text with a model reads that text as the player does.
READS_AS_A_PLAYER = {"gym_memory.baselines.llm.answerer": "gym_memory.baselines.rules.qa"}
GAMES = ("textworld", "alfworld", "scienceworld", "nethack", "minihack", "webshop", "jericho")


class Import(NamedTuple):
    """``importer`` imports ``target``; ``typing`` where only a type checker sees it."""

    importer: str
    target: str
    line: int
    typing: bool

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.target}"


def sources() -> dict[str, Path]:
    """Return a map from dotted name to file, linked folders included."""
    files = [*PACKAGE.rglob("*.py")]
    for linked in ("wrappers", "baselines"):
        files += [p for p in (PACKAGE / linked).rglob("*.py") if p not in files]
    names = {}
    for path in files:
        parts = path.relative_to(ROOT).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


def statements(body: list[ast.stmt], typing: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield each statement within these, and whether a type checker alone sees it."""
    for node in body:
        yield node, typing
        parts = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
        branches = [*getattr(node, "handlers", []), *getattr(node, "cases", [])]
        here = isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for part in (*parts, *(branch.body for branch in branches)):
            yield from statements(part, typing or here)


def imports_of(module: str, source: str) -> Iterator[Import]:
    for node, typing in statements(ast.parse(source).body):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno} uses a relative import"
            targets = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for target in targets:
            yield Import(module, target, node.lineno, typing)


SOURCES = sources()


@functools.cache
def imports() -> list[Import]:
    """Return every import of the sources; collecting the tests reads none."""
    return [
        found
        for name, path in SOURCES.items()
        for found in imports_of(name, path.read_text(encoding="utf-8"))
    ]


def layer(module: str) -> int:
    parts = module.split(".")
    name = parts[1] if len(parts) > 1 else ""
    return next((i for i, names in enumerate(LAYERS) if name in names), TOP)


def within(target: str, *modules: str) -> bool:
    return any(target == m or target.startswith(m + ".") for m in modules)


@functools.cache
def optional() -> set[str]:
    """Return the top-level modules that only an extra installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {
        re.match(r"[\w.-]+", requirement).group().lower()  # type: ignore[union-attr]
        for extra, requirements in project["optional-dependencies"].items()
        if extra not in ("dev", "all")
        for requirement in requirements
    }
    provided = importlib.metadata.packages_distributions()
    found = {
        module
        for module, distributions in provided.items()
        if names & {d.lower() for d in distributions}
    }
    # Those that come with the others, or have another name where they are not installed.
    return found | {
        *("torch", "textworld", "jericho", "stable_baselines3", "sb3_contrib", "openai"),
        *("sentence_transformers", "transformers", "networkx", "huggingface_hub", "nle"),
        *("starlette", "uvicorn", "websockets"),
    }


@pytest.mark.slow
def test_the_sources_are_all_seen() -> None:
    assert {
        "gym_memory",
        "gym_memory.memory.base",
        "gym_memory.wrappers.memory",
        "gym_memory.baselines.base",
    } <= set(SOURCES)
    assert any(i.importer == "gym_memory.wrappers.make" for i in imports())
    assert {"torch", "textworld", "sentence_transformers"} <= optional()
    assert not {"gymnasium", "numpy"} & optional()


def test_layers() -> None:
    wrong = [
        str(found)
        for found in imports()
        if within(found.target, "gym_memory") and layer(found.target) > layer(found.importer)
    ]
    assert wrong == []


def test_no_circle() -> None:
    """Files import each other in one direction; what only a type checker sees counts too."""
    edges: dict[str, set[str]] = {name: set() for name in SOURCES}
    for found in imports():
        target = found.target
        while target and target not in SOURCES:
            target = target.rpartition(".")[0]
        # A package's __init__ says what it offers; its parts may be imported past it.
        if target and target != found.importer and SOURCES[target].name != "__init__.py":
            edges[found.importer].add(target)
    assert cycle_in(edges) == []


def cycle_in(edges: dict[str, set[str]]) -> list[str]:
    """Return the names along an import cycle, if any."""
    done: set[str] = set()
    way: dict[str, None] = {}

    def walk(name: str) -> list[str]:
        if name in way:
            return [*list(way)[list(way).index(name) :], name]
        if name in done:
            return []
        way[name] = None
        circle = next((c for target in sorted(edges[name]) if (c := walk(target))), [])
        way.pop(name)
        done.add(name)
        return circle

    return next((circle for name in edges if (circle := walk(name))), [])


NO_FRAMEWORK = ("core", "graph", "extract", "llm", "memory")


def test_memory_knows_no_framework() -> None:
    wrong = [
        str(found)
        for found in imports()
        if within(found.importer, *(f"gym_memory.{name}" for name in NO_FRAMEWORK))
        and within(found.target, "gymnasium", "torch")
    ]
    assert wrong == []


def test_memory_and_english_name_no_game() -> None:
    wrong = [
        f"{name}: {game}"
        for name, path in SOURCES.items()
        if within(name, "gym_memory.memory", "gym_memory.extract", "gym_memory.graph")
        for game in GAMES
        if game in path.read_text(encoding="utf-8").lower()
    ]
    assert wrong == []


def test_policies_know_no_game_and_no_loop() -> None:
    base = tuple(f"gym_memory.{name}" for name in LAYERS[0])
    wrong = [
        str(found)
        for found in imports()
        if within(found.importer, "gym_memory.baselines")
        and within(found.target, "gym_memory", "gymnasium")
        and not within(found.target, "gym_memory.baselines", *base, *FOR_BASELINES)
        and not own_rules(found)
        # SB3 is made for spaces and wrappers: its adapter speaks Gymnasium, to no game.
        and (found.importer, found.target) != ("gym_memory.baselines.rl.sb3", "gymnasium")
    ]
    assert wrong == []


def own_rules(found: Import) -> bool:
    """True if a player imports the rules of its own game."""
    rules, player = RULES.match(found.target), PLAYERS.match(found.importer)
    return bool(rules and player and rules[1] == player[1])


def test_players_are_found_by_name() -> None:
    """No policy imports the player of a game but its own."""
    wrong = [
        str(found)
        for found in imports()
        if (player := PLAYERS.match(found.target))
        and (PACKAGE / "games" / player[1]).is_dir()
        and not within(found.importer, f"gym_memory.baselines.rules.{player[1]}")
        and within(found.importer, "gym_memory.baselines")
        and not within(found.target, READS_AS_A_PLAYER.get(found.importer, "-"))
    ]
    assert wrong == []


def test_optional_packages_go_through_require() -> None:
    wrong = [
        str(found)
        for found in imports()
        if found.target.split(".")[0] in optional() and not found.typing
    ]
    assert wrong == []


def test_rules_can_fail() -> None:
    """Find faults that the checks above must see."""
    assert layer("gym_memory.memory.base") < layer("gym_memory.games") < layer("gym_memory.run")
    assert cycle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert cycle_in({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
    assert layer("gym_memory.llm.base") < layer("gym_memory.memory.roles")
    assert layer("gym_memory") == layer("gym_memory.cli.main") == TOP
    code = "if TYPE_CHECKING:\n    import torch\ndef f():\n    from torch import nn\n"
    assert [(i.target, i.line, i.typing) for i in imports_of("x", code)] == [
        ("torch", 2, True),
        ("torch.nn", 4, False),
    ]
    with pytest.raises(AssertionError, match="relative import"):
        list(imports_of("x", "from . import y"))


IMPORT_ONLY = """
import json, sys
events = []
sys.addaudithook(lambda name, args: events.append(name) if name.startswith("socket.") else None)
sys.dont_write_bytecode = True
import gym_memory
import gym_memory.memory, gym_memory.games, gym_memory.wrappers, gym_memory.baselines
from gym_memory.games import ENVIRONMENTS
from gym_memory.memory import MEMORIES
from gym_memory.baselines.base import POLICIES
names = ENVIRONMENTS.names(), MEMORIES.names(), POLICIES.names()
print(json.dumps([sorted(sys.modules), events]))
"""


@pytest.mark.slow
def test_import_and_list_load_nothing_optional_nor_open_sockets(python) -> None:
    modules, events = json.loads(python(IMPORT_ONLY))
    tops = {name.split(".")[0] for name in modules}
    assert "gym_memory" in tops
    assert tops & (optional() | {"matplotlib"}) == set()
    assert events == []


WITHOUT_EXTRAS = """
import importlib, json, sys
blocked = set(sys.argv[1].split(","))

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from gym_memory.core.errors import MissingDependencyError
failures = {}
for name in sys.argv[2:]:
    try:
        importlib.import_module(name)
    except MissingDependencyError as error:
        if "pip install 'gym-memory[" not in str(error):
            failures[name] = str(error)
    except BaseException as error:
        failures[name] = repr(error)
print(json.dumps(failures))
"""


@pytest.mark.slow
def test_every_module_imports_without_the_extras(python) -> None:
    """Or says in one line what to install."""
    modules = sorted(name for name in SOURCES if not name.endswith("__main__"))
    failures = json.loads(python(WITHOUT_EXTRAS, ",".join(sorted(optional())), *modules))
    assert failures == {}


@pytest.mark.parametrize("folder", ["wrappers", "baselines"])
def test_linked_folders_are_relative_links(folder: str) -> None:
    link = PACKAGE / folder
    assert link.is_symlink()
    assert str(link.readlink()) == f"../{folder}"
