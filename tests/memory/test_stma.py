"""STMA: Algorithm 1 by hand and by a literal reading, beliefs, ablations, a model over HTTP."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.baselines.rules.textworld.planner import Planner
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Cue, Recall, Step, Task, Triple
from gym_memory.graph import TemporalGraph
from gym_memory.llm.client import OpenAIChat
from gym_memory.memory import stma
from gym_memory.memory.base import count_tokens
from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.recall.semantic import EntityIndex
from gym_memory.memory.roles.notes import BeliefNotes, describe, stated_facts
from gym_memory.memory.stma import STMA
from gym_memory.run import rollout
from gym_memory.testing.chat import Faults, ScriptedServer
from gym_memory.wrappers.make import make_env

TASK = Task("house/0", "Cook a meal. The cookbook in the kitchen has the recipe.", "textworld")
KITCHEN = (
    "-= Kitchen =-\nYou are in a kitchen. You see a counter. On the counter is an egg and a "
    "cookbook. There is an exit to the east."
)
COOKBOOK = "Ingredients:\n  egg\n  red onion\n\nDirections:\n  fry the egg\n  prepare meal\n"
HALL = "-= Hall =-\nYou are in a hall. There is an exit to the west. There is an exit to the east."
SHED = "-= Shed =-\nYou are in a shed. You see a closed box. There is an exit to the west."
EPISODE = (
    ("", KITCHEN),
    ("examine cookbook", COOKBOOK),
    ("take egg", "You take the egg from the counter."),
    ("go east", HALL),
    ("go east", SHED),
    ("open box", "You open the box, revealing a red onion."),
)


def lived(memory: STMA, episode=EPISODE) -> STMA:
    memory.begin(TASK, 0)
    for t, (action, text) in enumerate(episode):
        memory.observe(Step(t, text, action))
    return memory


def edges(*lines: str) -> list[Triple]:
    return [Triple(*line.split(" | ")) for line in lines]


def with_graph(memory: STMA, triples: list[Triple]) -> STMA:
    graph = TemporalGraph()
    for triple in triples:
        graph.add(triple, 0)
    memory.load_state({**memory.state(), "graph": graph.state()})
    return memory


# ---------------------------------------------------------------- Algorithm 1

CHAIN = edges("a | near | b", "b | near | c", "c | near | d", "x | near | a", "d | near | e")


@pytest.mark.parametrize(
    ("hops", "in_edges", "expected"),
    [
        (0, True, []),
        (1, True, ["a | near | b", "x | near | a"]),
        (1, False, ["a | near | b"]),
        (2, False, ["a | near | b", "b | near | c"]),
        (3, False, ["a | near | b", "b | near | c", "c | near | d"]),
    ],
)
def test_k_hops_by_hand(hops, in_edges, expected) -> None:
    memory = with_graph(STMA(entities=1, hops=hops, in_edges=in_edges), CHAIN)
    assert set(memory.retrieve(Cue("a"))) == set(edges(*expected))


def test_the_subgraph_is_induced() -> None:
    """An edge between two vertices that were reached on other ways belongs to it."""
    memory = with_graph(STMA(entities=2, hops=0), edges("a | near | b", "b | near | c"))
    assert memory.retrieve(Cue("a and b")) == edges("a | near | b")


def literal_algorithm_1(triples, query, n, k, in_edges):
    """Run the paper's pseudo code line by line, with the words of a text as its embedding."""
    vertices = list(dict.fromkeys(v for t in triples for v in (t.subject, t.object)))

    def embed(text):
        words = set(text.split())
        return {word: 1 / math.sqrt(len(words)) for word in words}

    def sim(a, b):
        return sum(value * b.get(word, 0.0) for word, value in a.items())

    q = embed(query)
    scores = {v: round(sim(q, embed(v)), 5) for v in vertices}
    ranked = sorted(vertices, key=lambda v: (-scores[v], vertices.index(v)))
    candidates = {v for v in ranked[:n] if scores[v] > 0}
    for _ in range(k):
        out = {t.object for t in triples if t.subject in candidates}
        into = {t.subject for t in triples if t.object in candidates} if in_edges else set()
        candidates = candidates | out | into
    return {t for t in triples if t.subject in candidates and t.object in candidates}


entity = st.sampled_from(["red key", "blue key", "box", "red box", "hall", "attic", "old box"])
edge = st.builds(Triple, entity, st.sampled_from(["near", "under"]), entity)


