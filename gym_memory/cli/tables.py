"""Fit a table to a terminal: shorten names, leave columns out, stack rows; cut no number.

A pipe, and a terminal under ``--wide``, get everything.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

__all__ = ["Columns", "fit", "shorten"]

_PIPE_WIDTH = 200
"""Width in characters at which sentences wrap if the output is no terminal."""

_SHORTEST_NAME = 10
"""Characters to which a name may be shortened."""
_NARROWEST_PROSE = 21
"""Characters of the narrowest column of sentences."""
_LONGEST_IN_LINE = 60
"""Most characters of a cell that shares a line of a stacked row."""
_EDGES = 3
"""Characters around a cell: two spaces and a line."""


@dataclasses.dataclass(frozen=True)
class Columns:
    """Columns of a table and their kinds.

    Args:
        names: Headings, in order.
        numbers: Columns of numbers, which are set to the right and never cut.
        minor: Columns that a narrow terminal leaves out, the least important first.
        whole: Columns to copy from, such as commands: neither cut nor wrapped.
    """

    names: Sequence[str]
    numbers: Sequence[str] = ()
    minor: Sequence[str] = ()
    whole: Sequence[str] = ()


def shorten(name: str, width: int) -> str:
    """Return a name with its middle left out, so that it has at most ``width`` characters.

    >>> shorten("TreasureHunt?level=hardest", 15)
    'Treasur…hardest'
    """
    if len(name) <= width:
        return name
    end = (width - 1) // 2
    return f"{name[: width - 1 - end]}…{name[len(name) - end :]}"


def fit(
    columns: Columns,
    rows: Iterable[Sequence[Text]],
    width: int | None,
    *,
    title: str = "",
    parted: bool = False,
) -> tuple[RenderableType, int]:
    """Return a table and its width: at most ``width`` characters, or everything for None.

    ``parted`` shows an equal first cell once, then a line.
    """
    grid = _CellGrid(columns, [list(row) for row in rows], title, parted=parted)
    if width is None:
        room = max(_PIPE_WIDTH, grid.width(grid.whole_names()))
        return grid.table(grid.shared(grid.whole_names(), room)), room
    natural = {name: grid.natural(name) for name in grid.names}
    if grid.width(natural) <= width:
        return grid.table(natural), width
    constant, left_out = grid.take_constants(), []
    while grid.width(grid.least_widths()) > width and (least := grid.least()):
        grid.remove(least)
        left_out.append(least)
    groups = grid.groups(width)
    shown: list[RenderableType] = [grid.table(sizes) for sizes in groups]
    shown = shown or [grid.stacked()]
    lines = [f"All rows: {', '.join(constant)}."] if constant else []
    lines += [f"Left out: {', '.join(left_out)}; --wide shows all."] if left_out else []
    return Group(*shown, *(Text(line, "dim") for line in lines)), width


class _CellGrid:
    """Cells of a table while it is made to fit."""

    def __init__(self, columns: Columns, rows: list[list[Text]], title: str, *, parted: bool):
        self.columns, self.rows, self.title, self.parted = columns, rows, title, parted
        self.names = list(columns.names)

    def cells(self, name: str) -> list[Text]:
        at = self.names.index(name)
        return [row[at] for row in self.rows]

    def remove(self, name: str) -> None:
        at = self.names.index(name)
        del self.names[at]
        for row in self.rows:
            del row[at]

    def take_constants(self) -> list[str]:
        """Remove columns whose cells are all equal; return their contents."""
        said = []
        numbers = set(self.columns.numbers) - set(self.columns.minor)
        for name in [name for name in self.names[1:] if name not in numbers]:
            values = {cell.plain for cell in self.cells(name)}
            if len(self.rows) > 1 and len(values) == 1:
                said.append(f"{name} {values.pop() or '–'}")
                self.remove(name)
        return said

    def least(self) -> str:
        """Return the least important column that is there; empty for none."""
        return next((name for name in self.columns.minor if name in self.names), "")

    def natural(self, name: str) -> int:
        """Return the width of a column that is neither cut nor wrapped."""
        return max(
            cell_len(name),
            *(cell_len(line) for c in self.cells(name) for line in c.plain.splitlines()),
            0,
        )

    def prose(self, name: str) -> bool:
        """True for a column of sentences, which may wrap."""
        kept = name in self.columns.numbers or name in self.columns.whole
        return not kept and any(" " in cell.plain for cell in self.cells(name))

    def least_width(self, name: str) -> int:
        """Return the smallest width of a column: names stay distinct, numbers whole."""
        head = max(cell_len(word) for word in name.split(" "))
        plain = [cell.plain for cell in self.cells(name)]
        longest = max((cell_len(text) for text in plain), default=0)
        if name in self.columns.numbers or name in self.columns.whole:
            return max(head, longest)
        if self.prose(name):
            return max(head, min(longest, _NARROWEST_PROSE))
        least = min(longest, _SHORTEST_NAME)
        while len({shorten(text, least) for text in plain}) < len(set(plain)):
            least += 1
        return max(head, least)

    def least_widths(self) -> dict[str, int]:
        """Return the smallest width of each column."""
        return {name: self.least_width(name) for name in self.names}

    def whole_names(self) -> dict[str, int]:
        """Return widths that cut no name and no number; sentences wrap."""
        return {n: (self.least_width if self.prose(n) else self.natural)(n) for n in self.names}

    def width(self, sizes: Mapping[str, int]) -> int:
        """Return the width of a table with columns of these widths."""
        return sum(size + _EDGES for size in sizes.values()) + 1

    def shared(self, sizes: Mapping[str, int], width: int) -> dict[str, int]:
        """Widen columns, names first, until the table has ``width`` characters or needs no more."""
        found = dict(sizes)
        natural = {name: self.natural(name) for name in self.names}
        for _ in range(width - self.width(sizes)):
            wanting = [name for name in found if found[name] < natural[name]]
            if not wanting:
                break
            names = [name for name in wanting if not self.prose(name)]
            found[min(names or wanting, key=lambda name: found[name] / natural[name])] += 1
        return found

    def groups(self, width: int) -> list[dict[str, int]]:
        """Return the columns of each table that fits: the names, then as many numbers as fit.

        Empty if the names leave no room for any number.
        """
        sizes = self.least_widths()
        first = self.names[0]
        numbers = [name for name in self.columns.numbers if name in sizes and name != first]
        names = {name: size for name, size in sizes.items() if name not in numbers}
        found = [dict(names)]
        for name in numbers:
            if self.width(found[-1]) + sizes[name] + _EDGES > width and found[-1] != names:
                found.append(dict(names))
            found[-1][name] = sizes[name]
        if any(self.width(group) > width for group in found):
            return []
        return [self.shared(group, width) for group in found]

    def table(self, sizes: Mapping[str, int]) -> Table:
        """Return a table of the columns that have these widths."""
        table = Table(title=Text(self.title, "italic") if self.title else None)
        table.title_justify, table.header_style = "left", "bold"
        for name in (n for n in self.names if n in sizes):
            table.add_column(
                Text(name),
                justify="right" if name in self.columns.numbers else "left",
                width=sizes[name],
                overflow="fold",
            )
        before = None
        for row in self.rows:
            same = self.parted and before is not None and row[0].plain == before
            if self.parted and before is not None and not same:
                table.add_section()
            before = row[0].plain
            cells = [Text("") if same else row[0], *row[1:]]
            shown = zip(self.names, cells, strict=True)
            table.add_row(*(self._short(n, cell, sizes[n]) for n, cell in shown if n in sizes))
        return table

    def _short(self, name: str, cell: Text, size: int) -> Text:
        return cell if self.prose(name) else Text(shorten(cell.plain, size), cell.style)

    def stacked(self) -> Group:
        """Return each row as a line of its short cells, then its numbers and its sentences."""
        return Group(*([Text(self.title, "italic")] if self.title else []), *self._stack())

    def _stack(self) -> Iterator[RenderableType]:
        before, indent = None, 2 if self.parted else 0
        for row in self.rows:
            cells = {n: cell for n, cell in zip(self.names, row, strict=True) if cell.plain}
            if self.parted:
                first = cells.pop(self.names[0], Text("–"))
                if first.plain != before:
                    yield first
                before = first.plain
            whole = {n: cell for n, cell in cells.items() if n in self.columns.whole}
            numbers = {n: cell for n, cell in cells.items() if n in self.columns.numbers}
            texts = {n: c for n, c in cells.items() if n not in whole and n not in numbers}
            long = {n: c for n, c in texts.items() if len(c) > _LONGEST_IN_LINE}
            short = [
                Text.assemble(("" if self.parted or n == self.names[0] else f"{n} ", "dim"), cell)
                for n, cell in texts.items()
                if n not in long
            ]
            if short:
                yield Padding(Text("  ").join(short), (0, 0, 0, indent))
            if numbers:
                line = Text("   ".join(f"{n} {cell.plain}" for n, cell in numbers.items()))
                yield Padding(line, (0, 0, 0, indent + 2))
            for name, cell in (long | whole).items():
                line = Text.assemble((f"{name}: ", "dim"), cell)
                if name in whole:
                    line.no_wrap, line.overflow = True, "ignore"
                yield Padding(line, (0, 0, 0, indent + 2))
