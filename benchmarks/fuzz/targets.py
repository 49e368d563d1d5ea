"""Targets of the fuzzer: each reader with real inputs, and the errors that it may raise."""

from __future__ import annotations

import ast
import functools
import gzip
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "games")]

import test_extract_hostile as hostile  # noqa: E402 - pages of each dialect

from gym_memory.baselines.llm.answers import read_action  # noqa: E402
from gym_memory.baselines.rules.scienceworld.imitator import SHIPPED  # noqa: E402
from gym_memory.core.errors import GymMemoryError, ModelError  # noqa: E402
from gym_memory.core.files import parse_json  # noqa: E402
from gym_memory.core.names import Spec  # noqa: E402
from gym_memory.core.records import Outcome, Step, Task, Triple  # noqa: E402
from gym_memory.core.trajectory import RowWriter, read_trajectory  # noqa: E402
from gym_memory.extract import EXTRACTORS, get_extractor  # noqa: E402
from gym_memory.extract.draft import apply  # noqa: E402
from gym_memory.extract.notes.recipes import read_recipe  # noqa: E402
from gym_memory.extract.notes.statements import read_statements  # noqa: E402
from gym_memory.games.alfworld.pddl import parse_domain, parse_problem  # noqa: E402
from gym_memory.games.alfworld.world import load_game, parse_grammar  # noqa: E402
from gym_memory.games.foreign.sources import detect_dialect  # noqa: E402
from gym_memory.games.nethack import commands  # noqa: E402
from gym_memory.games.qa.datasets import read_questions  # noqa: E402
from gym_memory.games.textworld.zmachine import (  # noqa: E402
    check_story,
    clean_text,
    endings,
)
from gym_memory.games.webshop.rules import read_request  # noqa: E402
from gym_memory.graph import TemporalGraph  # noqa: E402
from gym_memory.llm import prompts  # noqa: E402
from gym_memory.llm.base import json_values  # noqa: E402
from gym_memory.llm.usage import read_prices  # noqa: E402
from gym_memory.memory import make_memory, reading  # noqa: E402
from gym_memory.memory.roles import text as roles  # noqa: E402
from gym_memory.memory.roles.llm_lessons import read_abstractions  # noqa: E402
from gym_memory.memory.roles.notes import Notes, read_description  # noqa: E402
from gym_memory.memory.stores.facts import FactStore  # noqa: E402
from gym_memory.memory.stores.store import Store, exported_records  # noqa: E402
from gym_memory.run import EpisodeResult  # noqa: E402
from gym_memory.run.config import EpisodeRow, RunConfig, parse_seeds  # noqa: E402
from gym_memory.run.results import ResultsFolder  # noqa: E402
from gym_memory.run.results.archive import fact_records, open_memory  # noqa: E402
from gym_memory.run.results.report import read_source  # noqa: E402
from gym_memory.run.results.verify import verify, write_manifest  # noqa: E402
from gym_memory.testing.fake_env import FakeHouse  # noqa: E402
from gym_memory_belief.reading import read as belief_words  # noqa: E402

__all__ = ["PIECES", "TARGETS", "Form", "Target"]

Form = Literal["text", "json", "lines", "bytes"]
Read = Callable[[Any], Any]


class Target(NamedTuple):
    """A reader.

    Attributes:
        read: Takes an input; bytes if the form is ``bytes``, else text.
        form: Form of its inputs: any text, a JSON value, JSON lines, bytes.
        samples: Real inputs, at least one.
        refuses: Errors that it may raise, by its docstring.
    """

    read: Read
    form: Form
    samples: list[Any]
    refuses: tuple[type[Exception], ...] = (GymMemoryError,)


PIECES = [
    *hostile.PIECES, "a", "word ", "w, ", ",", ";", ":", "-= ", "=-", "- ", "[", "]", "[a", "{",
    "}", "12", "1.5 ", "$", "#", "<", ">", "> go\n", "[step 3] ", "is in ", " is ", " the", " to ",
    "the key ", "opens ", "You ", "you can see a ", "a (", "A x ", " x, a y and", "?", "!", "\\",
    "\r\n", "é", "\u2028", "\ud800", "\x00", "İ", "ß", "中", "\u0301", "“", "'", "north, ", "no ",
    "not ", "if ", "North ", "a door to the ", "(that is ", "\n\t", "\n\n", "Bob ", "A. ",
    "null", "1e999", '"x": ',
]  # fmt: skip
FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-"))
PAGES = {**hostile.PAGES, "plain": hostile.PAGES["textworld"]}


def written(data: str | bytes, name: str) -> Path:
    """Return a file that holds the input."""
    path = FOLDER / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
    return path


