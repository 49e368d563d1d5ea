"""Count the usual places of things in ALFWorld's train games; write the searcher's habits.

Command that made the file in the package (360 train games, 60 of each type)::

    python benchmarks/alfworld/habits.py $ALFWORLD_DATA

For each kind of thing and of furniture: the share of pieces of such furniture with at least one
such thing in or on it, over the rooms that have the thing. Only the initial state counts.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from gym_memory.games.alfworld.env import find_source

OUT = Path(__file__).parents[2] / "baselines" / "searching" / "habits.json"


def main(folder: str) -> None:
    source = find_source(folder, "train", None)
    holding: Counter[tuple[str, str]] = Counter()
    pieces: Counter[tuple[str, str]] = Counter()
    for task_id in source.task_ids:
        game = source.game(task_id)
        kind = {entity: name.rsplit(" ", 1)[0] for entity, name in game.names.items()}
        held: dict[str, set[str]] = {}
        furniture: list[str] = []
        for predicate, *entities in game.facts.facts:
            if predicate == "inreceptacle":
                held.setdefault(entities[1], set()).add(kind[entities[0]])
            elif predicate == "receptacleatlocation":
                furniture.append(entities[0])
        for thing in {thing for things in held.values() for thing in things}:
            pieces.update((thing, kind[piece]) for piece in furniture)
            holding.update(
                (thing, kind[piece]) for piece in furniture if thing in held.get(piece, ())
            )
    habits: dict[str, dict[str, float]] = {}
    for (thing, piece), count in sorted(holding.items()):
        habits.setdefault(thing, {})[piece] = round(count / pieces[thing, piece], 3)
    record = {"games": len(source.task_ids), **source.versions(), "share": habits}
    lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in habits.items())
    record.pop("share")
    OUT.write_text(f'{json.dumps(record)[:-1]}, "share": {{\n{lines}\n}}}}\n', encoding="utf-8")
    print(f"{len(habits)} kinds of things in {len(source.task_ids)} games: {OUT}")


if __name__ == "__main__":
    main(sys.argv[1])
