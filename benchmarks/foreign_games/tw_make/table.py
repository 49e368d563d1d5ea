"""README's table, by maker and set, from the kept scores.

python benchmarks/foreign_games/tw_make/table.py
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

FOLDER = Path(__file__).parent
ARMS = ("random", "none", "history", "arigraph")


def mean_of(rows: Iterable[dict[str, Any]], folder: str, arm: str, maker: str) -> tuple[float, int]:
    """Mean score of the games of a maker, each the mean of its episodes, and their number."""
    for row in rows:
        name = "random" if row["policy"] == "random" else row["memory"]
        if (row["games"], name) == (folder, arm):
            games = dict(zip(row["stories"], row["scores"], strict=True))
            chosen = [fmean(s) for name, s in games.items() if name.startswith(maker)]
            return (fmean(chosen), len(chosen)) if chosen else (0.0, 0)
    raise ValueError(f"no scores of {arm} in {folder}")


def number(value: float) -> str:
    """A score as tables write it: ``.25``, ``1.00``."""
    return f"{value:.2f}".removeprefix("0")


def main() -> None:
    """Print the table."""
    rows = json.loads((FOLDER / "scores.json").read_text(encoding="utf-8"))
    before = json.loads((FOLDER / "before.json").read_text(encoding="utf-8"))
    heads = "games|used for mending|n|random|before: none|before: arigraph|none|history|arigraph"
    print(f"| {' | '.join(heads.split('|'))} |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for folder, used in (("set1", "yes"), ("set2", "no")):
        for maker in ("custom", "simple", "coin", "treasure", "cooking", ""):
            found = {arm: mean_of(rows, folder, arm, maker) for arm in ARMS}
            first = [mean_of(before, folder, arm, maker)[0] for arm in ("none", "arigraph")]
            scores = [found["random"][0], *first, *(found[arm][0] for arm in ARMS[1:])]
            label = f"`{MAKERS[maker]}`" if maker else f"all of set {folder[-1]}"
            cells = [label, used, str(found["random"][1]), *map(number, scores)]
            print(f"| {' | '.join(cells)} |")


MAKERS = {
    "custom": "custom", "simple": "tw-simple", "coin": "tw-coin_collector",
    "treasure": "tw-treasure_hunter", "cooking": "tw-cooking",
}  # fmt: skip


if __name__ == "__main__":
    main()
