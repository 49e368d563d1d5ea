"""Whatever is read from outside: no crash, no hang, no time beyond linear in the length.

    python benchmarks/fuzz/fuzz.py                        # 30 CPU minutes in all; writes fuzz.json
    python benchmarks/fuzz/fuzz.py --minutes 1 --only prose   # one reader for a minute

Hypothesis puts inputs together from pieces of real ones and from any text. A reader may refuse an
input with an error of gym_memory.errors, or the error that its docstring names; any other error,
and an input that takes over two CPU seconds, is a case. Besides, pieces are repeated to 10,000 and
40,000 characters: the longer one may take eight times the shorter one's time at most.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "games"))

import test_extract_hostile as hostile  # noqa: E402 - pages of each dialect

from gym_memory import prompts  # noqa: E402
from gym_memory.errors import GymMemoryError  # noqa: E402
from gym_memory.files import parse_json  # noqa: E402
from gym_memory.games.alfworld.pddl import parse_domain, parse_problem  # noqa: E402
from gym_memory.games.alfworld.text import parse_grammar  # noqa: E402
from gym_memory.games.qa.formats import read_questions  # noqa: E402
from gym_memory.games.textworld.engine import clean_text, endings  # noqa: E402
from gym_memory.games.textworld.zmachine import check_story  # noqa: E402
from gym_memory.memory import reading  # noqa: E402
from gym_memory.memory.extract import EXTRACTORS, get_extractor  # noqa: E402
from gym_memory.memory.extract.base import apply  # noqa: E402
from gym_memory.memory.graph import TemporalGraph  # noqa: E402
from gym_memory.memory.records.store import Store  # noqa: E402
from gym_memory.memory.roles import text as roles  # noqa: E402
from gym_memory.results import read_config, read_episodes  # noqa: E402
from gym_memory.results.archive import fact_records, open_memory  # noqa: E402
from gym_memory.results.verify import verify  # noqa: E402
from gym_memory.run import EpisodeResult  # noqa: E402
from gym_memory.run.jobs import EpisodeRow, Job, RunConfig, parse_seeds  # noqa: E402
from gym_memory.specs import parse_spec  # noqa: E402
from gym_memory.trajectory import read_trajectory  # noqa: E402
from gym_memory.types import Step, Task  # noqa: E402

SLOW = 2.0
Reader = Callable[[str], Any]
FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-"))


def extraction(dialect: str) -> Reader:
    """Three steps whose text, action and inventory are the input; the graph goes on."""

    def read(text: str) -> None:
        rules, graph = get_extractor(dialect), TemporalGraph()
        for t, step in enumerate((Step(0, text), Step(1, "", text[:200]), Step(2, text, "", 0.0))):
            task = Task("t", text[:300], dialect)
            found = rules.extract(step._replace(t=t, inventory=text * (t > 1)), graph, task)
            apply(found, graph, t, episode=t)

    return read


def file_reader(name: str, read: Callable[[Path], Any]) -> Reader:
    """Reads the input from a file of that name."""

    def run(text: str) -> None:
        path = FOLDER / name
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        read(path)

    return run


def results(text: str) -> None:
    """The input as the episodes of a folder; it may be mended."""
    (FOLDER / "episodes.jsonl").write_bytes(text.encode("utf-8", "surrogatepass"))
    verify(FOLDER)
    read_episodes(FOLDER)


def config(text: str) -> None:
    """The input as a run's settings."""
    folder = FOLDER / "config"
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    read_config(folder)


def steps(text: str) -> None:
    """The input as recorded steps."""
    path = FOLDER / "steps.jsonl.gz"
    path.write_bytes(gzip.compress(text.encode("utf-8", "surrogatepass"), 1))
    list(read_trajectory(path))


def saved(text: str) -> None:
    """The input as a saved memory."""
    path = FOLDER / "memory.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    opened = open_memory(path)
    opened.recall(300)
    fact_records(opened.memory)


def store(text: str) -> None:
    """The input as exported records."""
    path = FOLDER / "records.jsonl"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    (FOLDER / "store.db").unlink(missing_ok=True)
    Store(FOLDER / "store.db").import_jsonl(path)


CONFIG = RunConfig(("E",), ("none",), ("random",), (0, 1))
ROW = EpisodeRow(Job("E", "none", "random", 0), 0, EpisodeResult(curve=((0, 0.5),), steps=3))
JSON_PIECES = ["{", "}", "[", "]", ",", ":", '"', "null", "true", "1e999", "NaN", "-1", '"\\ud800"']
FACTS = ["- the apple: in the fridge; at kitchen\n", "apple: is in fridge", "Step 3", "> look\n"]
FACTS += ["Known:\n", "exits: door 3 (closed)", "(", ")", ";", "[0] ", "go to kitchen", " -> "]
PDDL = ["(define (domain d)", "(:action a ", ":parameters (?x - t)", ":precondition (and ", "(not "]
PDDL += ["(or ", "(forall (?x - t) ", "(when ", "(exists (?y - t) ", ":effect (p ?x))", ")", ";x\n"]
GRAMMAR = ["grammar :: ", '"""', '{"a": [{"rhs": "#b#"}]}', "action a { ", "template :: ", "}", "#"]
ANSWERS = ["apple, is in, fridge; ", "[[a, b, c -> d]]", '["x", "y"]', "1. ", "```json\n", "True"]

