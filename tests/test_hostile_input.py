"""Inputs found by benchmarks/fuzz: each is read in linear time, or refused by its error."""

from __future__ import annotations

import contextlib
import functools
import gzip
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from work import guarded

from gym_memory.baselines.llm.answers import read_action
from gym_memory.core.errors import CorruptGameError, GymMemoryError, ResultsError, StoreError
from gym_memory.core.files import read_json, seal, unseal, write_atomic
from gym_memory.core.names import Spec
from gym_memory.core.records import Step, Task
from gym_memory.core.trajectory import read_trajectory
from gym_memory.extract import get_extractor
from gym_memory.extract.draft import without_words
from gym_memory.extract.layout import layout_of
from gym_memory.extract.normal import normal
from gym_memory.extract.notes.statements import read_statements
from gym_memory.games.alfworld.pddl import parse_domain, parse_problem
from gym_memory.games.alfworld.world import parse_grammar
from gym_memory.games.qa.datasets import read_questions
from gym_memory.games.textworld.engine import load_game
from gym_memory.games.textworld.zmachine import clean_text
from gym_memory.graph import TemporalGraph
from gym_memory.llm.prompts import read_slots
from gym_memory.memory import make_memory
from gym_memory.memory.roles.notes import read_description
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, RunConfig
from gym_memory.run.results import ResultsFolder
from gym_memory.run.results.folder import read_replaced
from gym_memory.run.results.verify import verify

STEP = {
    "episode": 0, "t": 0, "task_id": "t", "task": "Eat.", "dialect": "textworld", "action": "",
    "text": "A hall.", "inventory": "", "reward": 0.0, "terminated": False, "truncated": False,
    "score": 0, "max_score": 1, "normalized_score": 0.0, "success": False, "lost": False,
}  # fmt: skip


def carried(text: str) -> object:
    task = Task("t", "", "plain")
    return get_extractor("plain").extract(Step(0, text), TemporalGraph(), task)


