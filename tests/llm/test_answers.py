"""The action of an answer is read in any usual form; a wrong one never is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_memory.baselines.llm.answers import UnreadableAnswerError, read_action
from gym_memory.llm.thinking import message_parts, split_thinking

FOLDER = Path(__file__).parent / "answers"
SITUATIONS = json.loads((FOLDER / "situations.json").read_text("utf-8"))


def action_in(text: str, valid: list[str], **options: Any) -> str:
    try:
        return read_action(text, valid, **options).action
    except UnreadableAnswerError:
        return ""


@pytest.mark.parametrize("part", ["developed", "held"])
def test_action_in_usual_form_is_read(part: str) -> None:
    """The reader was developed on one half of the answers; the other half is held out."""
    rows = [json.loads(line) for line in (FOLDER / f"{part}.jsonl").read_text("utf-8").splitlines()]
    found = [action_in(row["answer"], SITUATIONS[row["situation"]]) for row in rows]
    assert len(rows) >= 150
    wrong = [(row, action) for row, action in zip(rows, found, strict=True)
             if action not in ("", row["action"])]  # fmt: skip
    assert wrong == []
    right = sum(row["action"] == action for row, action in zip(rows, found, strict=True))
    assert right / len(rows) >= 0.98


ODD = [json.loads(line) for line in (FOLDER / "odd.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("decides", [True, False])
def test_odd_answer_gives_its_action_or_none(decides: bool) -> None:
    """Half of these decide on no action, or against the one that they name."""
    rows = [row for row in ODD if bool(row["action"]) == decides]
    assert len(rows) > 100
    read = {row["answer"]: action_in(row["answer"], SITUATIONS["chest"]) for row in rows}
    assert read == {row["answer"]: row["action"] for row in rows}


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("Sorry, that was wrong.\ntake lamp", "take lamp"),
        ("Here is my action:\ntake lamp\n\nThis gives light.", "take lamp"),
        ("Thought: It is dark\ntake lamp", "take lamp"),
        ("Observation: dark\nAction: take lamp", "take lamp"),
        ("```\ntake lamp\n```", "take lamp"),
        ('Action: say "hello"', 'say "hello"'),
        ('{"verb": "take", "object": "lamp"}', "take lamp"),
        ('{"command": "take", "args": ["lamp"]}', "take lamp"),
        ("<action><verb>take</verb><object>lamp</object></action>", "take lamp"),
        ("Answer: take lamp\nExplanation: dark", "take lamp"),
    ],
)
def test_action_is_read_without_a_list(answer: str, action: str) -> None:
    assert action_in(answer, []) == action


def test_last_line_of_cut_answer_is_not_an_action() -> None:
    valid = ["take key", "take key from box"]
    assert action_in("Thought: there.\nAction: take key", valid) == "take key"
    assert action_in("Thought: there.\nAction: take key", valid, cut=True) == ""
    assert action_in("Action: take key\nReason: it is th", valid, cut=True) == "take key"


CALLS = ["open door", "take lamp", "put lamp on table", "go north", "look"]
CALLS += ["take red apple from table", "take green apple from table"]


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ('{"name": "open door", "arguments": {}}', "open door"),
        ('{"name": "open_door", "arguments": {"reason": "It is closed."}}', "open door"),
        ('<tool_call>{"name": "take", "arguments": {"a": "the lamp"}}</tool_call>', "take lamp"),
        ('{"function": {"name": "go", "arguments": "{\\"to\\": \\"north\\"}"}}', "go north"),
        ('{"action": "put", "action_input": {"a": "lamp", "how": "on", "b": "table"}}',
         "put lamp on table"),
        ('{"tool": "act", "args": ["take lamp"]}', "take lamp"),
        ("<function=take>\n<parameter=thing>\nlamp\n</parameter>\n</function>", "take lamp"),
        ("<function=look></function>", "look"),
        ("Thought: It is dark.\nAction: take\nAction Input: lamp", "take lamp"),
        ('**Action:** take\n**Action Input:** "lamp"\nObservation: Taken.', "take lamp"),
        ('Action 1: go\nAction Input 1: {"direction": "north"}', "go north"),
        ("Action: act\nAction Input: take lamp", "take lamp"),
        ("Action: look\nAction Input: None", "look"),
        ("Action: take lamp\nAction Input: lamp", "take lamp"),
        ('<action name="take"><object>lamp</object></action>', "take lamp"),
        ("<action>\n<verb>take</verb>\n<noun>lamp</noun>\n</action>", "take lamp"),
        ('<command verb="put" thing="lamp" where="on" to="table"/>', "put lamp on table"),
        ('<action instead="look" name="go north"/>', "go north"),
        ('<invoke name="take"><parameter name="object">lamp</parameter></invoke>', "take lamp"),
        ("[ACTION]take lamp[/ACTION]", "take lamp"),
        ("<action>" * 900, ""),
        ("<action>" * 900 + "take lamp</action>", "take lamp"),
        ("```yaml\nverb: take\nobject: lamp\n```", "take lamp"),
        ("action:\n  verb: take\n  object: lamp\nreason: It is dark.", "take lamp"),
        ("Action: go north\nAction: look", ""),
        ("Action: look?\nReason: none", ""),
        ('{"action": {"type": "take", "target": "lamp"}}', "take lamp"),
        ("{action: 'take lamp', reason: 'dark'}", "take lamp"),
        ('{"candidates": [{"action": "look"}, {"action": "go north"}], "action": "look"}', "look"),
        ('take("lamp")', "take lamp"),
        ("put(thing='lamp', on='table')", "put lamp on table"),
        ("Action: take [lamp]", "take lamp"),
        ('Action: take "lamp"', "take lamp"),
        ("> go north\n\nThat did not work, so:\n\nlook", ""),
        ('My last answer was "look". Now I choose:\ngo north', "go north"),
        ("<|channel|>commentary to=functions.take <|constrain|>json<|message|>{\"a\": \"lamp\"}",
         "take lamp"),
        ("Action: take the red apple", "take red apple from table"),
        ("Action: take apple", ""),
        ("Action: take\nAction Input: knife", ""),
        ('{"name": "eat", "arguments": {"object": "lamp"}}', ""),
    ],
)  # fmt: skip
def test_tool_call_is_read_by_its_words(answer: str, action: str) -> None:
    assert action_in(answer, CALLS) == action


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        ("West", "go west"),
        ("Action: w", "go west"),
        ("I head to the west.", "go west"),
        ('{"direction": "west"}', "go west"),
        ("- west\n- south", ""),
        ("West of here is the mill.", ""),
        ("We could go west or south.", ""),
        ("West - a mill\nSouth - the lake", ""),
        ("put pan 1 in sink 2", "put pan 1 in/on sink 2"),
        ("I will put the pan 1 on the sink 2.", "put pan 1 in/on sink 2"),
        ("put pan 1 under sink 2", ""),
        ("put(pan 1, sink 2)", "put pan 1 in/on sink 2"),
        ("cut(rope, knife)", "cut rope with knife"),
        ('{"verb": "cut", "noun": "rope", "tool": "knife", "thought": "it is thick"}',
         "cut rope with knife"),
        ('{"command": ["cut", "rope", "with", "knife"]}', "cut rope with knife"),
        ("To get down, I will cut the rope with the knife.", "cut rope with knife"),
        ("To cut the rope with the knife, I need both hands.", ""),
        ("Since the rope holds, I do not cut rope with knife.", ""),
        ("The best course of action is to cut the rope with the knife.", "cut rope with knife"),
        ("<tool_call>cut\n<arg_key>what</arg_key>\n<arg_value>rope</arg_value>\n<arg_key>tool"
         "</arg_key>\n<arg_value>knife</arg_value>\n</tool_call>", "cut rope with knife"),
    ],
)  # fmt: skip
def test_action_in_other_words_is_read_if_one_fits(answer: str, action: str) -> None:
    valid = ("go west", "go south", "put pan 1 in/on sink 2", "cut rope with knife")
    assert action_in(answer, valid) == action


@given(st.text("Action: take key\n<>[]{}\"'*`.,-1()", max_size=80))
def test_read_action_is_always_valid(text: str) -> None:
    assert action_in(text, ["take key", "go east"]) in ("", "take key", "go east")


@pytest.mark.parametrize(
    ("text", "thought", "answer"),
    [
        ("<think>a</think>b", "a", "b"),
        ("a</think>\n\nb", "a", "b"),
        ("<think>a", "a", ""),
        ("<|im_start|>assistant\nb<|im_end|>", "", "b"),
        ("Here is my thought process: a Here is my response: b", "a", "b"),
        ("analysisa assistantfinalb", "a", "b"),
        ("assistantfinalb", "", "b"),
        ("analysis of b", "", "analysis of b"),
        ("[THINK]a[/THINK]b", "a", "b"),
        ("◁think▷a◁/think▷b", "a", "b"),
        ("<|begin_of_thought|>a<|end_of_thought|>b", "a", "b"),
        ("<|START_THINKING|>a<|END_THINKING|>b", "a", "b"),
        ("<seed:think>a</seed:think>b", "a", "b"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b",
         "a", "b"),
        ("<|channel|>analysis<|message|>a", "a", ""),
        ("<think>\n\n</think>\n\nb", "", "b"),
        ("I [think] so: b < c", "", "I [think] so: b < c"),
    ],
)  # fmt: skip
def test_thought_is_split_from_answer(text: str, thought: str, answer: str) -> None:
    assert split_thinking(text) == (thought, answer)


@pytest.mark.parametrize(
    "message",
    [
        {"content": "b", "reasoning_content": "a"},
        {"content": "b", "reasoning": "a", "reasoning_details": [{"text": "a"}]},
        {"content": [{"type": "thinking", "thinking": "a"}, {"type": "text", "text": "b"}]},
        {"content": [{"type": "reasoning", "summary": [{"text": "a"}]}, {"type": "output_text",
         "text": "b"}]},
        {"content": [{"text": "a", "thought": True}, {"text": "b"}]},
        {"content": "<think>a</think>b", "reasoning_content": None},
    ],
)  # fmt: skip
def test_thought_is_found_wherever_a_server_puts_it(message: dict[str, Any]) -> None:
    assert message_parts(message) == ("a", "b")