def texts() -> list[str]:
    """Return texts of games in the tests, and of recorded steps."""
    found: dict[str, None] = {}
    for path in sorted((ROOT / "tests").glob("*/test_extract_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.setdefault(node.value)
    with gzip.open(SHIPPED, "rt") as lines:
        for _, line in zip(range(200), lines, strict=False):
            found.setdefault(json.loads(line)["text"])
    return [text for text in found if 20 < len(text) < 3000]


# ---------------------------------------------------------------- readers of text


def extraction(dialect: str) -> Read:
    """Extract three steps whose text, action and inventory are the input, into one graph."""

    def read(text: str) -> None:
        rules, graph = get_extractor(dialect), TemporalGraph()
        for t, step in enumerate((Step(0, text), Step(1, "", text[:200]), Step(2, text, "", 0.0))):
            task = Task("t", text[:300], dialect)
            found = rules.extract(step._replace(t=t, inventory=text * (t > 1)), graph, task)
            apply(found, graph, t, episode=t)

    return read


def of_file(name: str, read: Read) -> Read:
    """Return a target that reads the input from a file of that name."""
    return lambda data: read(written(data, name))


def alfworld(path: Path) -> None:
    """Play the input as a new game file."""
    load_game(path, next(_numbers()))


def keyed(action: str) -> None:
    """Send the input as a command of NetHack."""
    commands.read(action, whole_level=True)
    commands.read(action, whole_level=False)


# ---------------------------------------------------------------- results, memories, stores

CONFIG = RunConfig(("E",), ("none", "history"), ("random",), (0, 1), protocol="trials?k=2")


def run_folder() -> dict[str, str]:
    """Return the files of a finished run."""
    with ResultsFolder(FOLDER / "run", CONFIG) as folder:
        folder.set_backends({"E": "engine 1"})
        for job in folder.todo():
            result = EpisodeResult(curve=((0, 0.0), (3, 0.5)), counters={"calls": 3})
            folder.append([EpisodeRow(job, 0, result), EpisodeRow(job, 1, result)])
    write_manifest(FOLDER / "run")
    run = FOLDER / "run"
    found = {p.name: p.read_text() for p in run.iterdir() if p.suffix in (".json", ".jsonl")}
    failed = json.loads(found["episodes.jsonl"].split("\n")[0])
    return {**found, "episodes.failed.jsonl": json.dumps({**failed, "failed": "it died"}) + "\n"}


RUN = run_folder()


def results(name: str) -> Read:
    """Read the input as one file of a run, and again after verify has repaired it."""

    def read(text: str) -> None:
        for other, content in RUN.items():
            written(content, f"run/{other}")
        written(text, f"run/{name}")
        verify(FOLDER / "run")
        read_source(FOLDER / "run")

    return read


def recorded() -> str:
    """Return steps of two episodes as a run records them."""
    row = {
        "episode": 0, "t": 0, "task_id": "t", "task": "Eat.", "dialect": "textworld", "action": "",
        "text": "-= Hall =-\nYou see a fridge.", "inventory": "You are carrying: a red apple.",
        "reward": 0.0, "terminated": False, "truncated": False, "score": 0, "max_score": 1,
        "normalized_score": 0.0, "success": False, "lost": False, "is_action_valid": True,
        "valid_actions": ["go east"],
    }  # fmt: skip
    rows = [{**row, "episode": e, "t": t, "terminated": t == 2} for e in (0, 1) for t in range(3)]
    return "".join(json.dumps(row) + "\n" for row in rows)


def steps(text: str) -> None:
    """Read the input as recorded steps: whole, into a memory, and continued."""
    packed(gzip.compress(text.encode("utf-8", "surrogatepass"), 1))


def packed(data: bytes) -> None:
    """Read the input as the gzip file of recorded steps."""
    path = written(data, "steps.jsonl.gz")
    try:
        list(read_trajectory(path))
        open_memory(path).recall(300)
    finally:
        RowWriter(path).close()


MEMORIES = [
    "arigraph",
    "history",
    "clin",
    "reflexion",
    "rag",
    "summary",
    "simulacra",
    "stma",
    "ldm2",
]


def memory_states() -> Iterator[str]:
    """Yield saved memories after two episodes."""
    for name in MEMORIES:
        env, memory = FakeHouse(), make_memory(name)
        for episode in range(2):
            memory.begin(Task("house", "Fetch a food.", "textworld"), episode)
            text = str(env.reset(seed=0)[0])
            for t, action in enumerate(("", "go west", "look", "go east")):
                text = text if not action else str(env.step(action)[0])
                memory.observe(Step(t, text, action, 0.5 * (t == 2)))
            memory.end(Outcome(score=1.0, max_score=2.0, normalized_score=0.5, steps=3))
        memory.save(FOLDER / "saved.json")
        yield (FOLDER / "saved.json").read_text()


def saved(text: str) -> None:
    """Load the input as a saved memory."""
    opened = open_memory(written(text, "saved.json"))
    opened.recall(300)
    if opened.memory.graph is not None:
        fact_records(opened.memory)


def imported(text: str) -> None:
    """Import the input as exported records."""
    (FOLDER / "import.db").unlink(missing_ok=True)
    store = Store(FOLDER / "import.db")
    store.import_records(exported_records(written(text, "records.jsonl")))
    store.records()


def stores() -> tuple[bytes, str]:
    """Yield a store with records and facts, and its records exported."""
    path = FOLDER / "store.db"
    store = Store(path)
    store.add("clin", "cooking", "lesson", "Opening the fridge may be necessary.", {"a": [1, None]})

    def add_facts(graph: TemporalGraph, episodes: Any, last: str) -> None:
        fact = graph.add(Triple("apple", "is in", "fridge"), t=0).triple
        graph.retire(fact, 2, "text")
        graph.add(Triple("apple", "is in", "inventory"), t=3)
        episodes.add(0, "You see an apple.", "look", [fact])

    FactStore(path).partition("cooking", "eat").append(add_facts)
    store.export_jsonl(FOLDER / "export.jsonl")
    return path.read_bytes(), (FOLDER / "export.jsonl").read_text()


@functools.cache
def _numbers() -> Iterator[int]:
    return iter(range(1 << 60))


def database(data: bytes) -> None:
    """Open the input as a store under a new name, since replicas are kept by name."""
    path = written(data, f"s{next(_numbers())}.db")
    try:
        store = Store(path)
        store.records()
        store.namespaces()
        facts = FactStore(path)
        facts.partitions()
        facts.as_of("cooking", "eat", 2)
        facts.partition("cooking", "eat").copy()
        store.add("clin", "cooking", "lesson", "more")
    finally:
        for left in FOLDER.glob(f"{path.name}*"):
            left.unlink()


STORE, EXPORTED = stores()

# ---------------------------------------------------------------- the list

DOMAIN = """(define (domain alfred)
 (:requirements :adl) (:types agent location receptacle object otype)
 (:predicates (atLocation ?a - agent ?l - location))
 (:action GotoLocation ; a walk
  :parameters (?a - agent ?from - location ?to - location ?r - receptacle)
  :precondition (and (atLocation ?a ?from) (not (= ?from ?to)) (or (open ?r) (not (openable ?r)))
   (exists (?o - object) (and (inReceptacle ?o ?r) (not (hot ?o)))))
  :effect (and (not (atLocation ?a ?from)) (atLocation ?a ?to) (when (hot ?r) (seen ?r))
   (increase (total-cost) 1))))"""
PROBLEM = """(define (problem p) (:domain alfred)
 (:objects agent1 - agent loc1 loc2 - location desk1 - receptacle pen1 - object)
 (:init (= (total-cost) 0) (atLocation agent1 loc1) (inReceptacle pen1 desk1))
 (:goal (and (exists (?o - object) (holds agent1 ?o)) (atLocation agent1 loc2))))"""
GRAMMAR = """grammar :: \"\"\"{"intro": [{"condition": "", "rhs": "You are in {agent.name}.
 #task#"}],
 "task": [{"rhs": "Your task is to: go [where|{loc(l)}]."}]}\"\"\";
action GotoLocation { template :: "go to [{r.name}]"; feedback :: "#intro#"; }"""
GAME = json.dumps({"pddl_domain": DOMAIN, "pddl_problem": PROBLEM, "grammar": GRAMMAR})
FACTS = """Completed actions:
12. go east (hall to kitchen)
Places:
hall: has exit east; is west of kitchen
[step 3] apple: is in fridge
- hall is east of kitchen.
note says: Go east; then north.
[hall, is east of, kitchen]
> open fridge
You open the fridge.
[step 4] > take apple
"""
DESCRIBED = (
    "You are in hall. From hall, east leads to den through oak door (open); there is an exit west. "
    "On desk: a pen, a mug (clean, hot). In box: a key. You hold an apple (raw), a knife."
)
ANSWERS = [
    "1. apple, is in, fridge; note, says, go east, then north\n2. \"red, door\", is, open",
    "[[apple, is in, fridge -> apple, is in, inventory], [a, b, c -> d, e, f]]",
    'Sure! ```json\n[["a", "is", "b"], ["c", "d", "e"]]\n``` {"action": "go east", "x": [1, {}]}',
    "Thought: the key is there\nAction: take key",
    "1. Opening the fridge MAY BE NECESSARY to get juice.\n- Going east DOES NOT CONTRIBUTE TO x.",
    "The answer is True, 7 of 10.",
]  # fmt: skip
QUESTIONS = [
    (ROOT / "gym_memory/games/qa/data" / name).read_text()[:4000].rpartition("\n")[0] + "\n"
    for name in ("isles_hotpot.jsonl", "isles_musique.jsonl")
]
STORY = bytearray(256)
STORY[0], STORY[0x08:0x10], STORY[0x1A:0x1C] = 8, bytes((0, 64, 0, 80, 0, 90, 0, 100)), b"\0\x20"
REQUEST = (
    "i need black tea bags, caffeine free, size: 12 ounce (pack of 2), and price lower than 40.00"
)
NETHACK = [
    "key ctrl+x",
    "type hello",
    "answer y",
    "go to door 3",
    "throw a north",
    "search 20 times",
]
TEXTS = texts()


def answer(read: Callable[[str], Any]) -> Target:
    """Return a reader of a model's output."""
    return Target(read, "text", ANSWERS, (ModelError,))


TARGETS: dict[str, Target] = {
    f"extract {name}": Target(
        extraction(name), "text", [page.text, page.inventory, page.action, *TEXTS], ()
    )
    for name in EXTRACTORS.names()
    for page in [PAGES[name]]
}
TARGETS |= {
    "statements": Target(lambda text: read_statements(text, note=True), "text", TEXTS, ()),
    "dialect": Target(detect_dialect, "text", TEXTS, ()),
    "belief words": Target(lambda text: belief_words(text, 200), "text", TEXTS, ()),
    "recipe": Target(read_recipe, "text", TEXTS, ()),
    "z-machine answer": Target(clean_text, "text", TEXTS, ()),
    "ending": Target(endings, "text", ["*** The End ***\nYou scored 3 out of 5, in 2 turns"], ()),
    "request": Target(read_request, "text", [REQUEST], ()),
    "nethack command": Target(keyed, "text", NETHACK, ()),
    "entries": Target(reading.split_entries, "text", [FACTS], ()),
    "account": Target(reading.read_account, "text", [FACTS], ()),
    "description": Target(read_description, "text", [DESCRIBED], ()),
    "sections": Target(reading.sections, "text", [FACTS], ()),
    "line": Target(reading.read_line, "text", FACTS.splitlines(), ()),
    "notes": Target(Notes, "text", [FACTS], ()),
    "triples": answer(roles.read_triples),
    "replacements": answer(roles.read_replacements),
    "lists of triples": answer(roles.read_triple_lists),
    "items": answer(roles.read_items),
    "number": answer(functools.partial(roles.read_number, low=0, high=9)),
    "flag": answer(roles.read_flag),
    "action": answer(functools.partial(read_action, valid=("take key", "go east"))),
    "abstractions": answer(read_abstractions),
    "JSON of a model": answer(lambda text: list(json_values(text))),
    "slots": Target(prompts.read_slots, "text", ["<task>\neat\n</task>\n<actions>a</actions>"], ()),
    "spec": Target(Spec, "text", ["a?b=1&c=%3F&d=true&e=1e9", "Cooking?level=hard"]),
    "seeds": Target(parse_seeds, "text", ["0:20,33,40:45"]),
    "prices": Target(read_prices, "json", ['{"small": [0.1, 0.4], "large": [2, 8, 0.5]}']),
    "json": Target(parse_json, "json", [GAME], (ValueError,)),
    "questions": Target(of_file("q.json", read_questions), "lines", QUESTIONS),
    "story": Target(of_file("s.z8", check_story), "bytes", [bytes(STORY)]),
    "pddl domain": Target(parse_domain, "text", [DOMAIN]),
    "pddl problem": Target(parse_problem, "text", [PROBLEM]),
    "grammar": Target(parse_grammar, "text", [GRAMMAR]),
    "alfworld game": Target(of_file("game.tw-pddl", alfworld), "json", [GAME]),
    **{
        name: Target(results(name), "lines" if name.endswith("l") else "json", [text])
        for name, text in RUN.items()
    },
    "recorded steps": Target(steps, "lines", [recorded()]),
    "gzip of steps": Target(packed, "bytes", [gzip.compress(recorded().encode(), 1, mtime=0)]),
    "saved memory": Target(saved, "json", list(memory_states())),
    "export": Target(imported, "lines", [EXPORTED]),
    "database": Target(database, "bytes", [STORE]),
}
