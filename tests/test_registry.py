"""Tables of names: lazy, open to other packages, kind to typing errors."""

from __future__ import annotations

import importlib
import pickle
import sys
import textwrap
from collections.abc import Iterator

import pytest

from gym_memory.baselines.base import POLICIES
from gym_memory.core import components
from gym_memory.core.components import Component
from gym_memory.core.errors import (
    GymMemoryError,
    InvalidArgumentError,
    MissingDependencyError,
    UnknownNameError,
)
from gym_memory.core.names import Registry
from gym_memory.extract import EXTRACTORS
from gym_memory.games import ENVIRONMENTS
from gym_memory.llm import MODELS
from gym_memory.memory import MEMORIES, make_memory
from gym_memory.memory.history import History
from gym_memory.run.callbacks import CALLBACKS
from gym_memory.run.protocols import PROTOCOLS

SOURCES = {
    "keeps.py": '''
        from gym_memory.memory.history import History as Base

        class History(Base):
            """The latest observations."""
        ''',
    "faulty/broken.py": '''
        @TABLE.register("broken")
        def broken(size: int = 1, word: str = "a"):
            """A fault."""
        ''',
    "faulty/missing.py": """
        import no_such_module_anywhere

        class Missing:
            pass
        """,
}

TABLE = {
    "history": Component("table_package.keeps:History"),
    "broken": Component("table_package.faulty.broken:broken"),
    "missing": Component("table_package.faulty.missing:Missing"),
}
GROUP = "gym_memory.test_group"


@pytest.fixture
def table(tmp_path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    for name, source in SOURCES.items():
        path = tmp_path / "table_package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source))
    monkeypatch.syspath_prepend(tmp_path)
    yield Registry("memory", GROUP, TABLE)
    for name in [name for name in sys.modules if name.startswith("table_package")]:
        del sys.modules[name]


def test_listing_imports_nothing(table: Registry) -> None:
    assert table.names() == table.builtin() == ["broken", "history", "missing"]
    assert table.about("history") == "The latest observations."
    assert table.about("broken") == "A fault."
    assert not any(name.startswith("table_package") for name in sys.modules)


def test_get_and_make(table: Registry) -> None:
    assert table.get("history").__name__ == "History"
    assert table.get("history") is table.get("history")
    assert table.make("history?window=3").window == 3
    assert table.make("history", window=4).window == 4
    assert table.make("history?window=3", window=4).window == 3


def test_missing_package_is_named_with_its_install_command() -> None:
    apart = Registry("memory", GROUP, {}, {"belief": "pip install ./belief"})
    with pytest.raises(MissingDependencyError, match=r"memory 'belief' .* pip install \./belief"):
        apart.make("belief?edges=3")


@pytest.mark.parametrize(
    ("name", "hint"), [("histori", "history"), ("HISTORY", None), ("zzz", None), ("", None)]
)
def test_unknown(table: Registry, name: str, hint: str | None) -> None:
    with pytest.raises(UnknownNameError) as caught:
        table.get(name)
    text = str(caught.value)
    assert f"unknown memory {name!r}" in text
    assert "broken, history, missing" in text
    assert ("Did you mean" in text) == (hint is not None)
    assert hint is None or f"Did you mean {hint!r}?" in text
    assert isinstance(caught.value, GymMemoryError)
    assert isinstance(caught.value, LookupError)
    # Errors cross from worker processes.
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.known) == (text, caught.value.known)


def test_a_file_without_a_name_says_what_is_missing(table: Registry) -> None:
    with pytest.raises(InvalidArgumentError, match=r"in a file as \./mine\.py:NAME, got"):
        table.get("./mine.py")


def test_unknown_parameter(table: Registry) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'window'"):
        table.make("history?windo=3")


def test_a_fault_inside_a_module_is_not_hidden(table: Registry) -> None:
    with pytest.raises(NameError, match="TABLE"):
        table.get("broken")
    with pytest.raises(ModuleNotFoundError, match="no_such_module_anywhere"):
        table.get("missing")


def test_register(table: Registry) -> None:
    class Mine(History):
        pass

    table.register("mine", Mine)
    table.register("mine", Mine)
    assert table.names()[-1] == "mine"
    assert isinstance(table.make("mine?window=2"), Mine)
    for name, taken in (("mine", History), ("history", Mine)):
        with pytest.raises(InvalidArgumentError, match="is taken: choose another"):
            table.register(name, taken)


def test_other_packages_add_names(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real distribution on the path, found by its entry point."""
    (tmp_path / "diary_package.py").write_text(
        textwrap.dedent(
            """
            from gym_memory.memory.history import History
            class Diary(History):
                name = "diary"
            """
        )
    )
    info = tmp_path / "diary_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: diary-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[gym_memory.memories]\ndiary = diary_package:Diary\n")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        assert "diary" in MEMORIES.names()
        assert make_memory("diary?window=2").window == 2
    finally:
        MEMORIES.loaded.pop("diary", None)


@pytest.mark.parametrize(
    "table",
    [MEMORIES, POLICIES, ENVIRONMENTS, EXTRACTORS, MODELS, PROTOCOLS, CALLBACKS],
    ids=lambda t: t.kind,
)
def test_every_built_in_name_resolves(table: Registry) -> None:
    assert len(table.names()) == len(set(table.names()))
    for name in table.names():
        assert callable(table.get(name)), name


TABLES = [getattr(components, name) for name in components.__all__ if name != "Component"]


@pytest.mark.parametrize(
    ("name", "row"), [(n, row) for table in TABLES for n, row in table.items()]
)
def test_component_row_names_definition_and_one_line(name: str, row: Component) -> None:
    module, _, attribute = row.target.partition(":")
    assert row.about.endswith(".")
    assert len(row.about) <= 90
    found = getattr(importlib.import_module(module), attribute)
    assert f"{found.__module__}:{found.__qualname__}" == row.target


@pytest.mark.parametrize("table", TABLES, ids=len)
def test_components_are_sorted(table: dict[str, Component]) -> None:
    assert list(table) == sorted(table)


def test_a_ready_memory_is_taken_as_it_is() -> None:
    memory = History(3)
    assert make_memory(memory) is memory
