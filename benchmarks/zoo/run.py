"""Play every agent and every memory role against every kind of endpoint of the zoo.

    python -m benchmarks zoo                   # all cells, some minutes; writes zoo.json, README.md
    python -m benchmarks zoo --out results/zoo # keeps the results folders there, to grep them
    python -m benchmarks zoo -p think -p vllm  # some personalities, printed alone

A cell compares the play with that by the plain scripted server. It is `=` if every action, or every
recall, is the same; else it describes the difference. Seeds and steps are fixed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.baselines.base import make_policy
from gym_memory.core.errors import GymMemoryError
from gym_memory.core.names import Spec
from gym_memory.core.trajectory import read_rows
from gym_memory.llm import Budget
from gym_memory.run.compare import compare
from gym_memory.run.config import Job, RunConfig
from gym_memory.run.play import Listener, play_job
from gym_memory.testing.chat import ZOO, ZooServer

HERE = Path(__file__).parent
KEY = "sk-zoo-key-that-must-not-be-found-0123456789"
ENV = "Fetch?level=easy&max_steps=10"
AGENTS = ("plain", "react", "ariadne", "stma", "clin", "reflexion", "prompted")
ROLES = ("arigraph", "stma", "summary", "simulacra", "reflexion", "clin")
SCORERS = ("choose", "saycan")
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/v1")
STOP = 30_000
"""Token limit of the column `stops`."""


class Cell(NamedTuple):
    """Actions or recalls of one combination."""

    kept: list[str]
    text: str
    notes: tuple[str, ...]
    fallbacks: int


def llm(server: ZooServer) -> str:
    """Return the spec of the model behind a server."""
    own = {"model": "scripted", "base_url": server.base_url, "backoff": 0.01, "max_wait": 0.2}
    return str(Spec.of("openai", own))


def played(memory: Spec, policy: Spec, out: Path) -> Cell:
    """Play one combination; return its actions and recalls."""
    stats: list[Any] = []

    class Watch(Listener):
        def step(self, trial: int, t: int, info: dict[str, Any]) -> None:
            stats.append(info["memory_stats"])

    out.parent.mkdir(parents=True, exist_ok=True)
    path = out.with_suffix(".jsonl.gz")
    (row,) = play_job(Job(Spec(ENV), memory, policy, 0), Watch(), str(path))
    rows = list(read_rows(path))
    by_model = bool(policy.kwargs)
    kept = [str(one["action"] if by_model else one.get("memory", "")) for one in rows]
    counters = row.result.counters
    own = counters.get("fallbacks", 0) + counters.get("invalid_actions", 0)
    fallbacks = own if by_model else max(one.fallbacks for one in stats)
    return Cell(kept, row.result.failed, row.result.notes, int(fallbacks))


def combinations(server: ZooServer) -> Iterator[tuple[str, Spec, Spec]]:
    """Yield the name, memory and policy of each column."""
    for name in AGENTS:
        more = {"encoder": "hash"} if name == "clin" else {}
        yield name, Spec("arigraph"), Spec.of(name, {"llm": llm(server), **more})
    for name in ROLES:
        yield f"{name} (roles)", Spec.of(name, {"llm": llm(server)}), Spec("planner")


def cells(personality: str, out: Path) -> dict[str, Cell]:
    """Play all combinations against one personality."""
    with ZooServer(personality) as server:
        return {
            name: played(memory, policy, out / personality / str(number))
            for number, (name, memory, policy) in enumerate(combinations(server))
        }


def refused(server: ZooServer) -> dict[str, str]:
    """Return the messages of agents that score actions by local weights, for a named server."""
    said = {}
    for name in SCORERS:
        try:
            make_policy(Spec.of(name, {"llm": llm(server)}))
        except GymMemoryError as error:
            said[name] = str(error).replace(server.base_url, "URL")
    return said


def whole_run(personality: str, out: Path) -> None:
    """Play one combination in worker processes, for the logs and results that a user would have."""
    with ZooServer(personality) as server:
        policy = Spec.of("react", {"llm": llm(server)})
        config = RunConfig((Spec(ENV),), (Spec("none"),), (policy,), (0,))
        compare(config, out / personality / "run")


def stops(personality: str) -> str:
    """Return the tokens spent under a hard stop, as a share of it."""
    from gym_memory.core.errors import BudgetExceededError, ModelError
    from gym_memory.llm import Request, episode_usage, make_model
    from gym_memory.llm.prompts import load_prompt

    slots = dict.fromkeys(load_prompt("react").slots, "")
    chat = load_prompt("react").messages(**{**slots, "observation": "A hall.", "actions": "look"})
    spent = Budget(max_tokens=STOP)
    with ZooServer(personality, latency=0.0) as server, episode_usage(spent):
        model = make_model(llm(server))
        for calls in range(1000):
            try:
                model.complete(Request(chat, role="react", max_tokens=64))
            except BudgetExceededError:
                return f"{spent.spent()[0] / STOP:.0%} in {calls} calls"
            except ModelError as error:
                return str(error)
    return "never"


def shown(cell: Cell, plain: Cell) -> str:
    """Return a cell of the table."""
    if cell.text:
        return cell.text[:200]
    same = "=" if cell.kept == plain.kept else "other"
    return same + (f", {cell.fallbacks} not the model's" if cell.fallbacks else "")


def found_keys(folder: Path) -> list[str]:
    """Return the files below a folder that contain the key."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            text = gzip.decompress(content) if path.suffix == ".gz" else content
            found += [str(path)] if KEY.encode() in text else []
    return found


