"""RAG and the stream under it: ranking, what is left out, order, growth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_memory.core.errors import InvalidArgumentError, MissingDependencyError, UnknownNameError
from gym_memory.core.records import Cue, Step, Task
from gym_memory.memory.base import count_tokens
from gym_memory.memory.encoders import HashEncoder
from gym_memory.memory.rag import BM25, RAG
from gym_memory.memory.stores.stream import ByMeaning, RecordStream, StreamRecord, fit_records

TASK = Task("house/0", "Find the red key.", "textworld")
TEXTS = (
    "A red door.",
    "A blue door.",
    "A garden with a bench.",
    "A kitchen. On the table is a red key.",
    "A dark cellar.",
)


def lived(memory: RAG, texts=TEXTS) -> RAG:
    memory.begin(TASK, 0)
    for t, text in enumerate(texts):
        memory.observe(Step(t, text, "go on" if t else ""))
    return memory


def test_ranks_by_the_mean_of_observation_and_plan() -> None:
    memory = lived(RAG(k=2, by="hash"))
    assert memory.recall(Cue("A door."), 500).episodes == (TEXTS[0], TEXTS[1])
    assert (
        memory.recall(Cue("A door.", focus="find the kitchen table"), 500).episodes[0] == (TEXTS[3])
    )
    encoder = HashEncoder()
    q = encoder.encode(["A door.", "sit on the bench"]).mean(axis=0)
    similar = encoder.encode(TEXTS) @ (q / np.linalg.norm(q))
    best = [TEXTS[i] for i in np.argsort(-similar)[:2]]
    assert list(memory.recall(Cue("A door.", focus="sit on the bench"), 500).episodes) == best


def test_order_is_by_time_or_rank() -> None:
    cue = Cue("", focus="the red key on the table in the kitchen, behind the red door")
    recalled = {order: lived(RAG(k=2, order=order)).recall(cue, 500) for order in ("time", "rank")}
    assert recalled["time"].episodes == recalled["rank"].episodes == (TEXTS[3], TEXTS[0])
    assert recalled["time"].text == f"[step 0]\n{TEXTS[0]}\n[step 3] > go on\n{TEXTS[3]}"
    assert recalled["rank"].text == f"[step 3] > go on\n{TEXTS[3]}\n[step 0]\n{TEXTS[0]}"


def test_the_present_and_the_recent_are_left_out() -> None:
    present = Cue(TEXTS[4])
    assert TEXTS[4] not in lived(RAG(k=9)).recall(present, 500).episodes
    assert set(lived(RAG(k=9, recent=2)).recall(present, 500).episodes) == set(TEXTS[:2])
    assert lived(RAG(k=9, recent=9)).recall(present, 500).text == ""
    assert lived(RAG(k=9, recent=9)).recall(Cue(""), 500).text == ""


def test_repeated_observations_are_one_record_seen_last() -> None:
    memory = lived(RAG(k=9), (*TEXTS, *TEXTS))
    assert memory.stats().episodes == len(TEXTS) + 1  # the first had no action
    recall = memory.recall(Cue(TEXTS[4]), 500)
    assert "[step 8] > go on" in recall.text
    assert "[step 3] > go on" not in recall.text


def test_the_best_fit_first() -> None:
    cue = Cue("", focus="red key kitchen table")
    assert lived(RAG()).recall(cue, 16).episodes[0] == TEXTS[3]
    for budget in range(60):
        recall = lived(RAG()).recall(cue, budget)
        assert count_tokens(recall.text) <= budget
        assert all(text in recall.text for text in recall.episodes)


def test_recall_fills_its_budget_unless_k_is_set() -> None:
    texts = [f"Room {n} has a door, a window and a chair." for n in range(400)]
    cue = Cue("Room 7 has a door.")
    for by in ("bm25", "hash"):
        filling = lived(RAG(by=by), texts)
        for budget in (100, 500, 2000):
            assert 0.8 * budget <= count_tokens(filling.recall(cue, budget).text) <= budget
        assert "Room 7 has" in filling.recall(cue, 100).text
        assert len(lived(RAG(by=by, k=3), texts).recall(cue, 2000).episodes) == 3
    reasons = filling.reasons(cue, 100).episodes
    assert len(reasons) == len(filling.recall(cue, 100).episodes)


def test_short_plan_counts_as_much_as_a_long_observation() -> None:
    texts = ["A cellar with a key.", "A hall with a lamp, a rug, a door, a clock.", "Nothing."]
    seen = Cue("Another hall: a lamp, a rug, a door, a clock.", focus="find the key")
    assert set(lived(RAG(k=2), texts).recall(seen, 500).episodes) == set(texts[:2])


def test_a_blank_cue_recalls_the_latest() -> None:
    assert lived(RAG(k=2)).recall(Cue(""), 500).episodes == (TEXTS[4], TEXTS[3])


def test_memory_grows_with_distinct_texts() -> None:
    memory = RAG()
    memory.begin(TASK, 0)
    for t in range(10_000):
        memory.observe(Step(t, f"Room {t % 50}.", "go on"))
    assert memory.stats().episodes == 50
    assert len(memory.state()["records"]) == 50
    assert memory.recall(Cue("Room 7."), 500).text


def test_arguments_are_checked() -> None:
    for wrong in ({"k": 0}, {"k": True}, {"recent": -1}, {"recent": 1.5}):
        with pytest.raises(InvalidArgumentError, match=next(iter(wrong))):
            RAG(**wrong)
    with pytest.raises(UnknownNameError, match="order"):
        RAG(order="alphabet")
    with pytest.raises(MissingDependencyError, match="no-such-model"):
        RAG(by="no-such-model")


# ---------------------------------------------------------------- the stream

record = st.builds(
    StreamRecord, st.just(0), st.sampled_from(["a", "b", "c d"]), st.sampled_from(["", "x"])
)


@pytest.mark.slow
@pytest.mark.parametrize("index", [ByMeaning(HashEncoder(32)), BM25()], ids=["meaning", "words"])
@given(
    first=st.lists(record, max_size=20),
    cut=st.integers(0, 20),
    branch=st.lists(record, max_size=10),
)
def test_restored_stream_equals_a_direct_one(index, first, cut, branch) -> None:

    def grown(stream: RecordStream, records, start: int) -> RecordStream:
        for t, item in enumerate(records):
            stream.add(item._replace(t=start + t, importance=float(t)))
        return stream

    cut = min(cut, len(first))
    stream = grown(RecordStream(index.empty()), first[:cut], 0)
    kept = tuple(stream.records)
    stream.similarities(["a"])
    grown(stream, first[cut:], cut)
    stream.similarities(["b"])
    stream.restore(kept)
    grown(stream, branch, cut)
    straight = grown(grown(RecordStream(index.empty()), first[:cut], 0), branch, cut)
    assert stream.records == straight.records
    assert list(stream.latest()) == list(straight.latest())
    for query in (["a"], ["c", "d"], ["", " "]):
        assert np.array_equal(stream.similarities(query), straight.similarities(query))
    assert np.array_equal(stream.times, straight.times)
    assert np.array_equal(stream.importance, straight.importance)
    loaded = RecordStream(index.empty())
    loaded.load_state(stream.state())
    assert loaded.records == stream.records
    assert list(loaded.latest()) == list(stream.latest())


@given(st.lists(st.text(max_size=200), max_size=6), st.integers(0, 500))
def test_records_fit(texts, left) -> None:
    kept = fit_records([StreamRecord(t, text, "go") for t, text in enumerate(texts)], left)
    assert sum(len(text) + 1 for _, text in kept) <= left
    assert [r.t for r, _ in kept] == list(range(len(kept)))
