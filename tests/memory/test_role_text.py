"""Reading and writing the texts of roles: prompts, traces, facts, lists, numbers."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from work import guarded

from gym_memory.core.errors import InvalidArgumentError, ModelError
from gym_memory.core.records import Outcome, Step, Triple
from gym_memory.llm.prompts import Prompt, load_prompt, prompt_names, read_slots
from gym_memory.memory.base import count_tokens
from gym_memory.memory.roles.base import CausalAbstraction
from gym_memory.memory.roles.llm_lessons import read_abstractions
from gym_memory.memory.roles.text import (
    clip,
    clip_start,
    fact_lines,
    numbered,
    read_flag,
    read_items,
    read_number,
    read_replacements,
    read_triple_lists,
    read_triples,
    score_in_words,
    trace_text,
    triples_json,
)
from gym_memory.testing.chat.memories import read_trace

quick = settings(max_examples=80, derandomize=True, deadline=None)
words = st.text(alphabet="abz09'-", min_size=1, max_size=6).map(lambda word: f"x{word}")
names = st.lists(words, min_size=1, max_size=3).map(" ".join)
said = st.text(alphabet="ab,;:!? '-", max_size=40).map(lambda text: " ".join(f"a {text} z".split()))
triples = st.builds(Triple, names, names, names | said)
anything = st.text(max_size=300) | st.text(alphabet='[](){}"“”,;->|. \n12a', max_size=300)

# --- facts --------------------------------------------------------------------------------------


@pytest.mark.slow
@quick
@given(st.lists(triples, min_size=1, max_size=6, unique=True))
@example([Triple("note", "says", "go east, then north; dig")])
def test_facts_survive_being_written_and_read(facts):
    assert read_triples(fact_lines(facts)) == facts
    assert read_triples("; ".join(fact_lines([fact]) for fact in facts)) == facts
    assert read_triple_lists(f"Here:\n```json\n{triples_json(facts)}\n```") == facts


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("apple, is in, fridge; fridge, is, open", 2),
        ("1. apple, is in, fridge\n2. fridge, is, open", 2),
        ("- (apple, is in, fridge)\n- [fridge, is, open].", 2),
        ('"apple", "is in", "fridge"; "fridge", "is", "open"', 2),
        ("Facts:\napple, is in, fridge;\n\nfridge, is, open;", 2),
        ("apple | is in | fridge\nfridge | is | open", 2),
        ("apple, is in, fridge; apple, is in, fridge", 1),
        ("apple, is in, none; fridge, is, open; x, y", 1),
        ("none", 0),
        ("No facts here.", 0),
        (" None.", 0),
    ],
)
def test_facts_are_read_in_any_form_of_model(text, facts):
    found = read_triples(text)
    assert len(found) == facts
    assert set(found) <= {Triple("apple", "is in", "fridge"), Triple("fridge", "is", "open")}


@pytest.mark.parametrize("text", ["", "   ", "I cannot.", "apple is in fridge", ",,,;,,,"])
def test_an_answer_without_facts_is_malformed(text):
    with pytest.raises(ModelError):
        read_triples(text)


def test_replacements():
    old, new = Triple("broom", "is on", "floor"), Triple("broom", "is in", "inventory")
    both = f"[[{old} -> {new}], [kitchen, contains, broom -> {new}]]"
    assert read_replacements(both) == [(old, new), (Triple("kitchen", "contains", "broom"), new)]
    assert read_replacements(f'"{old}" -> "{new}"') == [(old, new)]
    assert read_replacements("[]") == read_replacements("Nothing to replace.") == []
    with pytest.raises(ModelError):
        read_replacements("Well.")


READERS = [
    read_triples,
    read_replacements,
    read_triple_lists,
    read_items,
    read_flag,
    read_abstractions,
    lambda text: read_number(text, 1, 10),
    CausalAbstraction.parse,
]


@quick
@given(anything)
def test_readers_take_any_text(text):
    for read in READERS:
        with suppress(ModelError):
            read(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["a, b, ", '"', "“", "[", "]", "1. ", "- a\n", "->", " ", "x may be necessary ", "\n"]
)
def test_readers_take_long_text_in_linear_time(text):
    text = text * (200_000 // len(text))

    def read_all():
        for read in READERS:
            with suppress(ModelError):
                read(text)

    guarded(read_all)


# --- the rest -----------------------------------------------------------------------------------


@quick
@given(names, names, st.booleans(), st.booleans())
def test_causal_abstractions_survive_being_written_and_read(cause, effect, necessary, certain):
    item = CausalAbstraction(cause, effect, necessary, certain)
    assert CausalAbstraction.parse(str(item)) == item


@pytest.mark.parametrize(
    ("sentence", "necessary", "certain"),
    [
        ("Picking the jar SHOULD BE NECESSARY to access the seeds.", True, True),
        ("looking around may be neccessary to learn more", True, False),
        ("Waiting MAY CONTRIBUTE to observing the effect.", True, False),  # Figure 11
        ("Waiting MAY BE CONTRIBUTE to observing the effect.", True, False),  # Figure 7
        ("Going up MAY NOT CONTRIBUTE TO progress", False, False),
        ("Going up DOES NOT CONTRIBUTE to progress", False, True),
        ("Going up and down do not contribute to progress.", False, True),
    ],
)
def test_the_forms_of_the_paper(sentence, necessary, certain):
    item = CausalAbstraction.parse(sentence)
    assert (item.necessary, item.certain) == (necessary, certain)


def test_other_sentences_are_left_out():
    assert CausalAbstraction.parse("Always open the fridge first.") is None
    listed = "1. Be bold.\n2. Going up DOES NOT CONTRIBUTE to progress.\n3. " + "x" * 3000
    assert read_abstractions(listed) == [CausalAbstraction("Going up", "progress", False, True)]


def test_flags_numbers_items():
    assert read_flag("**True**")
    assert not read_flag("False, for the key is known.")
    assert read_number("I rate it 7/10.", 1, 10) == 7
    with pytest.raises(ModelError):
        read_number("11", 1, 10)
    assert read_items("Here:\n1. one\n2) two\n\n- three\n* four") == ["one", "two", "three", "four"]
    assert read_items(numbered(["a\nb", "c"])) == ["a b", "c"]


@pytest.mark.parametrize("tokens", [0, 1, 10])
def test_clips_keep_the_right_end(tokens):
    text = "".join(chr(97 + n % 26) for n in range(100))
    assert clip(text, tokens) == text[: 4 * tokens] + " [...]"
    assert clip_start(text, tokens) == "[...] " + text[100 - 4 * tokens :]
    assert clip(text, 25) == clip_start(text, 25) == text


observations = st.text(alphabet="ab .\n:", max_size=60).map(str.strip)
actions = st.text(alphabet="ab c", min_size=1, max_size=12).map(str.strip).filter(bool)


@quick
@given(st.lists(st.tuples(actions, observations, st.sampled_from([0.0, 1.0, -2.5])), max_size=8))
def test_a_trace_survives_being_written_and_read(rows):
    trace = [Step(n, text, action, reward) for n, (action, text, reward) in enumerate(rows)]
    assert read_trace(trace_text(trace, 10_000)) == trace


@quick
@given(st.lists(observations, min_size=1, max_size=30), st.integers(5, 60))
def test_a_trace_keeps_its_latest_steps_within_its_tokens(texts, tokens):
    trace = [Step(n, text, "go") for n, text in enumerate(texts)]
    shown = trace_text(trace, tokens)
    assert count_tokens(shown) <= tokens + 10, "the marks of what is left out come on top"
    assert f"Step {len(texts) - 1}\n" in shown


def test_trace_keeps_thoughts_and_if_set_earliest_steps() -> None:
    trace = [Step(n, f"sight {n}", "go", thought=f"goal  {n}") for n in range(9)]
    shown = trace_text(trace, 30, first=True)
    assert shown.startswith("Step 0\nThought: goal 0\nAction: go\nObservation: sight 0\nStep 1")
    assert shown.endswith("[later steps are left out]")
    read = read_trace(trace_text(trace, 1000))
    assert [(step.text, step.action) for step in read] == [(s.text, s.action) for s in trace]


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(lost=True, normalized_score=1.0), "critical mistake"),
        (Outcome(score=-1.0), "cost points"),
        (Outcome(), "next to no progress"),
        (Outcome(score=1, normalized_score=0.2), "some progress"),
        (Outcome(score=1, normalized_score=0.5), "good part"),
        (Outcome(score=1, normalized_score=0.9), "nearly"),
        (Outcome(score=1, normalized_score=1.0, success=True), "completed the task"),
    ],
)
def test_scores_in_words(outcome, words):
    assert words in score_in_words(outcome)


# --- prompts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", prompt_names())
def test_every_prompt_can_be_filled_and_read(name):
    prompt = load_prompt(name)
    values = {slot: f"{slot} of a game with $money {{braces}}" for slot in prompt.slots}
    system, user = prompt.messages(**values)
    assert (system["role"], user["role"]) == ("system", "user")
    assert read_slots(user["content"]) == values
    assert (
        system["content"] == load_prompt(name).messages(**dict.fromkeys(values, ""))[0]["content"]
    )
    with pytest.raises(KeyError):
        prompt.messages()


@quick
@given(st.text(alphabet="<>/slot\n \x00\ud800é", max_size=80), st.text(max_size=40))
def test_a_value_cannot_leave_its_slot(one, two):
    prompt = Prompt("test", "s\n---\n<slot>\n$slot\n</slot>\n<lot>\n$lot\n</lot>\nend")
    content = prompt.messages(slot=one, lot=two)[1]["content"]
    content.encode()
    slots = read_slots(content)
    assert slots.keys() == {"slot", "lot"}
    assert content.endswith("</lot>\nend")
    plain = two.isprintable() and two == two.strip() and "<" not in two
    assert not plain or slots["lot"] == two


def test_a_wrong_prompt_is_refused():
    with pytest.raises(InvalidArgumentError, match="extract"):
        load_prompt("../extract")
    with pytest.raises(InvalidArgumentError, match="---"):
        Prompt("x", "no user message")
