"""Weighing recalled facts: relevance along the ways of Algorithm 2, and observations by it."""

from __future__ import annotations

import pytest

from gym_memory.core.records import Cue, Step, Task, Triple
from gym_memory.graph import TemporalGraph
from gym_memory.memory import make_memory
from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.recall.semantic import SemanticIndex
from gym_memory.memory.stores.episodes import EpisodeStore

BRIDGE = Triple("violet harbour", "was designed by", "ada quill")
FAR = Triple("ada quill", "studied in", "port lamb")
OTHER = Triple("stone oven", "used for", "baking bread")


def graph_of(*facts):
    graph = TemporalGraph()
    for fact in facts:
        graph.add(fact, 0)
    return graph


def test_fact_behind_bridge_is_found_and_counts_less():
    index = SemanticIndex(graph_of(BRIDGE, FAR, OTHER), make_encoder("hash"), width=1)
    query = "who designed violet harbour"
    near = index.relevance([(query, 1)])
    assert list(near) == [BRIDGE]
    found = index.relevance([(query, 2)])
    assert set(found) == {BRIDGE, FAR}
    assert 0 < found[FAR] < found[BRIDGE] <= 1
    assert found[BRIDGE] == near[BRIDGE]
    assert index.relevance([(query, 0)]) == {}


def test_direct_hit_is_not_weakened_by_the_path():
    index = SemanticIndex(graph_of(BRIDGE, FAR), make_encoder("hash"), width=1)
    through = index.relevance([("violet harbour", 2)])
    direct = index.relevance([("violet harbour", 2), ("ada quill studied", 1)])
    assert direct[FAR] > through[FAR]


def test_observations_score_by_their_best_few_facts():
    store = EpisodeStore()
    facts = [Triple(f"thing {i}", "is in", "hall") for i in range(30)]
    store.add(0, "long", triples=facts)
    store.add(1, "short", triples=[BRIDGE])
    store.add(2, "other", triples=[OTHER])
    scores = store.relevance_scores({BRIDGE: 0.8, **dict.fromkeys(facts, 0.2)})
    assert scores[1] == 0.8
    assert 0.39 < scores[0] < 0.4  # 0.2 (1 + 1/2 + 1/4 + ...)
    assert 2 not in scores
    with_plan = store.relevance_scores({BRIDGE: 0.8}, similarity=[0.1, 0.2, 0.3])
    assert with_plan == pytest.approx({0: 0.1, 1: 1.0, 2: 0.3})


PASSAGES = (
    "Violet Harbour\nViolet Harbour is a port in Oun. It was designed by Ada Quill.",
    "Stone oven\nA stone oven is used for baking bread in Oun and Tarm.",
    "Ada Quill\nAda Quill was an engineer. She studied in Port Lamb.",
    "Otto Venn\nOtto Venn was a singer. He lived in Tarm with Bela Roan.",
)
QUESTION = "Where did the designer of Violet Harbour study?"


@pytest.mark.parametrize("recall", ["structural", "semantic&encoder=hash"])
def test_arigraph_recalls_both_ends_of_a_bridge(recall):
    memory = make_memory(f"arigraph?recall={recall}&episodic_score=relevance&recent=0")
    memory.begin(Task("t", QUESTION, "prose"), 0)
    for t, text in enumerate((*PASSAGES, QUESTION)):
        memory.observe(Step(t, text, "read next"))
    cue = Cue(QUESTION, QUESTION, focus=QUESTION)
    recalled = memory.recall(cue, 500)
    assert memory.recall(cue, 500) == recalled
    if recall.startswith("semantic"):
        assert [text.split("\n")[0] for text in recalled.episodes] == [
            "Violet Harbour",
            "Ada Quill",
        ]
    assert len(recalled.episodes) == 2


@pytest.mark.parametrize("title", ["Stone oven", "Ada Quill", "Otto Venn"])
def test_passage_named_by_the_question_is_recalled_first(title: str) -> None:
    memory = make_memory("arigraph?recent=0&episodes=1")
    memory.begin(Task("t", QUESTION, "prose"), 0)
    for t, text in enumerate((*PASSAGES, QUESTION)):
        memory.observe(Step(t, text, "read next"))
    cue = Cue(QUESTION, QUESTION, focus=f'Refresh my memory on "{title}".')
    assert [text.split("\n")[0] for text in memory.recall(cue, 500).episodes] == [title]