READERS: dict[str, tuple[Reader, list[str]]] = {
    name: (extraction(name), [p.text, p.inventory, p.action, *hostile.PIECES])
    for name in EXTRACTORS.names()
    for p in [hostile.PAGES.get(name, hostile.PAGES["textworld"])]
}
READERS |= {
    "results": (results, [json.dumps({**ROW.to_json(), "last": True}) + "\n", *JSON_PIECES]),
    "config": (config, [json.dumps({"format": 1, **CONFIG.to_json()}), *JSON_PIECES]),
    "steps": (steps, ['{"episode": 0, "t": 1, "text": "a"}\n', *JSON_PIECES]),
    "saved memory": (saved, ['{"format": 1, "memory": "arigraph", "state": {}}', *JSON_PIECES]),
    "store": (store, ['{"memory": "m", "key": "k", "kind": "l", "payload": 1}\n', *JSON_PIECES]),
    "json": (parse_json, JSON_PIECES),
    "spec": (parse_spec, ["a?b=1", "&", "=", "?", "%3F", "true", "1e9", '"x"', "[1]"]),
    "seeds": (parse_seeds, ["0:20", ",", ":", "1", "-1", "9" * 30, " "]),
    "slots": (prompts.read_slots, ["<task>", "</task>", "<actions>", "a", "<", "</ task>"]),
    "questions": (file_reader("q.json", read_questions), ['{"id": "1", "question": "q"}\n', "["]),
    "story": (file_reader("s.z8", check_story), ["\x08", "\x00" * 30, "Glul", "\x7f" * 20]),
    "pddl domain": (parse_domain, PDDL),
    "pddl problem": (parse_problem, [*PDDL, "(:init (p a))", "(:goal (p a))", "(:objects a - t)"]),
    "grammar": (parse_grammar, GRAMMAR),
    "answer of the z-machine": (clean_text, ["-= Kitchen =-0/5", "[a - succeeded]", " -= ", "\n>"]),
    "ending": (endings, ["*** The End ***", "You scored 3 out of 5", "in 2 turns"]),
    "entries": (reading.split_entries, FACTS),
    "account": (reading.read_account, FACTS),
    "description": (
        reading.read_description,
        [*FACTS, "You are in the kitchen. You see a fridge."],
    ),
    "sections": (reading.sections, FACTS),
    "line": (reading.read_line, FACTS),
    "triples": (roles.read_triples, ANSWERS),
    "replacements": (roles.read_replacements, ANSWERS),
    "items": (roles.read_items, ANSWERS),
    "number": (functools.partial(roles.read_number, low=0, high=9), ["7", " of ", "10", "-"]),
    "flag": (roles.read_flag, ANSWERS),
}
REFUSALS: tuple[type[Exception], ...] = (GymMemoryError, ValueError)


def play(reader: Reader, text: str, cases: list[str]) -> float:
    """CPU seconds that an input takes; notes what is wrong with it."""
    before = time.process_time()
    try:
        reader(text)
    except REFUSALS as error:
        if isinstance(error, UnicodeError):
            cases.append(f"{error!r}: {text[:300]!r}")
    except Exception as error:
        cases.append(f"{error!r}: {text[:300]!r}")
    took = time.process_time() - before
    if took > SLOW:
        cases.append(f"{took:.1f} s for {len(text)} characters: {text[:300]!r}")
    return took


def invent(reader: Reader, pieces: list[str], number: int, cases: list[str]) -> int:
    """500 inputs; gives how many were played."""
    played = 0
    cut = st.sampled_from(pieces).flatmap(
        lambda piece: st.tuples(st.just(piece), st.integers(0, len(piece)))
    )
    part = st.one_of(st.sampled_from(pieces), cut.map(lambda c: c[0][c[1] :]), st.text(max_size=8))
    inputs = st.lists(part, max_size=30).map("".join)

    @seed(number)
    @settings(
        max_examples=500,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs)
    def run(text: str) -> None:
        nonlocal played
        played += 1
        play(reader, text, cases)

    run()
    return played


def grow(reader: Reader, pieces: list[str], chance: random.Random, cases: list[str]) -> int:
    """One more repeated piece at two lengths."""
    unit = "".join(chance.choices(pieces, k=chance.randint(1, 3))) or " "
    head = chance.choice(["", *pieces])
    short, long = (head + unit * (size // len(unit)) for size in (10_000, 40_000))
    first = play(reader, short, cases)
    second = play(reader, long, cases)
    if second > 0.2 and second > 8 * max(first, 0.02):
        cases.append(f"{first:.2f} s, then {second:.2f} s: {head[:80]!r} + {unit[:80]!r} * n")
    return 2


def main() -> None:
    """Spend the time evenly over the readers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="of the processor, in all")
    parser.add_argument("--only", choices=list(READERS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=HERE / "fuzz.json")
    asked = parser.parse_args()
    (FOLDER / "config.json").write_text(json.dumps({"format": 1, **CONFIG.to_json()}))
    chosen = [asked.only] if asked.only else list(READERS)
    record: dict[str, Any] = {}
    for name in chosen:
        reader, pieces = READERS[name]
        pieces = [piece for piece in dict.fromkeys(pieces) if piece]
        cases: list[str] = []
        number = played = grown = 0
        chance, started = random.Random(asked.seed), time.process_time()
        while (spent := time.process_time() - started) < asked.minutes * 60 / len(chosen):
            if number % 2:
                played += invent(reader, pieces, asked.seed + number, cases)
            else:
                grown += grow(reader, pieces, chance, cases)
            number += 1
        record[name] = {"inputs": played, "long": grown, "cpu_s": round(spent, 1)}
        record[name]["cases"] = sorted(set(cases))[:10]
        print(name, json.dumps(record[name], ensure_ascii=True), flush=True)
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in record.items())
    asked.out.write_text(f"{{\n{lines}\n}}\n")
    sys.exit(any(part["cases"] for part in record.values()))


if __name__ == "__main__":
    main()
