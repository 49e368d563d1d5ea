"""AriGraph: the paper's algorithms by hand and against a literal reading, ranking, ablations."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.errors import InvalidArgumentError, ModelError, UnknownNameError
from gym_memory.core.records import Cue, Step, Task, Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import current_place
from gym_memory.graph.schema import UNEXPLORED
from gym_memory.llm.base import Reply, Request
from gym_memory.memory import make_memory
from gym_memory.memory.arigraph import AriGraph
from gym_memory.memory.base import CHARS_PER_TOKEN, count_tokens
from gym_memory.memory.encoders import HashEncoder, make_encoder
from gym_memory.memory.reading import fit_episodes, fit_facts, render_facts
from gym_memory.memory.recall.semantic import SemanticIndex
from gym_memory.memory.stores.episodes import EpisodeStore, EpisodicIndex, weight
from gym_memory.testing.chat import answer
from gym_memory.testing.fake_env import FakeHouse

TASK = Task("house/0", "Find the golden key.", "textworld")


def facts(*lines: str) -> list[Triple]:
    return [Triple(*line.split(" | ")) for line in lines]


def graph_of(*lines: str) -> TemporalGraph:
    graph = TemporalGraph()
    for t, triple in enumerate(facts(*lines)):
        graph.add(triple, t)
    return graph


# ---------------------------------------------------------------- Algorithm 2


class Axes:
    """An encoder for hand-worked examples: a text lies along the axes of the words it has."""

    words = ("grill", "bbq", "kitchen", "apple", "table", "locker", "note")

    def __init__(self) -> None:
        self.id, self.dim = "axes", len(self.words) + 1
        self.calls: list[list[str]] = []

    def encode(self, texts):
        self.calls.append(list(texts))
        rows = np.array([[float(w in t) for w in self.words] + [1e-3] for t in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


BBQ = facts(
    "bbq | used for | grilling",
    "bbq | is in | garden",
    "apple | is on | table",
    "table | is in | kitchen",
    "note | mentions | locker",
)


def test_algorithm_2_by_hand() -> None:
    """``grill`` has no edge of its own; its nearest edge leads to the bbq and on to the garden."""
    graph = TemporalGraph()
    for triple in BBQ:
        graph.add(triple, 0)
    axes = Axes()

    def search(query: str, depth: int, width: int, threshold: float | None = None):
        return SemanticIndex(graph, axes, width, threshold).search([(query, depth)])

    assert search("grill", 0, 1) == []
    [(nearest, similarity)] = search("grill", 1, 1)
    assert nearest == BBQ[0]
    assert similarity == pytest.approx(1 / math.sqrt(2), abs=1e-3)
    # Depth 2 asks for ``bbq`` and ``grilling`` too; width 2 finds both facts about the bbq.
    assert {t for t, _ in search("grill", 2, 2)} >= {BBQ[0], BBQ[1]}
    two = [t for t, _ in search("apple", 2, 1)]
    assert two == [BBQ[2]]  # apple and table both lead back to the same edge
    assert [t for t, _ in search("apple", 2, 2, 0.5)] == [BBQ[2], BBQ[3]]


def literal_search(edges, encoder, query, depth, width):
    """Search by Algorithm 2 line by line, encoding every edge again for every query."""
    found, queue, distance = [], [query], {query: 0}
    steps = 0
    while queue:
        steps += 1
        assert steps < 10_000
        current = queue.pop(0)
        if distance[current] >= depth:
            continue
        vectors = encoder.encode([str(edge) for edge in edges])
        similar = np.round(vectors @ encoder.encode([current])[0], 5)
        best = sorted(range(len(edges)), key=lambda i: (-similar[i], i))[:width]
        for i in best:
            for vertex in (edges[i].subject, edges[i].object):
                if vertex not in queue:
                    if vertex not in distance or distance[vertex] > distance[current] + 1:
                        distance[vertex] = distance[current] + 1
                        queue.append(vertex)
                    elif distance[vertex] == depth and distance[current] + 1 < depth:
                        raise AssertionError("unreachable")
            if edges[i] not in found:
                found.append(edges[i])
    return set(found)


names = st.sampled_from(["apple", "red apple", "table", "kitchen", "hall", "note", "locker", "key"])
relations = st.sampled_from(["is near", "mentions", "opens", "used for"])
triples = st.lists(st.builds(Triple, names, relations, names), min_size=1, max_size=14, unique=True)


@pytest.mark.slow
@settings(derandomize=True, max_examples=60, deadline=None)
@given(triples, st.lists(names, min_size=1, max_size=3), st.integers(0, 3), st.integers(1, 4))
def test_algorithm_2_is_the_union_of_literal_searches(edges, queries, depth, width) -> None:
    graph = TemporalGraph()
    for edge in edges:
        graph.add(edge, 0)
    encoder = HashEncoder(64)
    found = SemanticIndex(graph, encoder, width).search([(q, depth) for q in queries])
    literal = set().union(*(literal_search(edges, encoder, q, depth, width) for q in queries))
    assert {t for t, _ in found} == literal
    assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)


def test_each_text_is_encoded_once_over_many_searches() -> None:
    encoder = Axes()
    graph = TemporalGraph()
    index = SemanticIndex(graph, make_encoder(encoder), width=3)
    rng = random.Random(0)
    for t in range(40):
        graph.add(rng.choice(BBQ), t)
        graph.retire(rng.choice(BBQ), t)
        index.search([("grill", 2), ("apple", 2)])
    texts = [text for call in encoder.calls for text in call]
    assert len(texts) == len(set(texts))


@pytest.mark.slow
@settings(derandomize=True, max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 11), names), max_size=40),
    st.sampled_from([None, 0.2]),
    st.integers(1, 4),
)
def test_kept_answers_are_those_of_a_fresh_search(steps, threshold, width) -> None:
    known = [Triple(*f) for f in zip("abcdefghijkl", ["is near"] * 12, "bcdabcdabcda", strict=True)]
    known = [Triple(f"{f.subject} apple", f.relation, f"{f.object} table") for f in known]
    graph, encoder = TemporalGraph(), HashEncoder(32)
    index = SemanticIndex(graph, encoder, width, threshold)
    snapshot = graph.snapshot()
    for t, (begins, which, name) in enumerate(steps):
        if begins:
            graph.add(known[which], graph.now + 1)
        elif which == 0:
            graph.restore(snapshot)
        else:
            graph.retire(known[which], graph.now + 1)
        if t % 5 == 4:
            snapshot = graph.snapshot()
        query = [(name, 2), ("apple", 1), (known[which].object, 3)]
        fresh = SemanticIndex(graph, encoder, width, threshold)
        assert index.search(query) == fresh.search(query)


def test_search_knows_only_live_facts() -> None:
    graph = TemporalGraph()
    for triple in BBQ:
        graph.add(triple, 0)
    index = SemanticIndex(graph, Axes(), width=9)
    snapshot = graph.snapshot()
    everything = index.search([("grill", 3)])
    assert len(everything) == len(BBQ)
    graph.add(Triple("apple", "is in", "inventory"), 1)
    found = [t for t, _ in index.search([("apple", 1)])]
    assert BBQ[2] not in found
    assert Triple("apple", "is in", "inventory") in found
    graph.restore(snapshot)
    assert index.search([("grill", 3)]) == everything


def test_threshold_drops_dissimilar_facts() -> None:
    graph = TemporalGraph()
    for triple in BBQ:
        graph.add(triple, 0)
    found = SemanticIndex(graph, Axes(), 9).search([("apple", 1)])
    assert len(found) == len(BBQ)
    found = SemanticIndex(graph, Axes(), 9, threshold=0.5).search([("apple", 1)])
    assert [t for t, _ in found] == [BBQ[2]]


# ---------------------------------------------------------------- equation 1


def test_equation_1_by_hand() -> None:
    a, b, c, d = facts("a | is | x", "b | is | x", "c | is | x", "d | is | x")
    store = EpisodeStore()
    for number, held in enumerate([[a, b, c, d], [a, b], [a], [c, d], []]):
        store.add(number, f"text {number}", "", held)
    # n/N * log2 N: 2/4*2 = 1, 2/2*1 = 1, 1/1*0 = 0, 0, nothing.
    ranked = EpisodicIndex(store).search([a, b])
    assert [e.id for e in ranked] == [1, 0]  # equal: the newest first; one fact: never
    assert [e.id for e in EpisodicIndex(store).search([a, b, c])] == [0, 1, 3]  # 1.5, 1, .5
    assert [e.id for e in EpisodicIndex(store).search([a, b, c], exclude_last=4)] == [0]


held = st.lists(st.sampled_from(facts(*(f"{x} | is | y" for x in "abcdef"))), max_size=6)
episodes = st.lists(st.tuples(st.sampled_from("vwxyz"), held), max_size=25)


@pytest.mark.slow
@settings(derandomize=True, max_examples=150, deadline=None)
@given(episodes, held, st.integers(0, 4), st.integers(0, 25))
def test_episodic_index_is_equation_1_without_repeats(seen, recalled, hidden, back) -> None:
    store = EpisodeStore()
    index = EpisodicIndex(store)
    for t, (text, triples) in enumerate(seen):
        store.add(t, text, "", triples)
        if t == len(seen) // 2:
            list(index.search(recalled))
    if back < len(store):  # as a tree search does
        snapshot = store.snapshot()[:back]
        list(index.search(recalled))
        store.restore(snapshot)
    newest = {(e.text, e.triples): e.id for e in store}
    scores = {
        e.id: round(score, 9)
        for e in store
        if (score := len(set(e.triples) & set(recalled)) * weight(e)) > 0
        and e.id in newest.values()
        and e.id < len(store) - hidden
    }
    expected, texts = [], set()
    for id in sorted(scores, key=lambda id: (-scores[id], -id)):
        if store[id].text not in texts:
            texts.add(store[id].text)
            expected.append(id)
    found = [e.id for e in index.search(recalled, exclude_last=hidden)]
    assert found == expected


# ---------------------------------------------------------------- rendering


texts = st.text(st.characters(codec="utf-8", exclude_characters="\n"), min_size=1, max_size=30)


@pytest.mark.slow
@settings(derandomize=True, max_examples=150, deadline=None)
@given(
    st.lists(st.builds(Triple, st.sampled_from(["a", "bb", "ccc"]), texts, texts), max_size=12),
    st.integers(0, 60),
)
def test_facts_fit_the_budget(triples, budget) -> None:
    text, shown = fit_facts(triples, budget * CHARS_PER_TOKEN)
    assert count_tokens(text) <= budget
    assert render_facts(shown) == text
    remaining = iter(triples)
    assert all(fact in remaining for fact in shown)  # in their order
    if count_tokens(render_facts(triples)) <= budget:
        assert list(shown) == triples


def test_episodes_fit_the_budget() -> None:
    store = EpisodeStore()
    store.add(3, "A hall.\n\n  \nIt is dark.", "go east")
    store.add(4, "x" * 100)
    whole, shown = fit_episodes(store, 1000)
    assert whole == f"[step 3] > go east\nA hall.\nIt is dark.\n[step 4]\n{'x' * 100}"
    assert shown == ("A hall.\nIt is dark.", "x" * 100)
    for left in range(len(whole) + 1):
        text, shown = fit_episodes(store, left)
        assert len(text) <= left
        assert whole.startswith(text)
        assert "\n".join(shown) in text.replace("[step 4]\n", "") or len(shown) == 2


# ---------------------------------------------------------------- the memory


def walked(memory: AriGraph, steps: int = 30, seed: int = 0, focus: str = "") -> Cue:
    env, rng = FakeHouse(max_steps=100_000), random.Random(seed)
    memory.oracle = env.oracle
    obs, info = env.reset(seed=seed)
    memory.begin(Task(info["task_id"], obs["task"], env.dialect), seed)
    memory.observe(Step(0, obs["text"], "", 0.0, obs["inventory"], obs["valid_actions"]))
    for t in range(1, steps + 1):
        action = rng.choice(
            [a for a in env.valid_actions() if "eat" not in a and not a.endswith("on table")]
        )
        obs, reward, *_ = env.step(action)
        memory.observe(Step(t, obs["text"], action, reward, obs["inventory"], ()))
    return Cue(obs["text"], obs["task"], obs["inventory"], obs["valid_actions"], focus)


SEMANTIC = {"recall": "semantic", "encoder": "hash"}
MODES = pytest.mark.parametrize("mode", [{}, SEMANTIC], ids=["structural", "semantic"])


@MODES
def test_recent_observations_are_really_filtered(mode) -> None:
    for steps in (3, 6, 7, 40):
        for recent in (0, 5):
            memory = AriGraph(recent=recent, episodes=50, **mode)
            cue = walked(memory, steps)
            recalled = memory.recall(cue, 100_000).episodes
            bodies = ["\n".join(x for x in e.text.splitlines() if x.strip()) for e in memory.store]
            hidden = set(bodies[-recent - 1 :])
            assert not hidden & set(recalled)
            assert len(set(recalled)) == len(recalled)
            assert set(recalled) <= set(bodies)
            if steps == 40 and recent == 0:
                assert len(recalled) > 3


@MODES
def test_recall_shows_k_episodes(mode) -> None:
    for k in (0, 1, 2):
        memory = AriGraph(episodes=k, **mode)
        assert len(memory.recall(walked(memory, 60), 4000).episodes) == k


@MODES
def test_ablations_remove_their_parts(mode) -> None:
    def recalled(**changed: object):
        memory = AriGraph(**mode, **changed)
        return memory.recall(walked(memory, 10), 2000)

    whole = recalled()
    assert whole.episodes
    assert any(fact.relation == UNEXPLORED for fact in whole.triples)
    assert not recalled(episodic=False).episodes
    blind = recalled(exploration=False)
    assert not any(fact.relation == UNEXPLORED for fact in blind.triples)
    assert {f for f in whole.triples if f.relation != UNEXPLORED} == set(blind.triples)
    no_facts = recalled(semantic=False)
    assert {fact.relation for fact in no_facts.triples} == {UNEXPLORED}
    assert no_facts.episodes == whole.episodes
    assert recalled(semantic=False, exploration=False).triples == ()


@MODES
@pytest.mark.parametrize("budget", [0, 3, 20, 60, 250])
def test_text_states_exactly_the_triples(mode, budget) -> None:
    memory = AriGraph(**mode)
    recall = memory.recall(walked(memory), budget)
    assert count_tokens(recall.text) <= budget
    rendered = render_facts(recall.triples)
    assert recall.text.startswith(rendered)
    for episode in recall.episodes:
        assert episode in recall.text[len(rendered) :]


def test_code_variant_of_the_episodic_score() -> None:
    """With an encoder the plan decides between observations that share as many facts."""
    for focus, word in (("desk with a lamp", "lamp"), ("bench in the garden", "bench")):
        memory = AriGraph(episodic_score="code", episodes=3, **SEMANTIC)
        recalled = memory.recall(walked(memory, 50, focus=focus), 4000).episodes
        assert len(recalled) == 3
        assert word in recalled[0]
    structural = AriGraph(episodic_score="code", episodes=3)
    assert structural.recall(walked(structural, 50), 4000).episodes


def play(memory: AriGraph, task_id: str, texts: list[str], goal: str = "Eat.") -> None:
    memory.begin(Task(task_id, goal, "textworld"), 0)
    for t, text in enumerate(texts):
        memory.observe(Step(t, text, "go east" if t else ""))


HALL = "-= Hall =-\nYou are in a hall. You can see a table. There is an exit to the east."
ATTIC = "-= Attic =-\nYou are in an attic. You can see a chest. There is an exit to the west."


@pytest.mark.parametrize(
    ("lifetime", "same_task", "same_goal", "other"),
    [
        ("episode", False, False, False),
        ("trial", True, False, False),
        ("task", True, True, False),
        ("forever", True, True, True),
    ],
)
def test_lifetimes(lifetime, same_task, same_goal, other) -> None:
    for task_id, goal, kept in (
        ("a", "Eat.", same_task), ("b", "Eat.", same_goal), ("b", "Drink.", other),
    ):  # fmt: skip
        memory = AriGraph(lifetime=lifetime)
        play(memory, "a", [HALL, ATTIC])
        chest = Triple("chest", "is in", "attic")
        assert chest in memory.graph
        play(memory, task_id, [HALL], goal)
        assert (chest in memory.graph) == kept
        assert len(memory.store) == (3 if kept else 1)
        assert current_place(memory.graph) == "hall"


def test_the_world_starts_over_in_the_next_trial() -> None:
    memory = AriGraph(lifetime="trial")
    env = FakeHouse()
    for trial in range(3):
        obs, info = env.reset(seed=0)
        memory.begin(Task(info["task_id"], obs["task"], env.dialect), 0)
        memory.observe(Step(0, obs["text"], "", 0.0, obs["inventory"]))
        graph, state = memory.graph, {Triple(*f) for f in env.oracle().facts}
        # What is believed at the start of a trial is true then.
        moved = [f for f in graph.live() if f.relation in ("is in", "is on")]
        assert set(moved) <= state
        if trial:
            assert Triple("apple", "is in", "fridge") in graph
            assert Triple("fridge", "is", "closed") in graph
            assert Triple("pantry", "is east of", "hall") in graph
        for t, action in enumerate(env.oracle().walkthrough[:-1], 1):
            obs, *_ = env.step(action)
            memory.observe(Step(t, obs["text"], action, 0.0, obs["inventory"]))
        assert Triple("apple", "is in", "inventory") in graph
        assert Triple("fridge", "is", "open") in graph


def test_snapshot_of_an_earlier_episode() -> None:
    memory = AriGraph()
    cue = walked(memory, 10)
    snapshot, state, recall = memory.snapshot(), json.dumps(memory.state()), memory.recall(cue, 500)
    walked(memory, 5, seed=1)
    memory.restore(snapshot)
    assert json.dumps(memory.state()) == state
    assert memory.recall(cue, 500) == recall


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": 0}, {"depth": -1}, {"episodes": True}, {"recent": 1.5}, {"episodic": 1},
        {"semantic": "yes"}, {"exploration": None}, {"threshold": "high"}, {"threshold": True},
    ],
)  # fmt: skip
def test_wrong_values_are_refused(wrong) -> None:
    [name] = wrong
    with pytest.raises(InvalidArgumentError, match=f"expected {name}"):
        AriGraph(**wrong)


@pytest.mark.parametrize("name", ["recall", "episodic_score", "lifetime"])
def test_unknown_names_are_refused(name) -> None:
    with pytest.raises(UnknownNameError, match=name):
        AriGraph(**{name: "papr"})


def test_threshold_is_calibrated_for_the_encoder() -> None:
    memory = make_memory("arigraph?recall=semantic&encoder=hash&threshold=auto")
    assert 0 < memory.threshold < 0.5
    assert make_memory("arigraph?recall=semantic&encoder=hash").threshold is None
    cue = walked(memory, 20)
    loose = AriGraph(**SEMANTIC)
    walked(loose, 20)
    assert len(memory.recall(cue, 9000).triples) <= len(loose.recall(cue, 9000).triples)


# ---------------------------------------------------------------- roles of a language model


class Scripted:
    """A chat model that answers by the scripted server's rules, without the server."""

    def __init__(self, fail: bool = False):
        self.fail, self.roles = fail, []

    def complete(self, request: Request) -> Reply:
        self.roles.append(request.role)
        if self.fail:
            raise ModelError("server", "no answer today")
        text = answer(request.messages)
        parsed = request.schema and request.schema.model_validate_json(text)
        return Reply(text, parsed=parsed)


@MODES
def test_a_model_plays_the_roles(mode) -> None:
    model = Scripted()
    memory = AriGraph(llm=model, **mode)
    cue = walked(memory, 12)
    assert model.roles.count("extract") == 13
    assert memory.stats().extraction_calls == 13
    assert memory.stats().fallbacks == 0
    assert current_place(memory.graph) is not None
    for plan, shown in (("find the rake", True), ("eat", False)):
        recall = memory.recall(cue._replace(focus=plan), 1000)
        assert any(fact.relation == UNEXPLORED for fact in recall.triples) == shown
    assert {"explore", "entities"} <= set(model.roles)
    twin = memory.fork()
    assert twin.recall(cue, 500) == memory.recall(cue, 500)


def test_rules_replace_a_failing_model() -> None:
    memory, rules = AriGraph(llm=Scripted(fail=True)), AriGraph()
    cue = walked(memory, 12)
    assert walked(rules, 12) == cue
    assert list(memory.graph.live()) == list(rules.graph.live())
    assert memory.stats().fallbacks == 13
    memory.recall(cue, 500)
    assert memory.stats().fallbacks == 15