@pytest.mark.parametrize(
    ("read", "piece"),
    [
        (clean_text, "[a?"),
        (functools.partial(read_action, valid=("go",)), "\n\t"),
        (read_slots, "<act>\n"),
        (parse_grammar, "action Go { template :: "),
        (parse_grammar, 'grammar :: """ '),
        (lambda text: read_description(f"In a: b ({text}"), ", c"),
        (read_statements, '"x": '),
        (read_statements, "the key; "),
        (lambda text: normal(f"Y{text}"), "\n\t"),
        (lambda text: carried(f"You are carrying: a red apple and {text}"), "( "),
        (lambda text: layout_of(f"In your inve{text}ntory: an apple"), "\t"),
        (lambda text: carried(f"You are carrying: a {text}"), ","),
        (lambda text: carried(f"You also see:\n\tA d{text}oor (that is open)"), "\t"),
        (lambda text: layout_of(f"A thing: d{text}escriptions, of actions"), "\t"),
        (lambda text: without_words(Step(1, text), "Read the cookbook."), "“a b c "),
        (lambda text: without_words(Step(1, text), "Read the cookbook."), "“"),
    ],
)
def test_each_took_over_a_second(read: Callable[[str], Any], piece: str) -> None:
    def try_to_read() -> None:
        with contextlib.suppress(GymMemoryError):
            read(piece * (200_000 // len(piece)))

    guarded(try_to_read)


def test_texts_are_still_read() -> None:
    assert clean_text("[a]\nYou [see] a\n] key [x")[:2] == ("You  a\n] key [x", ["a", "see"])
    assert read_action("*Thought*: a\n\n**Action:** go", ()).action == "go"
    found = read_slots("<a>\n<b>\nx\n</b>\n</a>\n<b>\n\n</b>\n<c>\ny\n</c> \n</c>")
    assert found == {"a": "<b>\nx\n</b>", "b": "", "c": "y\n</c> "}


def test_a_grammar_nested_too_deep() -> None:
    with pytest.raises(CorruptGameError, match="grammar"):
        parse_grammar('grammar :: """{"a": ' + "[" * 50_000 + '""";')


def test_planning_problems() -> None:
    problem = "(define (problem p) (:init {}) (:goal (a)))"
    for literal in ("()", "(a " + "b " * 20_000 + ")"):
        with pytest.raises(CorruptGameError, match="predicate"):
            parse_problem(problem.format(literal))
    for effect in ("(not ())", "(not)"):
        with pytest.raises(CorruptGameError):
            parse_domain(f"(define (domain d) (:action a :effect (and {effect} (b (c)))))")


def test_a_value_nested_too_deep_is_text() -> None:
    assert Spec("a?b=" + "[" * 50_000).kwargs == {"b": "[" * 50_000}


def test_a_sentence_at_infinity(tmp_path: Path) -> None:
    record = {"_id": "1", "question": "q", "answer": "a", "supporting_facts": [["T", float("inf")]]}
    text = json.dumps([{**record, "context": [["T", ["s"]]]}])
    (tmp_path / "q.json").write_text(text.replace("Infinity", "1e999"))
    with pytest.raises(CorruptGameError, match="record 1"):
        read_questions(tmp_path / "q.json")


@pytest.mark.parametrize("place", [[7, "eat", ""], [0, "gone", ""], [0, [], ""]])
def test_a_place_without_tuples(tmp_path: Path, place: list[Any]) -> None:
    memory = make_memory("ldm2")
    memory.begin(Task("t", "Eat.", "textworld"), 0)
    memory.save(tmp_path / "memory.json")
    record = read_json(tmp_path / "memory.json")
    record["state"]["places"] = [place]
    write_atomic(tmp_path / "memory.json", seal(json.dumps(record)))
    with pytest.raises(StoreError, match="state of memory 'ldm2'"):
        memory.load(tmp_path / "memory.json")


def test_an_episode_without_its_settings(tmp_path: Path) -> None:
    config = RunConfig(("E",), ("none",), ("random",), (0, 1))
    with ResultsFolder(tmp_path, config) as folder:
        for job in folder.todo():
            folder.append([EpisodeRow(job, 0, EpisodeResult())])
    first, *rest = (tmp_path / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    without = {name: value for name, value in unseal(first).items() if name != "config"}
    (tmp_path / "episodes.jsonl").write_bytes(b"".join([seal(json.dumps(without)) + b"\n", *rest]))
    found = [finding.text for finding in verify(tmp_path) if finding.state == "damaged"]
    assert "line 1 was not played with the settings that it names" in found


@pytest.mark.parametrize("line", ["{", "[" * 50_000, "[]"])
def test_replaced_episodes(tmp_path: Path, line: str) -> None:
    (tmp_path / "episodes.failed.jsonl").write_text(line + "\n")
    with pytest.raises(ResultsError, match="expected"):
        read_replaced(tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [{"text": True}, {"inventory": 3}, {"action": [""]}, {"dialect": None}, {"valid_actions": [1]}],
)
def test_recorded_steps(tmp_path: Path, wrong: dict[str, Any]) -> None:
    path = tmp_path / "steps.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps({**STEP, **wrong}).encode() + b"\n"))
    with pytest.raises(ResultsError, match=f"expected {next(iter(wrong))}"):
        list(read_trajectory(path))


def described(**changes: Any) -> dict[str, Any]:
    """Return a valid description of a game, with these changes."""
    from textworld.generator.data import KnowledgeBase

    record = {"KB": KnowledgeBase.default().serialize(), "world": [], "infos": [], "quests": []}
    return {**record, **changes}


@pytest.mark.slow
@pytest.mark.parametrize(
    "logic",
    [
        "type P {",
        "type P { predicates { at(P, r); } } " * 9000,
        "{" * 39_000,
        "type a : b { } " * 2500,
        "(" * 320_000,
        7,
        None,
    ],
)
def test_broken_game_description_is_refused(tmp_path: Path, logic: Any) -> None:
    """In two seconds of the processor, and in 200 MB beyond what the packages take."""
    pytest.importorskip("textworld")
    record = described()
    record["KB"]["logic"] = logic
    refuses(tmp_path, json.dumps(record))


NESTED = "[" * 100_000 + "]" * 100_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("world", "7"),
        ("world", NESTED),
        ("quests", json.dumps([{"events": "x"}] * 1000)),
        ("infos", json.dumps("x" * 1_000_000)),
        ("KB", "null"),
        ("KB", json.dumps("x" * 10_000_000)),
        ("KB", '{"logic": "", "logic": 1e999}'),
    ],
)
def test_broken_part_of_game_description_is_refused(tmp_path: Path, part: str, value: str) -> None:
    pytest.importorskip("textworld")
    record = {name: json.dumps(held) for name, held in described().items()}
    parts = ", ".join(f'"{name}": {held}' for name, held in {**record, part: value}.items())
    refuses(tmp_path, f"{{{parts}}}")


def refuses(folder: Path, description: str) -> None:
    """Assert that it takes neither long nor much memory to refuse a game's description."""
    (folder / "game.json").write_text(description)

    def refuse() -> None:
        with pytest.raises(CorruptGameError, match="expected TextWorld's description"):
            load_game(folder / "game.z8")

    guarded(refuse, seconds=10.0)  # five times what is promised, on a machine that is slow
    tracemalloc.start()
    try:
        refuse()
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()