@pytest.mark.slow
@settings(max_examples=200)
@given(
    st.lists(edge, min_size=1, max_size=14, unique=True),
    st.lists(st.sampled_from(["red", "blue", "key", "box", "the"]), min_size=1, max_size=6),
    st.integers(1, 4),
    st.integers(0, 3),
    st.booleans(),
)
def test_retrieval_equals_the_papers_algorithm(triples, words, n, k, in_edges) -> None:
    memory = with_graph(STMA(entities=n, hops=k, in_edges=in_edges), triples)
    query = " ".join(words)
    found = memory.retrieve(Cue(query))
    assert set(found) == literal_algorithm_1(triples, query, n, k, in_edges)
    assert len(found) == len(set(found))


def test_a_long_observation_does_not_drown_the_plan() -> None:
    graph = TemporalGraph()
    things = [f"thing {word}" for word in "abcdefghijkl"]
    for number, thing in enumerate([*things, "anchor"]):
        graph.add(Triple(thing, "is in", f"room{number}"), 0)
    index = EntityIndex(graph, None)
    nearest = index.nearest(["fetch the anchor", "You see " + ", ".join(things)], 3)
    assert "anchor" in nearest


@pytest.mark.parametrize("encoder", [None, "hash"])
def test_entities_without_live_facts_are_not_found(encoder) -> None:
    graph = TemporalGraph()
    graph.add(Triple("apple", "is in", "fridge"), 0)
    index = EntityIndex(graph, make_encoder(encoder) if encoder else None)
    assert index.nearest(["apple"], 1) == ["apple"]
    before = graph.snapshot()
    graph.retire(Triple("apple", "is in", "fridge"), 1)
    assert index.nearest(["apple"], 1) == []
    graph.restore(before)
    graph.add(Triple("pear", "is in", "fridge"), 1)
    assert index.nearest(["apple pear"], 3)[:2] == ["apple", "pear"]


def test_states_and_directions_are_not_vertices() -> None:
    """Else everything closed would be two hops from everything else that is closed."""
    world = edges(
        "box | is | closed", "far box | is | closed", "box | is in | hall",
        "far box | is in | attic", "hall | has exit | north", "attic | has exit | north",
    )  # fmt: skip
    found = with_graph(STMA(entities=1), world).retrieve(Cue("box"))
    assert set(found) == {world[0], world[2], world[4]}


def test_ways_are_listed_once_without_exits_already_taken() -> None:
    memory = lived(STMA())
    found = memory.retrieve(Cue("kitchen hall shed"))
    ways = [t for t in found if t.relation in ("is east of", "is west of")]
    assert len(ways) == 2
    assert not [t for t in found if t.relation == "has exit"]


# ---------------------------------------------------------------- beliefs and graph


def test_temporal_belief() -> None:
    belief = lived(STMA()).state()["belief"]
    assert belief.split("\n")[:4] == [
        "Active goals:",
        "- have egg fried",
        "- take red onion from box",
        "- prepare the meal",
    ]
    assert "3. go east (kitchen to hall)" in belief
    assert "recipe: requires egg; requires red onion" in belief
    assert "box: is in shed; is open" in belief


def test_goals_follow_the_recipe() -> None:
    memory = lived(STMA())
    memory.observe(Step(6, "You take the red onion from the box.", "take red onion"))
    memory.observe(Step(7, "You fried the egg.", "cook egg with stove"))
    text = memory.recall(Cue(""), 1000).text
    assert text.startswith("Active goals:\n- prepare the meal\n")


def test_relations_come_only_from_the_belief(monkeypatch) -> None:
    belief = "Places:\ncup: is on shelf"
    monkeypatch.setattr(stma, "BeliefNotes", lambda size: lambda previous, trace, task: belief)
    assert list(lived(STMA()).graph.live()) == edges("cup | is on | shelf")


def test_belief_is_the_new_record_and_the_old_belief() -> None:
    rule = BeliefNotes(1000)
    trace = [Step(t, text, action) for t, (action, text) in enumerate(EPISODE)]
    belief = ""
    for end in range(1, len(trace) + 1):
        belief = rule(belief, trace[:end], TASK)
    assert belief == rule("", trace, TASK) == lived(STMA()).state()["belief"]


def test_buffer_holds_latest_records_and_the_graph_the_rest(monkeypatch) -> None:
    seen = []
    rule = BeliefNotes(64)

    def summarize(previous, trace, task):
        seen.append([step.t for step in trace])
        return rule(previous, trace, task)

    monkeypatch.setattr(stma, "BeliefNotes", lambda size: summarize)
    memory = STMA(buffer=3, size=64)
    memory.begin(TASK, 0)
    for t in range(40):
        text = f"-= Room {t} =-\nYou see a chest {t}. There is an exit to the east."
        memory.observe(Step(t, text, "go east" if t else ""))
    assert seen[:4] == [[0], [0, 1], [0, 1, 2], [1, 2, 3]]
    assert len(memory.state()["buffer"]) == 3
    assert count_tokens(memory.state()["belief"]) <= 64
    assert "room 2" not in memory.state()["belief"]
    assert Triple("chest 2", "is in", "room 2") in memory.graph
    assert Triple("chest 2", "is in", "room 2") in memory.retrieve(Cue("chest 2"))