def table(rows: Sequence[dict[str, str]]) -> str:
    """Return rows as a Markdown table."""
    heads = list(rows[0])
    lines = [heads, ["---"] * len(heads), *([row[head] for head in heads] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-p", "--personality", action="append", choices=ZOO, default=[])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = KEY
    with tempfile.TemporaryDirectory() as scratch:
        out = given.out or Path(scratch)
        names = [name for name in ZOO if not given.personality or name in given.personality]
        plain = cells("plain", out)
        rows, notes = [], {}
        for name in names:
            own = plain if name == "plain" else cells(name, out)
            row = {"endpoint": f"`{name}`"}
            row |= {column: shown(cell, plain[column]) for column, cell in own.items()}
            row["a stop of 30,000 tokens"] = stops(name)
            whole_run(name, out)
            rows.append(row)
            found = {_ADDRESS.sub("URL", one) for cell in own.values() for one in cell.notes}
            notes[name] = sorted(found)
            print(json.dumps(row | {"notes": notes[name]}), flush=True)
        keys = found_keys(out)
        with ZooServer() as server:
            scorers = refused(server)
    print(table(rows))
    print(f"files with the key: {len(keys)}", *keys)
    if not given.personality:
        record: dict[str, Any] = {"rows": rows, "notes": notes, "scorers": scorers}
        record["files with the key"] = len(keys)
        (HERE / "zoo.json").write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
        write_page(rows, notes, scorers, len(keys))


def write_page(
    rows: Sequence[dict[str, str]], notes: dict[str, list[str]], scorers: dict[str, str], keys: int
) -> None:
    """Write the page with the table."""
    about = "\n".join(f"- `{name}`: {one.about}" for name, one in ZOO.items())
    said = "\n".join(f"- `{name}`: {'; '.join(found)}" for name, found in notes.items() if found)
    local = "\n".join(f"- `{name}`: {sentence}" for name, sentence in scorers.items())
    text = f"""# Endpoints

Does an agent, or a memory's role, play the same behind every kind of server?
`python -m benchmarks zoo` plays `{ENV}`, seed 0, against each personality of the zoo
(`gym_memory/testing/chat/zoo.py`) and writes this page. The answers are the scripted server's, so
they say nothing of how well a language model plays.

`=`: every action (agents), or every recall (roles, with the rule-based planner), is that with the
plain server. `other`: something differs; decisions that are not the model's are counted.

{table(rows)}

Files of these runs that hold the key of the environment: {keys}.

`choose` and `saycan` score the valid actions by local weights. They refuse every endpoint before
the first game, with one line:

{local}

## The endpoints

{about}

## What the reports of these runs say

{said}
"""
    (HERE / "README.md").write_text(text)


if __name__ == "__main__":
    main()
