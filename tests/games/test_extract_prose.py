"""Rules for encyclopedic prose: names, dates, facts, and odd text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.records import Step, Task
from gym_memory.extract import get_extractor
from gym_memory.games.qa.rules import names_in
from gym_memory.graph import TemporalGraph

TASK = Task("t", "q", "prose")


def mentions_of(text):
    return get_extractor("prose").extract(Step(0, text), TemporalGraph(), TASK).mentions


def facts_of(text):
    return {tuple(mention.triple) for mention in mentions_of(text)}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("She met Otto Venn and Ada Quill in Tarm.", ["Otto Venn", "Ada Quill", "Tarm"]),
        ("In 1913 the Duke of Oun left.", ["1913", "Duke of Oun"]),
        ("In 1913 Ann Lee and 12 others left.", ["1913", "Ann Lee"]),
        ("It opened on 3 May 1790, not in June 1791.", ["3 May 1790", "June 1791"]),
        ("April 1, 1954 was a day of the 1950s.", ["April 1, 1954", "1950s"]),
        (
            'He wrote "The lamp trimmer" for J. R. Holt, Jr.',
            ["The lamp trimmer", "J. R. Holt", "Jr."],
        ),
        ("an English football club in Oun", ["Oun"]),
        ("They spoke English.", ["English"]),
        ("Nothing is here. However, it rained.", ["Nothing"]),
        ("", []),
    ],
)
def test_names(text, names):
    found = names_in(text)
    assert [name.text for name in found] == names


def test_title_is_the_subject_of_a_passage():
    facts = facts_of(
        "Violet Harbour (port)\nThe Violet Harbour is a deep port in Oun, Tarm. "
        "It was designed by Ada Quill and opened in 1790."
    )
    assert facts == {
        ("violet harbour", "is", "deep port"),
        ("violet harbour", "is a deep port in", "oun"),
        ("oun", "located in", "tarm"),
        ("violet harbour", "is a deep port in", "tarm"),
        ("violet harbour", "was designed by", "ada quill"),
        ("violet harbour", "opened in", "1790"),
    }


def test_lives_and_short_forms():
    facts = facts_of(
        "Ada Quill\nAda Maria Quill (3 May 1651 – 19 November 1717) was an engineer. "
        "Quill lived in Tarm. Otto Venn was her pupil."
    )
    assert ("ada quill", "born", "3 may 1651") in facts
    assert ("ada quill", "died", "19 november 1717") in facts
    assert ("ada quill", "is", "engineer") in facts
    assert ("ada quill", "lived in", "tarm") in facts
    assert ("ada quill", "mentions", "otto venn") in facts
    assert not any(name in ("quill", "ada maria quill") for fact in facts for name in fact)


def test_names_of_a_list_share_the_relation():
    facts = facts_of("Rovers\nThe Rovers played for Oun, Tarm, the Whale Museum and Hallow.")
    assert facts == {
        ("rovers", "played for", place) for place in ("oun", "tarm", "whale museum", "hallow")
    }


def test_is_belongs_to_the_subject_only():
    facts = facts_of("Maud Crake\nHer best known work is an opera of 1907. She was a composer.")
    assert [fact for fact in facts if fact[1] == "is"] == [("maud crake", "is", "composer")]


@pytest.mark.parametrize(
    "text", ["", "\n", "Only a title", "Who was she?", "()\nIt is. ", "A title\nIs Oun in Tarm?"]
)
def test_text_without_facts_gives_none(text):
    assert mentions_of(text) == ()


PIECES = st.sampled_from(
    ["Ada Quill", "Oun", "(", ")", " – ", "1790", "3 May 1651", '"', "“", "”", " is a ", "the ",
     ", ", ". ", "?", "\n", "It ", "\u00e9t\u00e9 ", "U.S. ", "'s", " of ", " and ",
     "Dr. ", "\u4e16 "]
)  # fmt: skip


@pytest.mark.slow
@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_every_fact_can_be_held_and_shows_its_evidence(text):
    graph = TemporalGraph()
    for triple, start, end in mentions_of(text):
        assert 0 <= start < end <= len(text)
        assert text[start:end].strip()
        assert triple.object != triple.subject
        graph.add(triple, 0)
    assert mentions_of(text) == mentions_of(text)


def test_a_long_page_takes_little_time():
    page = "Oun\n" + "Ada Quill of Oun met Otto Venn in 1790. " * 5000
    assert mentions_of(page)
    assert mentions_of("Oun\n" + "A" * 100_000) == ()
    assert mentions_of("Oun\n" + "A b, " * 20_000) is not None