def test_new_relations_replace_outdated_edges(monkeypatch) -> None:
    beliefs = [
        "egg: is on counter",
        "egg: is in inventory\ncounter: is empty",
        "egg: is in pan",
        "pan: is empty\negg: is consumed",
    ]

    def summarize(previous, trace, task):
        return beliefs[trace[-1].t]

    monkeypatch.setattr(stma, "BeliefNotes", lambda size: summarize)
    memory = lived(STMA(), [("x", "x")] * 4)
    assert [set(memory.graph.as_of(t)) for t in range(4)] == [
        set(edges("egg | is on | counter")),
        set(edges("egg | is in | inventory", "counter | is | empty")),
        set(edges("egg | is in | pan", "counter | is | empty")),
        set(edges("egg | is | consumed", "counter | is | empty", "pan | is | empty")),
    ]


# ---------------------------------------------------------------- the relation aggregator


def test_directions_are_transitive() -> None:
    text = describe(edges("b | is west of | a", "c | is west of | b", "d | is north of | a"), TASK)
    assert text.endswith("From west to east lie c, b, a: a is east of c.")
    assert "to north lie" not in text


def test_circle_of_places_terminates() -> None:
    ring = edges("b | is east of | a", "c | is east of | b", "a | is east of | c")
    assert describe(ring, TASK).startswith("From a, east leads to b.")


parts = st.sampled_from(["you", "recipe", "oven", "hall", "shed", "egg", "inventory", "old door"])
fact_strategy = st.builds(
    Triple,
    parts,
    st.sampled_from(
        ["is in", "is on", "is", "is east of", "is south of", "has exit", "has east door", "weighs"]
    ),
    parts,
)


@pytest.mark.slow
@settings(max_examples=200)
@given(st.lists(fact_strategy, max_size=12))
def test_description_is_complete(triples) -> None:
    graph = TemporalGraph()
    for triple in triples:
        graph.add(triple, 0)
    text = describe(list(graph.live()), TASK)
    for triple in graph.live():
        if triple.subject != "you":
            assert triple.subject in text
        if triple.object != "inventory":
            assert triple.object in text or triple.subject == "you"


# ---------------------------------------------------------------- recall and ablations

CUE = Cue(SHED, TASK.goal)


def test_recall_holds_both_beliefs() -> None:
    recall = lived(STMA()).recall(CUE, 1000)
    for heading in ("Active goals:", "Read:", "Completed actions:", "Spatial belief:"):
        assert heading in recall.text
    assert Triple("recipe", "requires", "red onion") in recall.triples
    assert Triple("you", "is in", "shed") in recall.triples
    assert Triple("box", "is in", "shed") in recall.triples
    assert len(recall.triples) == len(set(recall.triples))


@pytest.mark.slow
@given(st.integers(0, 400))
def test_recall_keeps_every_budget(budget) -> None:
    recall = lived(STMA()).recall(CUE, budget)
    assert count_tokens(recall.text) <= budget
    for triple in recall.triples:
        assert triple.subject in recall.text.lower()


def test_spatial_belief_repeats_the_temporal_one_by_equation_7() -> None:
    for repeat in (False, True):
        text = lived(STMA(repeat=repeat)).recall(Cue(SHED), 1000).text
        temporal, _, spatial = text.partition("Spatial belief:")
        assert "needs to be fried" in temporal
        assert ("egg needs to be fried" in spatial) == repeat


def test_ablations_of_table_2() -> None:
    without = {
        name: lived(STMA(**{name: False}))
        for name in ("memory", "summarizer", "spatial_summarizer", "spatial", "aggregator")
    }
    recalled = {name: memory.recall(CUE, 1000) for name, memory in without.items()}
    full = lived(STMA()).recall(CUE, 1000)

    assert recalled["memory"] == Recall()
    assert len(without["memory"].graph) == 0

    assert "Completed actions:" not in recalled["summarizer"].text
    assert f"[step 3] > go east\n{HALL}" in recalled["summarizer"].text
    assert recalled["summarizer"].text.index("[step 1]") < recalled["summarizer"].text.index(
        "[step 3]"
    )
    assert "Spatial belief:" in recalled["summarizer"].text
    assert without["summarizer"].state()["belief"] == lived(STMA()).state()["belief"]
    assert recalled["summarizer"].episodes[1:3] == (SHED, HALL)

    belief = lived(STMA())
    from_records, from_belief = (
        {fact for fact in memory.graph.live() if fact.relation != "has exit"}
        for memory in (without["spatial_summarizer"], belief)
    )
    assert from_records == from_belief
    assert without["spatial_summarizer"].state()["belief"] == belief.state()["belief"]

    assert "Spatial belief:" not in recalled["spatial"].text
    assert len(without["spatial"].graph) == 0
    assert Triple("box", "is in", "shed") in recalled["spatial"].triples

    assert "[you, is in, shed]" in recalled["aggregator"].text
    assert "You are in shed." in full.text
    assert "You are in shed." not in recalled["aggregator"].text


