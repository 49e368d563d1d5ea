"""Count listings of valid actions, those that end Python, and their time, over stories.

    python -m benchmarks jericho/listings --stories FOLDER --count 20000
    git archive 893da17a gym_memory | tar x -C /tmp/before
    python -m benchmarks jericho/listings --stories FOLDER --before /tmp/before

In each story a player takes listed actions at random, from a point of the walkthrough on if Jericho
has one, and lists the valid actions after each of them, as in an episode. Every story is played in
its own Python process, so that crashes are counted. With ``--before`` another version also lists
some of the same states, interleaved. Each story has a line in benchmarks/jericho/listings.json;
stories that already have as many listings are not played again.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

OUT = Path(__file__).with_name("listings.json")
EPISODE = 40
"""Actions at random, after a part of the walkthrough."""
TIMED = 6
"""States of a story that are listed by both versions."""
QUIET = ("look", "inventory", "wait")


def play(story: str, count: int) -> dict[str, object]:
    """List the valid actions of some states; return the number of searches, and some plays."""
    from gym_memory.core.errors import BackendError
    from gym_memory.games.jericho.engine import ParserEngine

    engine, random = ParserEngine(), Random(story)
    plays: list[list[str]] = []
    listed = searched = refused = 0
    begun = _cpu()
    while listed < count:
        engine.start(story)
        solution = engine.walkthrough()
        taken = list(solution[: random.randrange(len(solution) + 1)])
        for action in taken:
            engine.send(action)
        for _ in range(min(EPISODE, count - listed)):
            listed += 1
            try:
                known = [a for a in engine.admissible_commands() if a not in QUIET]
            except BackendError:
                refused += 1
                break
            action = random.choice(known or ["wait"])
            answer = engine.send(action)
            taken.append(action)
            if answer.won or answer.lost:
                break
        plays.append(taken)
        searched, engine.searches = searched + engine.searches, 0
    ms = round(1000 * (_cpu() - begun) / max(1, searched))
    engine.close()
    return {"listings": listed, "searched": searched, "ms": ms, "refused": refused,
            "plays": random.sample(plays, min(TIMED, len(plays)))}  # fmt: skip


def time_lists(story: str, plays: Sequence[Sequence[str]]) -> list[float]:
    """Return the CPU milliseconds of a list at the end of each play, with the version imported."""
    from gym_memory.games.jericho.engine import ParserEngine

    engine, times = ParserEngine(), []
    for actions in plays:
        engine.start(story)
        for action in actions[:-1]:  # the last one may end the story
            engine.send(action)
        begun = _cpu()
        engine.admissible_commands()
        times.append(1000 * (_cpu() - begun))
    engine.close()
    return times


def _cpu() -> float:
    """Return the CPU seconds of this process and of its copies that ended."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def _in_python(call: str, story: Path, detail: object, tree: Path | None = None) -> object:
    """Return the value of a function in a new Python process; None if that crashed."""
    here = {"PYTHONPATH": str(tree)} if tree else {}
    command = [sys.executable, __file__, "--call", call, str(story), json.dumps(detail)]
    done = subprocess.run(command, stdout=subprocess.PIPE, env=os.environ | here, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def measure(story: Path, count: int, before: Path | None) -> dict[str, object]:
    """Return the line of a story."""
    row = _in_python("play", story, count)
    if not isinstance(row, dict):
        return {"story": story.name, "listings": count, "ended": True}
    plays = row.pop("plays")
    if before is not None:
        rounds: dict[str, list[list[float]]] = {"ms_before": [], "ms_now": []}
        for _ in range(2):
            for name, tree in (("ms_before", before), ("ms_now", None)):
                times = _in_python("time_lists", story, plays, tree)
                rounds[name] += [times] if isinstance(times, list) else []
        for name, times in rounds.items():
            least = [min(state) for state in zip(*times, strict=True)]
            row[name] = round(sum(least) / len(least), 1) if least else None
    return {"story": story.name, "ended": False, **row}


def main() -> None:
    """Measure every story, and write each line as it comes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--stories", type=Path, required=True, help="a folder of story files")
    parser.add_argument("--count", type=int, default=20_000, help="listings over all stories")
    parser.add_argument("--before", type=Path, help="a tree of another version, to time beside")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    stories = sorted(args.stories.glob("*.z[3-8]"))
    if not stories:
        sys.exit(f"expected a folder of .z3 to .z8 files, got {args.stories}")
    each = -(-args.count // len(stories))
    rows = json.loads(args.out.read_text("utf-8")) if args.out.exists() else []
    rows = [row for row in rows if row["listings"] >= each]
    for story in stories:
        if any(row["story"] == story.name for row in rows):
            continue
        rows.append(measure(story, each, args.before))
        print(json.dumps(rows[-1]), flush=True)
        lines = ",\n".join(json.dumps(row) for row in rows)
        args.out.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    listed = sum(row["listings"] for row in rows)
    ended = sum(row["ended"] for row in rows)
    print(f"{listed} listings in {len(rows)} stories; Python ended in {ended} stories")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--call"]:
        _, _, function, path, argument = sys.argv
        print(
            json.dumps(
                {"play": play, "time_lists": time_lists}[function](path, json.loads(argument))
            )
        )  # type: ignore[operator]
    else:
        main()
