"""Tables of papers.md: the played experiments of the papers, and differences from them.

`paper_exhibits.yml` lists their figures and tables, `paper_differences.yml` their items.

python docs/paper_tables.py    # writes them into the page
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.baselines.base import POLICIES
from gym_memory.core.names import Spec
from gym_memory.core.optional import require
from gym_memory.core.settings import list_settings
from gym_memory.memory.base import MEMORIES
from gym_memory.papers.experiments import experiment_names, load_experiment
from gym_memory.papers.presets import PRESETS

__all__ = ["Difference", "Exhibit", "PaperSetting", "differences", "exhibits", "fill"]
__all__ += ["paper_settings", "preset_value"]

HERE = Path(__file__).parent
_TABLE = re.compile(r"(<!-- table (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


class Difference(NamedTuple):
    """An item of a paper, an equation or algorithm among them.

    Attributes:
        code: ``file:symbol`` in the package.
        differs: The difference; empty if there is none.
        setting: The setting that selects the paper's version.
        test: ``file:test`` in ``tests``; the file alone for several.
    """

    paper: str
    item: str
    place: str
    code: str
    differs: str
    setting: str
    test: str


class Exhibit(NamedTuple):
    """A figure or table of a paper: its experiments, or the ``reason`` for having none."""

    paper: str
    name: str
    about: str
    experiments: list[str]
    reason: str


class PaperSetting(NamedTuple):
    """A value that a paper sets, with its source."""

    preset: str
    name: str
    value: Any
    place: str


def _read(name: str = "paper_differences") -> Any:
    yaml = require("yaml", "llm", "differences from the papers")
    return yaml.safe_load((HERE / f"{name}.yml").read_text("utf-8"))


def differences() -> list[Difference]:
    """Return the items of the papers in their order."""
    return [Difference(*row) for row in _read()["rows"]]


def exhibits() -> list[Exhibit]:
    """Return the figures and tables of the papers in their order."""
    return [Exhibit(*row) for row in _read("paper_exhibits")]


def paper_settings() -> list[PaperSetting]:
    """Return the values that the papers set."""
    return [PaperSetting(*row) for row in _read()["presets"]]


def preset_value(preset: str, name: str) -> Any:
    """Return the value of a setting in a preset, of its policy if it has it, else of its memory.

    Raises:
        LookupError: Neither has it.
    """
    for spec, registry in ((PRESETS[preset].policy, POLICIES), (PRESETS[preset].memory, MEMORIES)):
        kind, kwargs = Spec(spec).parts
        for setting in list_settings(registry.get(kind)):
            if setting.name == name:
                return kwargs.get(name, setting.default)
    raise LookupError(f"preset {preset!r} has no setting {name!r}")


def fill(page: str) -> str:
    """Return a page with its tables rewritten."""
    tables = {
        "differences": _differences,
        "exhibits": _exhibits,
        "experiments": _experiments,
        "presets": _presets,
    }
    return _TABLE.sub(lambda found: f"{found[1]}\n{tables[found[2]]()}\n{found[3]}", page)


def _differences() -> str:
    rows = [
        (
            row.paper,
            f"{row.item} ({row.place})",
            f"`{row.code}`",
            row.differs or "nothing",
            f"`{row.setting}`" if row.setting else "",
            f"`{row.test.removesuffix(':')}`",
        )
        for row in differences()
    ]
    return _table(("paper", "item", "code", "what differs", "the paper's way", "test"), rows)


def _exhibits() -> str:
    rows = [
        (row.paper, row.name, row.about,
         "<br>".join(f"`gym-memory paper {name}`" for name in row.experiments)
         or f"none: {row.reason}")
        for row in exhibits()
    ]  # fmt: skip
    return _table(("paper", "figure or table", "what it shows", "command"), rows)


def _presets() -> str:
    rows = [
        (f"`{row.preset}`", f"`{row.name}`", f"`{row.value}`", row.place,
         f"`{preset_value(row.preset, row.name)}`")
        for row in paper_settings()
    ]  # fmt: skip
    return _table(("preset", "setting", "paper", "place", "preset's value"), rows)


def _experiments() -> str:
    titles = {name: load_experiment(name).title for name in experiment_names()}
    return _table(("experiment", "what it is"), [(f"`{n}`", t) for n, t in titles.items()])


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    path = HERE / "papers.md"
    path.write_text(fill(path.read_text("utf-8")), "utf-8")