def test_without_summariser_spatial_memory_loses_what_left_buffer() -> None:
    """Not the graph: it holds what was extracted; but what was only in older records is unread."""
    memory = lived(STMA(buffer=1, spatial_summarizer=False))
    assert stated_facts("[step 5] > open box\nYou open the box, revealing a red onion.", TASK)
    assert Triple("red onion", "is in", "box") in memory.graph
    assert Triple("hall", "is east of", "kitchen") not in memory.graph, "needs two records"
    assert Triple("hall", "is east of", "kitchen") in lived(STMA(buffer=1)).graph


@pytest.mark.parametrize(
    "wrong",
    [
        {"buffer": 0}, {"entities": 0}, {"hops": -1}, {"size": 63}, {"hops": 1.5}, {"buffer": True},
        {"in_edges": 1}, {"memory": "no"}, {"aggregator": None},
    ],
)  # fmt: skip
def test_arguments_are_checked(wrong) -> None:
    with pytest.raises(InvalidArgumentError, match=next(iter(wrong))):
        STMA(**wrong)


def test_similarity_by_an_encoder() -> None:
    memory = lived(STMA(encoder="hash", entities=2, hops=1))
    found = memory.retrieve(Cue("", focus="red onion"))
    assert Triple("red onion", "is in", "box") in found


def test_a_snapshot_of_an_earlier_episode() -> None:
    memory = lived(STMA())
    snapshot, state = memory.snapshot(), memory.state()
    cue = Cue(EPISODE[-1][1], TASK.goal)
    recall = memory.recall(cue, 500)
    lived(memory, EPISODE[:2])
    memory.restore(snapshot)
    assert memory.state() == state
    assert memory.recall(cue, 500) == recall


@pytest.mark.slow
def test_steps_that_repeat_change_only_the_place() -> None:
    memory = STMA()
    memory.begin(TASK, 0)
    walk = [("go west", HALL), ("go west", KITCHEN), ("go east", HALL), ("go east", SHED)]
    sizes = []
    for t in range(1_000):
        action, text = walk[t % 4] if t else ("", SHED)
        memory.observe(Step(t, text, action))
        if t in (100, 999):
            sizes.append((len(memory.graph), len(memory.state()["belief"].split("\n"))))
    assert sizes[0] == sizes[1]
    assert len(memory.graph.events) < 2_500, "only where the agent is changes"


# ---------------------------------------------------------------- playing, and a language model


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["stma", "stma?spatial_summarizer=false&aggregator=false"])
def test_the_planner_cooks_with_it(spec) -> None:
    env = make_env("Cooking", level="stma-2", memory=spec)
    for seed in range(2):
        assert rollout(env, Planner(), seed=seed).success
    env.close()


def test_a_model_plays_all_three_roles() -> None:
    with ScriptedServer() as server:
        memory = lived(STMA(llm=OpenAIChat("scripted", server.base_url, retries=0)))
        steps = len(EPISODE)
        assert (server.served["belief"], server.served["relations"]) == (steps, steps)
        recall = memory.recall(CUE, 1000)
        assert server.served["aggregate"] == 1
        assert memory.stats().fallbacks == 0
        assert "The box is in the shed." in recall.text
        assert "So the shed is east of the kitchen" in recall.text
        assert Triple("hall", "is east of", "kitchen") in recall.triples
        assert Triple("recipe", "requires", "red onion") in recall.triples
        assert memory.recall(CUE, 1000) == recall
        for budget in (0, 10, 100):
            assert count_tokens(memory.recall(CUE, budget).text) <= budget


def test_rules_replace_a_failing_model() -> None:
    with ScriptedServer(faults=Faults(rates={"500": 1.0})) as server:
        memory = lived(STMA(llm=OpenAIChat("m", server.base_url, retries=0)))
        assert memory.recall(CUE, 1000) == lived(STMA()).recall(CUE, 1000)
        assert memory.stats().fallbacks == 2 * len(EPISODE) + 1
