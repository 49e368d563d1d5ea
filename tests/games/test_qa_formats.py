"""Files and metrics of question answering: official forms, broken files, official scores."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.errors import (
    CorruptGameError,
    InvalidArgumentError,
    MissingDependencyError,
    UnknownNameError,
)
from gym_memory.games.qa.datasets import (
    CLOSED_ANSWERS,
    QA_DATA,
    exact_match,
    f1,
    load_dataset,
    normalize_answer,
    read_questions,
)
from gym_memory.games.qa.env import PassageSearch

HOTPOT = {
    "_id": "h1",
    "question": "Which port did Ada Quill design?",
    "answer": "Violet Harbour",
    "supporting_facts": [["Ada Quill", 1], ["Violet Harbour", 0], ["Violet Harbour", 9]],
    "context": [
        ["Ada Quill", ["Ada Quill was an engineer.", " She designed a port."]],
        ["Otto Venn", ["Otto Venn sang."]],
        ["Violet Harbour", ["Violet Harbour is a port by Ada Quill."]],
    ],
    "type": "bridge",
    "level": "easy",
}
MUSIQUE = {
    "id": "2hop__1",
    "question": "Where did the designer of Violet Harbour study?",
    "answer": "Port Lamb",
    "answer_aliases": ["Lamb"],
    "answerable": True,
    "paragraphs": [
        {"idx": 0, "title": "Violet Harbour", "paragraph_text": "By Quill.", "is_supporting": True},
        {"idx": 1, "title": "Otto Venn", "paragraph_text": "He sang.", "is_supporting": False},
        {"idx": 2, "title": "Quill", "paragraph_text": "At Port Lamb.", "is_supporting": True},
    ],
    "question_decomposition": [
        {"question": "designer", "answer": "Quill", "paragraph_support_idx": 0},
        {"question": "#1 study", "answer": "Port Lamb", "paragraph_support_idx": 2},
    ],
}


def written(path, *records, lines=True):
    text = "\n".join(map(json.dumps, records)) if lines else json.dumps(records)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("lines", [True, False])
def test_hotpotqa_is_read_as_it_is_published(tmp_path, lines):
    (question,) = read_questions(written(tmp_path / "q.json", HOTPOT, lines=lines))
    assert (question.kind, question.closed, question.hops) == ("bridge", True, ())
    assert question.accepted == ("Violet Harbour",)
    assert question.supporting == (0, 2)
    assert question.passages[0].supporting == (1,)
    assert question.passages[2].supporting == (0,)  # a sentence 9 does not exist
    assert question.passages[0].text == "Ada Quill\nAda Quill was an engineer. She designed a port."


def test_musique_is_read_as_it_is_published(tmp_path):
    unanswerable = {**MUSIQUE, "id": "no", "answerable": False}
    (question,) = read_questions(written(tmp_path / "q.jsonl", MUSIQUE, unanswerable))
    assert (question.kind, question.closed) == ("2hop", False)
    assert question.accepted == ("Port Lamb", "Lamb")
    assert question.supporting == (0, 2)
    assert [hop.passage for hop in question.hops] == [0, 2]


def without(record, key):
    return {name: value for name, value in record.items() if name != key}


BROKEN = [
    ("", "found none"),
    ("{", "is not JSON"),
    ("[1, 2]", "record 1"),
    ("[]", "found none"),
    (json.dumps(without(HOTPOT, "answer")), "no field 'answer'"),
    (json.dumps(without(MUSIQUE, "question")), "no field 'question'"),
    (json.dumps({**HOTPOT, "context": []}), "no passages"),
    (json.dumps({**HOTPOT, "answer": 3}), "expected text, got 3"),
    (json.dumps({**HOTPOT, "context": [["Ada", "a text"], ["x"]]}), "record 1"),
    (json.dumps({**MUSIQUE, "paragraphs": None}), "record 1"),
    (json.dumps(HOTPOT) + "\n" + json.dumps(HOTPOT), "'h1' comes twice"),
    (json.dumps(HOTPOT) + "\nnull", "record 2"),
]


@pytest.mark.parametrize(("text", "why"), BROKEN)
def test_a_broken_file_is_named_with_the_place(tmp_path, text, why):
    path = tmp_path / "broken.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CorruptGameError, match=why) as raised:
        read_questions(path)
    assert "broken.json" in str(raised.value)


def test_unreadable_file_is_named(tmp_path, monkeypatch):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "absent.json", tmp_path, tmp_path / "bytes"):
        with pytest.raises(CorruptGameError, match="cannot read the questions"):
            load_dataset(path=str(path))
    monkeypatch.setenv(QA_DATA, str(tmp_path))
    with pytest.raises(MissingDependencyError, match=r"hotpotqa\.github\.io"):
        load_dataset("hotpotqa")
    with pytest.raises(UnknownNameError, match="'musique'"):
        load_dataset("musiqe")
    for name in ("isles", "musique"):
        with pytest.raises(UnknownNameError, match="split"):
            load_dataset(name, "test")
    with pytest.raises(InvalidArgumentError, match="got int"):
        load_dataset(path=3)  # type: ignore[arg-type]


def test_official_files_are_found_and_read_after_each_change(tmp_path, monkeypatch):
    monkeypatch.setenv(QA_DATA, str(tmp_path))
    file = tmp_path / "musique_ans_v1.0_dev.jsonl"
    written(file, MUSIQUE)
    first = load_dataset("musique")
    assert list(first.questions) == ["musique/dev/2hop__1"]
    written(file, MUSIQUE, {**MUSIQUE, "id": "2hop__2"})
    again = load_dataset("musique")
    assert len(again.questions) == 2
    assert again.fingerprint != first.fingerprint


def test_order_of_questions_does_not_depend_on_the_file(tmp_path):
    records = [{**MUSIQUE, "id": f"2hop__{i}"} for i in range(20)]
    one = load_dataset(path=written(tmp_path / "set.jsonl", *records))
    (tmp_path / "other").mkdir()
    two = load_dataset(path=written(tmp_path / "other" / "set.jsonl", *records[::-1]))
    assert list(one.questions) == list(two.questions)
    assert list(one.questions) != [f"set/file/2hop__{i}" for i in range(20)]


# ---------------------------------------------------------------- our own corpus


def test_shipped_corpus_is_complete():
    questions = load_dataset().questions.values()
    kinds = [question.kind for question in questions]
    assert len(kinds) >= 30
    assert set(kinds) == {"2hop", "3hop", "4hop", "bridge", "comparison"}
    for question in questions:
        titles = [passage.title for passage in question.passages]
        assert len(set(titles)) == len(titles) >= 10
        assert 2 <= len(question.supporting) <= 4
        for hop in question.hops:
            assert hop.passage in question.supporting
            said = f"{question.passages[hop.passage].text}".lower()
            assert hop.answer.lower() in said, (question.id, hop)
        if question.hops:
            assert len(question.hops) == int(question.kind[0])
            assert {hop.passage for hop in question.hops} == set(question.supporting)
            right = question.hops[-1].answer
            assert exact_match(right, question.accepted), question.id
        elif question.accepted[0] not in CLOSED_ANSWERS:
            passages = " ".join(question.passages[i].text for i in question.supporting)
            assert normalize_answer(question.accepted[0]) in normalize_answer(passages)


def test_passages_of_the_corpus_agree():
    said: dict[str, set[str]] = {}
    for question in load_dataset().questions.values():
        for passage in question.passages:
            said.setdefault(passage.title, set()).add(passage.text)
    assert len(said) >= 50
    assert all(len(texts) == 1 for texts in said.values())


# ---------------------------------------------------------------- metrics

SCORES = [  # answer, gold, EM, F1 by HotpotQA, F1 by MuSiQue
    ("The Blue Mill", "blue mill", 1, 1, 1),
    ("a U.S. port.", "US Port", 1, 1, 1),
    ("Blue", "Blue Mill", 0, 2 / 3, 2 / 3),
    ("Mill of the blue blue house", "Blue Mill", 0, 4 / 7, 4 / 7),
    ("green", "Blue Mill", 0, 0, 0),
    ("no", "no", 1, 1, 1),
    ("no it was not", "no", 0, 0, 0.4),
    ("yes", "yes they were", 0, 0, 0.5),
    ("the", "an", 1, 1, 1),  # nothing is left of either
    ("the", "port", 0, 0, 0),
    ("", "port", 0, 0, 0),
]


@pytest.mark.parametrize(("given", "gold", "em", "hotpot", "musique"), SCORES)
def test_scores_are_the_official_ones(given, gold, em, hotpot, musique):
    assert exact_match(given, [gold]) == em
    assert f1(given, [gold], closed=CLOSED_ANSWERS) == pytest.approx(hotpot)
    assert f1(given, [gold]) == pytest.approx(musique)


def test_the_best_alias_counts():
    assert f1("Lamb", ["Port Lamb", "Lamb"]) == 1.0
    assert exact_match("lamb", ["Port Lamb", "Lamb"]) == 1.0
    assert f1("x", []) == 0.0


WORDS = st.text(alphabet=string.ascii_letters + " .,'-éü0 ", max_size=30)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(WORDS, WORDS)
def test_scores_are_symmetric_bounded_and_ignore_formatting(given, gold):
    for closed in ((), CLOSED_ANSWERS):
        value = f1(given, [gold], closed=closed)
        assert 0.0 <= value <= 1.0
        assert value == pytest.approx(f1(gold, [given], closed=closed))
        assert value == pytest.approx(f1(f"The {given.upper()}!", [gold], closed=closed))
        assert value >= exact_match(given, [gold])
    assert normalize_answer(normalize_answer(given)) == normalize_answer(given)


def test_search_ranks_by_shared_rare_words():
    pytest.importorskip("bm25s")
    search = PassageSearch(["a red door and a door", "a blue key", "the red key to a door"])
    assert search.ranked("the red key")[0] == 2
    assert search.ranked("zebra") == [0, 1, 2]
    assert sorted(search.ranked("door")) == [0, 1, 2]
