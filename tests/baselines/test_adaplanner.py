"""AdaPlanner: the language of plans, refinement in and out of plan, and skills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import pytest

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.llm.adaplanner import AdaPlanner, PlanError, parse_plan, run_plan
from gym_memory.core.errors import ModelError
from gym_memory.core.names import Spec
from gym_memory.core.records import Observation, Transition
from gym_memory.llm import Reply
from gym_memory.run import rollout
from gym_memory.testing.chat import ScriptedServer
from gym_memory.testing.fake_env import FAKE_ID


def shown(text: str, *actions: str) -> Observation:
    return Observation(
        text=text, task="Find the key.", inventory="", memory="", triples=(), episodes=(),
        lessons=(), valid_actions=actions,
    )  # fmt: skip


class Says:
    """A model that gives its answers in turn, repeats the last, and keeps the prompts."""

    def __init__(self, *texts: str):
        self.texts = list(texts)
        self.prompts: list[tuple[str, str]] = []

    def complete(self, request: Any) -> Reply:
        self.prompts.append((request.role, request.messages[-1]["content"]))
        return Reply(self.texts.pop(0) if len(self.texts) > 1 else self.texts[0])


def actions_of(code: str, **names: Any) -> list[str]:
    def ask(question: str, options: Sequence[str]) -> str:
        return next(option for option in options if option in question)

    return [*run_plan(parse_plan(code), lambda: names, ask)]


def test_worked_example_of_a_plan() -> None:
    code = """\
# find the key
for place in ["hall", "cellar"]:
    act(f"go to {place}")
    if "key" in observation and not "lamp" in observation:
        pass
    else:
        thing = ask("is it the lamp?", ["key", "lamp"])
        act(f"take {thing}")
if "rope" in observation or "lamp" in observation:
    act("wait")
assert inventory == "", "there is something"
"""
    went = ["go to hall", "take lamp", "go to cellar", "take lamp", "wait"]
    assert actions_of(code, observation="a key and a lamp", inventory="") == went
    with pytest.raises(PlanError, match="line 11: there is something"):
        actions_of(code, observation="a key", inventory="key")


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import os", "line 1: not possible in a plan: import os"),
        ("act('look')\nopen('/etc/passwd')", "line 2: not possible"),
        ("x = ().__class__", "not possible in a plan"),
        ("act(secret)", "'secret' is not known; known are observation"),
        ("act(5)", "not possible in a plan: 5"),
        ("for x in 'text':\n    act(x)", "line 1: expected a list"),
        ("x = 'ab' * 9", "not possible"),
        ("x = 'a'\nfor y in ['b'] :\n    while True:\n        pass", "line 3: not possible"),
        ("assert observation == 'b'", "line 1: observation == 'b'"),
        ("x = ask('which?', [])", "expected a list of options"),
    ],
)
def test_unsupported_code_in_a_plan_is_refused(code: str, problem: str) -> None:
    with pytest.raises(PlanError) as failed:
        actions_of(code, observation="a")
    assert problem in str(failed.value)


def test_length_of_a_plan_is_bounded() -> None:
    letters = "for a in actions:\n for b in actions:\n  for c in actions:\n   x = f'{a}{b}{c}'"
    with pytest.raises(PlanError, match="too many steps"):
        actions_of(letters, actions=["a"] * 30)
    asks = "for a in actions:\n x = ask('a', actions)"
    with pytest.raises(PlanError, match="too many steps"):
        actions_of(asks, actions=["a"] * 30)
    doubled = "x = 'ab'\n" + "x = f'{x}{x}'\n" * 40 + "act(x)"
    (grown,) = actions_of(doubled)
    assert len(grown) <= 2000
    for code in ("act('look'", "(" * 3000, "x = " + "not " * 900 + "y"):
        with pytest.raises((ModelError, PlanError, RecursionError)):
            actions_of(code)


def test_failed_assertion_is_shown_and_the_next_plan_resumes() -> None:
    first = "act('open box')\nassert 'key' in observation, 'the box is empty'\nact('take key')"
    model = Says(first, "```python\n# look elsewhere\nact('go east')\n```")
    policy = AdaPlanner(llm=model)
    policy.reset({"task_id": "game"}, 0)
    hall = shown("A box.", "open box", "go east")
    assert policy.act(hall, {}) == "open box"
    empty = shown("The box is empty.", "open box", "go east")
    policy.update(Transition(hall, "open box", 0.0, empty, False, False, {"moves": 1}))
    assert policy.act(empty, {}) == "go east"
    role, prompt = model.prompts[-1]
    assert (role, len(model.prompts), policy.counters()["refined"]) == ("adaplanner", 2, 1)
    assert "line 2: the box is empty" in prompt
    assert first in prompt
    assert policy.focus.aim == "look elsewhere"


def test_impossible_actions_and_useless_answers_end_in_a_rule() -> None:
    hall = shown("A hall.", "wave")
    flying = AdaPlanner(llm=Says("act('fly')"), rounds=2)
    flying.reset({}, 0)
    assert flying.act(hall, {}) == "wave"
    assert flying.counters()["invalid_actions"] == 1
    assert len(flying.llm.prompts) == 2
    talking = AdaPlanner(llm=Says("I would sing."))
    talking.reset({}, 0)
    assert talking.act(hall, {}) == "wave"
    assert talking.counters()["fallbacks"] == 2  # its plan, and its answer to the rule's question
    assert talking.substitute is not None
    assert talking.substitute.reason.startswith("a rule wrote the plan")
    strict = AdaPlanner(llm=Says("I would sing."), strict=True)
    strict.reset({}, 0)
    with pytest.raises(ModelError, match="strict=true, and a rule"):
        strict.act(hall, {})


def test_rule_that_answers_a_models_plan_is_marked() -> None:
    policy = AdaPlanner(llm=Says("x = ask('Which?', actions)\nact(x)", "act('wave')"))
    policy.reset({}, 0)
    assert policy.act(shown("A hall.", "wave"), {}) == "wave"
    assert policy.substitute is None, "the model named an option"
    silent = AdaPlanner(llm=Says("x = ask('Which?', actions)\nact(x)", "I sing."))
    silent.reset({}, 0)
    assert silent.act(shown("A hall.", "wave"), {}) == "wave"
    assert silent.substitute is not None
    assert "answered the plan's question" in silent.substitute.reason


def test_winning_plan_becomes_a_skill_of_next_episode() -> None:
    model = Says("act('wave')")
    policy = AdaPlanner(llm=model, skills=1)
    hall = shown("A hall.", "wave")
    for won in (False, True, True):
        policy.reset({}, 0)
        policy.act(hall, {})
        info = {"moves": 1, "success": won}
        policy.update(Transition(hall, "wave", 1.0, hall, True, False, info))
    skills = [prompt.split("<skills>")[1].split("</skills>")[0] for _, prompt in model.prompts]
    assert [skill.strip() for skill in skills] == ["", "", "# Find the key.\nact('wave')"]


@pytest.mark.parametrize("by_model", [False, True])
def test_adaplanner_plays_an_episode(by_model: bool, server: ScriptedServer) -> None:
    llm = f"openai?model=scripted&base_url={server.base_url}" if by_model else ""

    def play() -> Any:
        env = gym.make(FAKE_ID, memory="arigraph")
        policy = make_policy(Spec.of("adaplanner", {"llm": llm}))
        return rollout(env, policy, 0, policy_seed=0, limit=30)

    first, again = play(), play()
    assert first.failed == ""
    assert (first.steps, first.score) == (again.steps, again.score)
    assert first.counters["fallbacks"] == 0
    assert bool(first.counters.get("llm_calls")) == by_model
