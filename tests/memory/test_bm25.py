"""BM25 against its formula, computed a second time the long way."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from work import calls

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.memory.rag import BM25

TEXTS = ["a red door", "a blue door and a blue wall", "", "the wall, the wall!"]
words = st.lists(st.sampled_from(["a", "door", "red", "wall", "x1"]), max_size=8).map(" ".join)


def formula(texts: list[str], query: str, k1: float = 1.2, b: float = 0.75) -> list[float]:
    split = [text.lower().replace(",", " ").replace("!", " ").split() for text in texts]
    usual = sum(map(len, split)) / len(split)
    scores = []
    for text in split:
        score = 0.0
        for word in query.split():
            holding = sum(word in other for other in split)
            weight = math.log(1 + (len(split) - holding + 0.5) / (holding + 0.5))
            often = text.count(word)
            if often:
                score += weight * often / (often + k1 * (1 - b + b * len(text) / usual))
        scores.append(score)
    return scores


@pytest.mark.slow
@given(st.lists(words, min_size=1, max_size=8), words)
def test_scores_equal_the_formula(texts: list[str], query: str) -> None:
    index = BM25()
    index.extend(texts)
    expected = np.array(formula(texts, query))
    best = expected.max()
    assert index.similarities([query]) == pytest.approx(expected / best if best else expected)


def test_parameters_matter_and_are_checked() -> None:
    for k1, b in ((2.0, 0.5), (0.0, 1.0)):
        index = BM25(k1, b)
        index.extend(TEXTS)
        expected = np.array(formula(TEXTS, "blue wall", k1, b))
        assert index.similarities(["blue wall"]) == pytest.approx(expected / expected.max())
    for wrong in ({"k1": -1}, {"b": 1.5}):
        with pytest.raises(InvalidArgumentError, match=next(iter(wrong))):
            BM25(**wrong)


def test_rare_words_come_first_and_queries_count_alike() -> None:
    index = BM25()
    index.extend(["door door key", "door", "door", "lamp rug clock bell"])
    assert index.similarities(["door key"]).argmax() == 0
    both = index.similarities(["lamp rug clock bell", "key"])
    assert both[0] == both[3] == 0.5
    assert not index.similarities(["nothing of this", ""]).any()


def test_an_empty_index_answers_nothing() -> None:
    assert BM25().similarities(["door"]).shape == (0,)


def test_truncated_index_equals_one_that_never_grew() -> None:
    index, small = BM25(), BM25()
    index.extend(TEXTS)
    small.extend(TEXTS[:2])
    index.cut(2)
    assert len(index) == 2
    assert np.array_equal(index.similarities(["blue wall"]), small.similarities(["blue wall"]))
    assert pickle.dumps(index) == pickle.dumps(small)


@pytest.mark.slow
def test_cost_of_adding_depends_on_the_text_alone() -> None:
    """The tenth thousand texts make as many calls as the first."""
    index = BM25()
    text = "You are in room {}. On the table you see a red key, a lamp and an old book. "

    def add(first: int) -> None:
        index.extend([text.format(n) for n in range(first, first + 1000)])

    made = [calls(lambda n=n: add(1000 * n)) for n in range(10)]
    assert max(made) < 1.01 * min(made)
