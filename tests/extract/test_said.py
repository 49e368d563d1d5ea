"""Words of a text in the game are kept apart from what the game reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gym_memory.core.errors import UnknownNameError
from gym_memory.core.records import Cue, Oracle, Outcome, Step, Task, Triple
from gym_memory.extract import Extraction, Mention, get_extractor
from gym_memory.extract.draft import SPEECH, apply
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import LOCATIONS, RECIPE
from gym_memory.memory import MEMORIES, Memory, make_memory

ROOM = {
    "textworld": "-= Kitchen =-\nYou see a table. On the table you can see a note and an apple.",
    "plain": "You are in the kitchen. You see a table. On the table are a note and an apple.",
}
THRONE = "You are in the throne room. You take the golden key."
LIES = [
    THRONE,
    f"-= Throne Room =-\nYou see a chest.\n\n{THRONE}",
    f"You are carrying: a golden key and a crown.\n{THRONE}",
    "Your inventory holds a golden key. The golden key is in your inventory.",
]
KITCHEN, APPLE = Triple("you", "is in", "kitchen"), Triple("apple", "is on", "table")


def known(dialect: str, *steps: tuple[str, str]) -> TemporalGraph:
    graph, rules, task = TemporalGraph(), get_extractor(dialect), Task("t", "Cook.", dialect)
    for t, (action, text) in enumerate([("", ROOM[dialect]), *steps]):
        apply(rules.extract(Step(t, text, action), graph, task), graph, t, episode=t)
    return graph


@pytest.mark.parametrize("dialect", ROOM)
@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("action", ["read note", "examine note"])
def test_a_note_neither_moves_the_player_nor_gives_things(
    dialect: str, lie: str, action: str
) -> None:
    graph = known(dialect, (action, lie))
    assert graph.value("you", "location") == KITCHEN
    assert not [f for f in graph.live() if f.object == "inventory" and f.relation in LOCATIONS]


@pytest.mark.parametrize("dialect", ROOM)
def test_words_never_replace_sights_and_sights_replace_words(dialect: str) -> None:
    note = "The apple is in the cellar. The red key is in the attic."
    graph = known(dialect, ("read note", note))
    key = Triple("red key", "is in", "attic")
    assert graph.value("apple", "location") == APPLE
    assert graph.said_by(APPLE) == ()
    assert graph.said_by(key) == ("note",)
    graph = known(
        dialect, ("read note", note), ("take red key", "You pick up the red key from the ground.")
    )
    assert key not in graph


def test_seen_facts_are_never_said() -> None:
    graph, key = TemporalGraph(), Triple("key", "is in", "hall")
    apply(Extraction((Mention(key),), said={key: "sign"}), graph, 0, episode=0)
    apply(Extraction((Mention(key),), said={key: "page"}), graph, 1, episode=1)
    assert graph.said_by(key) == ("sign", "page")
    before = graph.snapshot()
    apply(Extraction((Mention(key),)), graph, 2, episode=2)
    assert graph.said_by(key) == ()
    graph.restore(before)
    twin = TemporalGraph()
    twin.load_state(json.loads(json.dumps(graph.state())))
    assert twin.said_by(key) == graph.fork().said_by(key) == ("sign", "page")
    graph.alias("key", "brass key")
    assert graph.said_by(Triple("brass key", "is in", "hall")) == ("sign", "page")


def test_speech_is_attributed_and_does_not_move_the_player() -> None:
    text = 'A guard waves. He says: "The lamp is on the shelf. You are in the throne room."'
    graph = known("plain", ("wait", text))
    assert graph.value("you", "location") == KITCHEN
    assert all(graph.said_by(f) == (SPEECH,) for f in graph.live() if "lamp" in f.subject)


@pytest.mark.parametrize("goal", ["Cook.", "Read the note, then cook.", "Read the cookbook."])
@pytest.mark.parametrize("trust", ["all", "seen"])
def test_trust_decides_which_words_are_learnt(goal: str, trust: str) -> None:
    memory = taught(f"arigraph?trust={trust}", goal)
    believed = any("attic" in fact for fact in memory.graph.live())
    assert believed == (trust == "all" or "cookbook" not in goal)
    shown = "attic" in json.dumps(memory.state())
    assert shown == believed


def taught(spec: str, goal: str) -> Memory:
    memory = make_memory(spec)
    memory.oracle = lambda: Oracle(frozenset())
    memory.begin(Task("t", goal, "textworld"), 0)
    speech = 'He says: "The red key is in the attic, and all is well."'
    for t, (text, action) in enumerate(
        [(ROOM["textworld"], ""), ("The red key is in the attic.", "read note"), (speech, "wait")]
    ):
        memory.observe(memory.admit(Step(t, text, action), goal))
    return memory


INNER = "history%3Ftrust=seen"
SEEN = [f"{name}?trust=seen" for name in MEMORIES.builtin()]
SEEN += [f"reflexion?inner={INNER}", f"fusion?of=rag+{INNER}", f"placebo?of=clin%3Finner={INNER}"]


@pytest.mark.parametrize("spec", SEEN)
def test_no_memory_keeps_words_that_it_should_not_trust(spec: str) -> None:
    memory = taught(spec, "Read the cookbook.")
    shown = memory.recall(Cue("You see a table."), 1000)
    assert "attic" not in json.dumps([memory.state(), shown])


@pytest.mark.parametrize("name", ["arigraph", "history", "rag", "summary", "stma", "simulacra"])
def test_words_are_kept_where_nothing_is_said_of_trust(name: str) -> None:
    assert "attic" in json.dumps(taught(name, "Read the cookbook.").state())


def test_trust_has_two_values() -> None:
    with pytest.raises(UnknownNameError, match="expected one of all, seen"):
        make_memory("rag?trust=none")


def test_a_recall_explains_whose_words_a_fact_is() -> None:
    memory, cue = taught("arigraph", "Find the red key."), Cue("", "Find the red key.")
    recall, reasons = memory.recall(cue, 1000), memory.reasons(cue, 1000).triples
    notes = {fact: reason.note for fact, reason in zip(recall.triples, reasons, strict=True)}
    assert notes[Triple("red key", "is in", "attic")] == "said by note"
    assert notes[APPLE] == ""


COOK = "Cook a meal. The cookbook in the kitchen has the recipe."
RECIPES = {
    "list": "Recipe #1\n---------\nIngredients:\n  banana\n\nDirections:\n  fry the banana\n",
    "sentences": "The recipe requires the banana. Fry the banana.",
    "quoted": 'It reads: "We bid you welcome." The recipe requires the banana. "Good luck to you!"',
}


def recipe_in(memory: Memory) -> list[Triple]:
    return [fact for fact in memory.graph.live() if fact.relation in RECIPE]


def read_in(dialect: str, goal: str, *steps: tuple[str, str]) -> Memory:
    memory = make_memory("arigraph")
    memory.begin(Task("t", goal, dialect), 0)
    for t, (action, text) in enumerate([("", ROOM[dialect]), *steps]):
        memory.observe(memory.admit(Step(t, text, action), goal))
    return memory


@pytest.mark.parametrize("dialect", ROOM)
@pytest.mark.parametrize("form", RECIPES)
@pytest.mark.parametrize("action", ["read note", "examine note"])
def test_only_the_text_of_the_goal_has_a_recipe(dialect: str, form: str, action: str) -> None:
    banana = ROOM[dialect].replace("apple", "banana")
    memory = read_in(dialect, COOK, (action, RECIPES[form]), ("look", banana))
    assert recipe_in(memory) == []
    kept = [fact for fact in memory.graph.live() if fact[:2] == ("note", "says")]
    assert len(kept) == 1
    assert "banana" in kept[0].object
    for goal in ("Find the treasure.", "Cook what the note says."):
        believed = read_in(dialect, goal, (action, RECIPES[form]))
        assert Triple("recipe", "requires", "banana") in recipe_in(believed)
        assert {believed.graph.said_by(fact) for fact in recipe_in(believed)} == {("note",)}


@pytest.mark.parametrize("dialect", ROOM)
def test_speech_during_reading_adds_nothing_to_the_recipe(dialect: str) -> None:
    page = "Recipe #1\n---------\nIngredients:\n  apple\n\nDirections:\n  fry the apple\n"
    speech = '\nA voice says: "The recipe requires the banana. Slice the banana, too."'
    banana = "look", ROOM[dialect].replace("apple", "banana")
    alone, disturbed = (
        read_in(dialect, COOK, ("read cookbook", text), banana) for text in (page, page + speech)
    )
    assert recipe_in(disturbed) == recipe_in(alone) != []


@pytest.mark.parametrize("dialect", ROOM)
def test_a_quoted_room_replaces_nothing_that_was_seen(dialect: str) -> None:
    fields = "-= Field =-\nYou are in the field. On the table is nothing at all."
    memory = read_in(dialect, COOK, ("look", f'{ROOM[dialect]} A sign reads: "{fields}"'))
    plain = read_in(dialect, COOK, ("look", ROOM[dialect]))
    live = list(memory.graph.live())
    assert set(plain.graph.live()) <= set(live)
    assert all(memory.graph.said_by(fact) for fact in live if fact not in plain.graph.live())


def test_passage_and_the_words_of_a_seller_are_sources() -> None:
    graph, task = TemporalGraph(), Task("t", "Who wrote Dust?", "prose")
    text = "Dust (novel)\nDust was written by Ann Lee."
    apply(get_extractor("prose").extract(Step(1, text), graph, task), graph, 1, episode=1)
    assert {graph.said_by(fact) for fact in graph.live()} == {("dust",)}
    task = Task("t", "i need a soft chair", "webshop")
    page = "Instruction: [SEP] i need a soft chair [SEP] Back to Search [SEP] < Prev [SEP] "
    found = get_extractor("webshop").extract(
        Step(1, page + "A very soft chair for all.", "click[description]"), TemporalGraph(), task
    )
    assert set(found.said.values()) == {"description"}


def test_an_engraving_that_forges_a_room_moves_nobody() -> None:
    graph, task = TemporalGraph(), Task("t", "Go down.", "nethack")
    here = "You are in room 1 of level 2.\nRoom 1, explored.\n- exits: door 3 (closed, 2 east)"
    forged = 'You read: "You are in room 9 of level 8."\n' + here
    apply(get_extractor("nethack").extract(Step(1, forged, "look"), graph, task), graph, 1)
    assert [fact for fact in graph.live() if "9" in " ".join(fact)] == []


def test_provenance_survives_the_store(tmp_path: Path) -> None:
    name = f"arigraph?lifetime=forever&store={tmp_path / 'facts.db'}"
    writer, reader = make_memory(name), make_memory(name)
    writer.begin(Task("cooking/1", "Cook."), 0)
    writer.observe(Step(0, ROOM["textworld"]))
    writer.observe(Step(1, "The red key is in the attic.", "read note"))
    writer.end(Outcome())
    reader.begin(Task("cooking/2", "Cook."), 0)
    assert reader.graph.said_by(Triple("red key", "is in", "attic")) == ("note",)
