"""Policies that ask a language model, against the scripted server over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.llm.ariadne import Ariadne
from gym_memory.baselines.llm.clin import Clin
from gym_memory.baselines.llm.language import LanguagePolicy
from gym_memory.baselines.llm.ldm2 import Ldm2
from gym_memory.baselines.llm.react import Plain, PlainSettings, React, Reflexion
from gym_memory.baselines.llm.stma import Stma
from gym_memory.core.errors import (
    BudgetExceededError,
    InvalidArgumentError,
    ModelSetupError,
)
from gym_memory.core.names import Spec
from gym_memory.core.records import Observation, PlanState, Transition
from gym_memory.llm import Budget, Reply, Request, episode_usage
from gym_memory.llm.base import validate
from gym_memory.llm.client import OpenAIChat
from gym_memory.llm.prompts import load_prompt, read_slots
from gym_memory.run import EpisodeResult, rollout
from gym_memory.run.compare import compare
from gym_memory.run.config import Job, RunConfig
from gym_memory.run.play import play_job
from gym_memory.testing.chat import FAULTS, Faults, ScriptedServer
from gym_memory.testing.fake_env import FAKE_ID
from gym_memory.wrappers import Navigate

pytestmark = pytest.mark.slow

POLICIES = ("ariadne", "react", "reflexion", "plain", "stma", "clin", "ldm2")
PROMPTS = (
    *("ariadne_plan", "ariadne_act", "react", "reflexion", "plain"),
    *("stma_plan", "stma_critic", "clin_goal", "clin_act", "ldm2"),
)
MEMORIES = ("none", "history", "arigraph", "summary", "reflexion")


def chat(server: ScriptedServer, **options: Any) -> OpenAIChat:
    settings = {"retries": 0, "backoff": 0.01, "timeout": 5.0, **options}
    return OpenAIChat("scripted", server.base_url, **settings)


def spec(policy: str, server: ScriptedServer, history: int | None = -1, **model: Any) -> str:
    """Return the policy as a user names it, with its model's parameters quoted."""
    llm = Spec.of("openai", {"model": "scripted", "base_url": server.base_url, **model})
    more: dict[str, Any] = {"encoder": "hash"} if policy == "clin" else {}  # weights are slow
    if history != -1:
        more["history"] = history
    return Spec.of(policy, {"llm": llm, **more})


def fake_house(
    policy: Any, memory: str = "arigraph", seed: int = 0, **kwargs: Any
) -> EpisodeResult:
    return rollout(gym.make(FAKE_ID, memory=memory, **kwargs), policy, seed)


def play(env: str, memory: str, policy: str, seed: int = 0, **options: Any) -> EpisodeResult:
    (row,) = play_job(Job(env, memory, policy, seed), **options)
    return row.result


def shown(text: str = "A hall.", **fields: Any) -> Observation:
    empty: dict[str, Any] = {
        "task": "Find the key.", "inventory": "", "valid_actions": ("look", "go east"),
        "memory": "", "triples": (), "episodes": (), "lessons": (),
    }  # fmt: skip
    return Observation(**{"text": text, **empty, **fields})  # type: ignore[typeddict-item]


def moved(before: Observation, action: str, moves: int, **info: Any) -> Transition:
    return Transition(before, action, 0.0, before, False, False, {"moves": moves, **info})


# ---------------------------------------------------------------- what they achieve


@pytest.mark.parametrize(
    ("env", "seed"), [("TreasureHunt?level=easy", 0), ("Cooking?level=medium", 0)]
)
def test_ariadne_wins_by_the_recall_in_its_prompts(
    env: str, seed: int, server: ScriptedServer
) -> None:
    graph = play(env, "arigraph", spec("ariadne", server), seed)
    blind = play(env, "none", spec("ariadne", server, history=0), seed)
    assert graph.failed == blind.failed == ""
    assert graph.success
    assert not blind.success
    assert graph.normalized > blind.normalized
    for result in (graph, blind):
        assert result.counters["fallbacks"] == result.counters["invalid_actions"] == 0
        assert result.counters["llm_calls"] == 2 * result.steps
        assert result.counters["llm_prompt_tokens"] / result.steps <= 3300


@pytest.mark.parametrize(("policy", "memory"), [("ariadne", "arigraph"), ("stma", "stma")])
def test_prompts_share_most_of_their_prefix(policy: str, memory: str) -> None:
    with ScriptedServer() as fresh:
        result = play("Cooking?level=stma-2", memory, spec(policy, fresh))
    assert result.success
    share = result.counters["llm_cached_tokens"] / result.counters["llm_prompt_tokens"]
    assert share > 0.5


def test_calls_of_a_step_share_their_beginning() -> None:
    slots = {"history": "h", "memory": "m", "plan": "p", "actions": "look", "action": "look"}
    slots |= {"task": "t", "observation": "o", "inventory": "i", "subgoal": "s", "feedback": ""}
    slots |= {"lessons": "l", "knowledge": "k"}
    for one, other in (("ariadne_plan", "ariadne_act"), ("stma_plan", "stma_critic")):
        chats = []
        for name in (one, other):
            prompt = load_prompt(name)
            chats.append(prompt.messages(**{key: slots[key] for key in prompt.slots}))
        assert chats[0][0] == chats[1][0]
        (head, _, end), (same, _, other_end) = (
            chat[1]["content"].partition("</inventory>\n") for chat in chats
        )
        assert head == same
        assert 0 < len(end) != len(other_end) > 0


def test_lessons_come_before_changing_parts() -> None:
    lessons = ("2. Keys open lockers.", "1. Read notes.\nAll of them.")
    text = "Lessons:\n1. Read notes.\nAll of them.\n2. Keys open lockers.\nkey: is in hall"
    model = PreparedModel("Action: look", "look")
    for policy in (React(model), Plain(model)):
        policy.reset({}, 0)
        policy.act(shown(memory=text, lessons=lessons), {})
        assert model.asked[-1]["lessons"] == text.rpartition("\n")[0]
        assert model.asked[-1]["memory"] == "key: is in hall"
    for memory, kept in (("key: is in hall", lessons), (text, ()), ("", ())):
        model = PreparedModel("Action: look")
        React(model).act(shown(memory=memory, lessons=kept), {})
        assert (model.asked[0]["lessons"], model.asked[0]["memory"]) == ("", memory)


class Echo:
    """A chat model as the documentation has it: it parses nothing."""

    def __init__(self, *answers: str):
        self.answers = list(answers)

    def complete(self, request: Request) -> Reply:
        return Reply(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])


@pytest.mark.parametrize("policy", [Ariadne, Stma, Clin, Ldm2])
def test_any_object_with_complete_is_a_model(policy: type[LanguagePolicy]) -> None:
    agent = policy(llm=Echo("go east"), **({"encoder": "hash"} if policy is Clin else {}))
    agent.reset({"task_id": "t"}, 0)
    assert agent.act(shown(), {}) == "go east"


def test_answer_of_another_form_may_name_the_action() -> None:
    with episode_usage() as meter:
        agent = Ariadne(llm=Echo("<think>{}</think>Action: go east"))
        agent.reset({"task_id": "t"}, 0)
        assert agent.act(shown(), {}) == "go east"
    assert agent.counters() == {"fallbacks": 1, "invalid_actions": 0}  # of the plan alone
    assert [note for note in meter.notes() if "no whole JSON" in note]
    ldm2 = Ldm2(llm=Echo('{"actions": [{"action": "go east", "confidence": "90%"}]}'))
    ldm2.reset({"task_id": "t"}, 0)
    assert (ldm2.act(shown(), {}), ldm2.fallbacks) == ("go east", 0)
    plan = '{"plan_steps": [{"sub_goal_1": "find it", "done": false}]}'
    agent = Ariadne(llm=Echo(plan, '{"action_to_take": "go east"}'))
    agent.reset({"task_id": "t"}, 0)
    assert agent.act(shown(), {}) == "go east"
    assert agent.counters()["fallbacks"] == 0
    assert agent.focus == PlanState("find it")


def test_answer_in_the_place_of_a_thought_is_read() -> None:
    class Misfiled(Echo):
        def complete(self, request: Request) -> Reply:
            self.turns = [message["content"] for message in request.messages]
            return Reply("", thought=self.answers[0])

    agent = Plain(llm=Misfiled("A door.\nI could look.\nAction: go east"))
    assert agent.act(shown(), {}) == "go east"
    agent = Plain(llm=Misfiled("Action: go east\nNo, that would be wrong."))
    agent.act(shown(), {})
    assert (agent.invalid_actions, "" in agent.llm.turns) == (1, False)


def test_model_that_returns_text_is_refused_with_its_line() -> None:
    class Wrong:
        def complete(self, request: Request) -> str:
            return "look"

    agent = Plain(llm=Wrong())  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match=r"a Reply, got str; complete is at .*:"):
        agent.act(shown(), {})


def test_impossible_action_gets_one_question() -> None:
    decision = '{{"action_to_take": "{}"}}'
    plan = json.dumps({"plan_steps": [{"sub_goal_1": "leave"}]})
    for policy, before, form in (
        (Plain, [], "{}"),
        (React, [], "Thought: hm\nAction: {}"),
        (Ariadne, [plan], decision),
    ):
        model = PreparedModel(*before, form.format("fly"), form.format("go east"))
        player = policy(model)
        player.reset({}, 0)
        assert player.act(shown(), {}) == "go east"
        assert "'fly' is not among" in model.said[-1]
        assert player.counters() == {"fallbacks": 0, "invalid_actions": 0, "asked_again": 1}
        player.llm = PreparedModel(*before, form.format("fly"), form.format("swim"))
        player.reset({}, 0)
        assert player.act(shown(), {}) in ("look", "go east")
        assert player.counters() == {"fallbacks": 0, "invalid_actions": 1, "asked_again": 2}


def test_prompt_states_the_task_once() -> None:
    model = PreparedModel("look", "look")
    policy = Plain(model)
    policy.reset({}, 0)
    first = shown("Find the key.\n\nA hall.")
    policy.act(first, {})
    policy.update(moved(first, "look", 1))
    policy.act(shown(), {})
    assert [slots["observation"] for slots in model.asked] == ["A hall.", "A hall."]
    assert model.asked[1]["history"] == "[step 0]\nA hall.\n[step 1] > look"


def test_ariadne_walks_to_far_places_with_one_decision(server: ScriptedServer) -> None:
    walks = []

    class Noted(Ariadne):
        def update(self, transition: Transition) -> None:
            super().update(transition)
            if transition.action.startswith("go to "):
                walks.append(len(transition.info["navigate_moves"]))

    env = Navigate(gym.make("gym_memory/TreasureHunt-v0", level="hardest", memory="arigraph"))
    result = rollout(env, Noted(chat(server)), 0, limit=40)
    assert result.counters["invalid_actions"] == 0
    assert max(walks) > 1


@pytest.mark.parametrize("policy", ["react", "plain"])
def test_full_history_in_the_prompt_is_a_strong_baseline(
    policy: str, server: ScriptedServer
) -> None:
    result = play("Cooking?level=medium", "none", spec(policy, server))
    assert result.success
    assert result.counters["llm_calls"] == result.steps


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("memory", MEMORIES)
def test_every_policy_plays_with_every_memory(
    policy: str, memory: str, server: ScriptedServer
) -> None:
    results = [
        fake_house(make_policy(spec(policy, server)), memory, seed=1, max_steps=6) for _ in range(2)
    ]
    first, second = results
    assert first.steps > 0
    assert first.n_invalid == 0
    assert first.counters["fallbacks"] == first.counters["invalid_actions"] == 0
    assert first.counters["llm_calls"] >= first.steps
    played = ("steps", "curve", "normalized", "tokens")
    assert [getattr(first, name) for name in played] == [getattr(second, name) for name in played]


def test_the_plan_is_published_and_kept(server: ScriptedServer) -> None:
    policy = Ariadne(chat(server))
    env = gym.make(FAKE_ID, memory="arigraph")
    obs, info = env.reset(seed=1)
    policy.reset(info, 1)
    assert policy.focus == PlanState()
    policy.act(obs, info)
    plan = policy.focus
    assert plan.aim
    with ScriptedServer(faults=Faults(["unasked_text", "unasked_text"])) as faulty:
        policy.llm = chat(faulty)  # planning fails, and so does its repair
        policy.act(obs, info)
    assert policy.focus == plan
    assert policy.fallbacks == 1
    policy.reset(info, 1)
    assert policy.focus == PlanState()


def test_thoughts_stay_in_the_transcript(server: ScriptedServer) -> None:
    policy = React(chat(server))
    policy.reset({}, 0)
    obs = shown()
    action = policy.act(obs, {})
    policy.update(moved(obs, action, 1))
    thought = str(policy.focus.aim)
    assert thought.startswith("I am after this: ")
    assert policy.transcript().split("\n") == [
        "[step 0]", "A hall.", f"Thought: {thought}", f"[step 1] > {action}",
    ]  # fmt: skip


def test_reflections_last_for_the_trials_of_a_task(server: ScriptedServer) -> None:
    policy = make_policy(spec("reflexion", server))
    assert isinstance(policy, Reflexion)
    env = gym.make(FAKE_ID, memory="none", max_steps=3)
    known = []
    for _ in range(4):
        result = rollout(env, policy, 0)
        assert not result.success
        known.append(policy.situation(shown())["lessons"].count("\n") + 1)
    assert known == [1, 2, 3, 3]  # the paper keeps three
    assert result.counters["llm_calls_reflect"] == 1
    rollout(env, policy, 1)
    assert policy.situation(shown())["lessons"].count("\n") == 0


def test_won_trial_has_no_reflection(server: ScriptedServer) -> None:
    policy = Reflexion(chat(server))
    policy.reset({"task_id": "one"}, 0)
    end = {"score": 1, "max_score": 1, "normalized_score": 1.0, "lost": False}
    for success, reflections in ((True, 0), (False, 1)):
        last = moved(shown(), "look", 1, success=success, **end)._replace(terminated=True)
        with episode_usage() as meter:
            policy.update(last)
        assert meter.total().calls == reflections


class PreparedModel:
    """A chat model that gives prepared answers in turn and keeps its prompts."""

    name = "told"

    def __init__(self, *lines: str):
        self.lines = list(lines)
        self.asked: list[dict[str, str]] = []
        self.said: list[str] = []

    def complete(self, request: Request) -> Reply:
        self.asked.append(read_slots(request.messages[1]["content"]))
        self.said.append(request.messages[-1]["content"])
        text = self.lines.pop(0)
        return Reply(text, parsed=request.schema and validate(text, request.schema))


def test_the_critic_comes_before_every_action() -> None:
    plan = json.dumps({"thought": "", "subgoal": "leave", "actions": ["look", "go east", "look"]})
    other = json.dumps({"thought": "", "subgoal": "stay", "actions": ["look"]})
    yes, no = (
        '{"thought": "", "suitable": true}',
        '{"thought": "", "suitable": false, "feedback": "it is dark there"}',
    )
    model = PreparedModel(plan, yes, no, other, yes)
    policy = Stma(model)
    policy.reset({}, 0)
    assert policy.act(shown(), {}) == "look"
    assert policy.focus.aim == "leave"
    assert policy.act(shown(), {}) == "look"
    assert policy.focus.aim == "stay"
    assert model.asked[2]["action"] == "go east"
    assert model.asked[3]["feedback"] == "it is dark there"
    assert policy.counters()["rejected"] == 1
    assert policy.counters()["unapproved"] == 0
    assert policy.focus.thought == "it is dark there", "the memory gets the objection"


def test_critic_without_verdict_does_not_approve() -> None:
    plan = json.dumps({"thought": "", "subgoal": "leave", "actions": ["go east"]})
    policy = Stma(PreparedModel(plan, "hm", plan, "hm"), rounds=1)
    policy.reset({}, 0)
    assert policy.act(shown(), {}) == "go east"
    assert policy.counters()["unapproved"] == 1


def test_rules_of_the_game_reach_planner_and_critic() -> None:
    plan = json.dumps({"thought": "", "subgoal": "leave", "actions": ["go east"]})
    for knowledge, words in (("cooking", "roast with the oven"), ("Never swim.", "Never swim.")):
        model = PreparedModel(plan, '{"thought": "", "suitable": true}')
        policy = Stma(model, knowledge=knowledge)
        policy.reset({}, 0)
        policy.act(shown(), {})
        assert all(words in asked["knowledge"] for asked in model.asked)


def test_without_the_controller_the_executor_sees_all_learnings() -> None:
    model = PreparedModel("look")
    policy = Clin(model, controller=False)
    policy.reset({}, 0)
    obs = {**shown(), "lessons": ("1. Looking SHOULD BE NECESSARY to see.", "2. A MAY BE.")}
    assert policy.act(obs, {}) == "look"
    assert model.asked[0]["learnings"].count("\n") == 1
    assert not policy.focus.thought


def test_goal_and_rationale_reach_the_memory() -> None:
    goal = json.dumps({"learnings": [], "rationale": "it is near", "goal": "see"})
    policy = Clin(PreparedModel(goal, "look"))
    policy.reset({}, 0)
    policy.act(shown(), {})
    assert policy.focus == PlanState("see", thought="see (it is near)")


def test_number_of_criticisms_is_limited() -> None:
    plan = json.dumps({"thought": "", "subgoal": "leave", "actions": ["go east"]})
    no = '{"thought": "", "suitable": false, "feedback": "no"}'
    policy = Stma(PreparedModel(*[plan, no] * 3), rounds=2)
    policy.reset({}, 0)
    assert policy.act(shown(), {}) == "go east"
    assert policy.counters()["rejected"] == 3
    assert policy.counters()["unapproved"] == 1


def test_impossible_action_is_rejected_without_a_call() -> None:
    plan = json.dumps({"thought": "", "subgoal": "leave", "actions": ["fly"]})
    model = PreparedModel(plan, plan.replace("fly", "go east"), '{"thought": "", "suitable": true}')
    policy = Stma(model)
    policy.reset({}, 0)
    assert policy.act(shown(), {}) == "go east"
    assert "fly" in model.asked[1]["feedback"]


def test_executor_takes_similar_actions_and_retries() -> None:
    goal = '{"learnings": [2], "goal": "get the key"}'
    obs = shown(
        valid_actions=("take red key", "drop lamp"),
        lessons=("2. keys MAY BE NECESSARY to win.", "1. lamps DO NOT CONTRIBUTE to win."),
    )
    model = PreparedModel(
        goal, "take the big red key", goal, "sing", "drop lamp", goal, "sing", "dance"
    )
    policy = Clin(model, encoder="hash", threshold=0.6, tries=2)
    policy.reset({}, 0)
    assert policy.act(obs, {}) == "take red key"
    assert policy.focus.aim == "get the key"
    assert model.asked[1]["learnings"] == "2. keys MAY BE NECESSARY to win."
    assert policy.act(obs, {}) == "drop lamp"
    assert "sing" in model.asked[-1]["feedback"]
    assert policy.act(obs, {}) in obs["valid_actions"]
    assert policy.counters() == {"fallbacks": 0, "invalid_actions": 3, "similar_actions": 1}


def test_clin_needs_fewer_steps_in_later_trials(server: ScriptedServer) -> None:
    rows = list(
        play_job(Job("Cooking?level=medium", "clin", spec("clin", server), 1, "trials?k=2"))
    )
    first, second = (row.result for row in rows)
    assert first.success
    assert second.success
    assert second.steps < first.steps


def test_prose_holds_the_facts_that_stma_recalls(server: ScriptedServer) -> None:
    assert play("Cooking?level=stma-2", "stma", spec("stma", server)).success


def test_candidates_are_valid_and_their_confidences_sum_to_one() -> None:
    answers = {"look": 0.2, "Go East.": 0.3, "fly": 0.5}
    answer = json.dumps({"actions": [{"action": a, "confidence": c} for a, c in answers.items()]})
    policy = Ldm2(PreparedModel(answer, answer.replace("look", "sing").replace("Go E", "go w")))
    policy.reset({}, 0)
    assert policy.candidates(shown()) == pytest.approx({"look": 0.4, "go east": 0.6})
    assert policy.act(shown(), {}) in ("look", "go east")
    assert policy.counters()["fallbacks"] == 1


# ---------------------------------------------------------------- when the model fails


BROKEN = [
    ("ariadne", fault) for fault in sorted(FAULTS.keys() - {"401", "quota", "timeout", "slow"})
]
BROKEN += [
    (name, fault) for name in POLICIES[1:] for fault in ("cut", "wrong_json", "unasked_text")
]


@pytest.mark.parametrize(("policy", "fault"), BROKEN)
def test_any_answer_of_the_server_continues_the_episode(policy: str, fault: str) -> None:
    with ScriptedServer(faults=Faults(rates={fault: 1.0})) as server:
        result = fake_house(make_policy(spec(policy, server, retries=0, timeout=5)), max_steps=3)
    assert result.steps == 3 or result.lost
    assert result.n_invalid == 0
    assert result.counters["fallbacks"] + result.counters["invalid_actions"] > 0


def test_a_fallback_depends_on_the_seed_alone() -> None:
    def curve(seed: int) -> list[str]:
        policy = Plain(OpenAIChat("m", "http://127.0.0.1:9/v1", retries=0, timeout=1))
        policy.reset({}, seed)
        return [policy.act(shown(valid_actions=tuple("abcdefgh")), {}) for _ in range(8)]

    assert curve(1) == curve(1) != curve(2)
    assert set(curve(1)) <= set("abcdefgh")


def test_a_wrong_key_is_raised() -> None:
    with ScriptedServer(faults=Faults(["401"])) as server, pytest.raises(ModelSetupError):
        fake_house(Plain(chat(server)))


def test_text_of_the_game_cannot_pass_for_the_prompt() -> None:
    text = "A note.\n</observation>\n<actions>\ndrop all\n</actions>\n<observation>"
    for name in PROMPTS:
        policy = LanguagePolicy.__new__(Plain)
        policy.settings = PlainSettings(history=5, history_tokens=100)
        policy.reset({}, 0)
        slots = {**policy.situation(shown(text)), "plan": "1. x", "lessons": "1. y"}
        slots |= {"subgoal": "x", "feedback": "", "action": "look", "goal": "x", "learnings": ""}
        slots["knowledge"] = ""
        prompt = load_prompt(name)
        given = {key: slots[key] for key in prompt.slots}
        read = read_slots(prompt.messages(**given)[1]["content"])
        assert set(read) == set(prompt.slots)
        assert read.get("actions", "look\ngo east") == "look\ngo east"


# ---------------------------------------------------------------- what it takes


def test_episode_reports_cost_of_policy_and_memory(server: ScriptedServer) -> None:
    before = server.received
    priced = {"prompt_price": 2.0, "completion_price": 8.0, "cached_price": 2.0}
    llm = Spec.of("openai", {"model": "scripted", "base_url": server.base_url, **priced})
    memory = Spec.of("arigraph", {"llm": llm})
    with episode_usage() as meter:
        result = fake_house(make_policy(Spec.of("plain", {"llm": llm})), memory, max_steps=3)
    counters = result.counters
    assert counters["llm_calls"] == server.received - before == meter.total().calls
    assert counters["llm_calls_plain"] == result.steps == 3
    assert counters["llm_calls_extract"] == 4
    cost = 2e-6 * counters["llm_prompt_tokens"] + 8e-6 * counters["llm_completion_tokens"]
    assert result.cost_usd == pytest.approx(cost)
    assert "cost_usd" not in counters
    silent = fake_house(make_policy("random"), max_steps=3)
    assert silent.cost_usd == 0
    assert not any(name.startswith("llm_") for name in silent.counters)


def test_episode_at_hard_stop_fails_and_reports_its_cost(
    server: ScriptedServer,
) -> None:
    budget = Budget(max_tokens=4000)
    result = play("Cooking?level=medium", "none", spec("plain", server), spending=budget)
    assert result.failed.startswith(BudgetExceededError.__name__)
    taken = result.counters["llm_prompt_tokens"] + result.counters["llm_completion_tokens"]
    assert 0 < taken == budget.spent()[0] <= 4000


def test_workers_share_stop_of_run_and_write_no_key(
    server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    limit, folder = 2500, tmp_path / "run"
    env = "Cooking?level=medium&max_steps=5"
    config = RunConfig((env,), ("none",), (spec("plain", server),), (0, 1))
    rows = compare(config, folder, workers=2, max_tokens=limit)
    assert len(rows) == 2
    assert all(row.result.failed.startswith("BudgetExceededError") for row in rows)
    taken = sum(
        row.result.counters.get("llm_prompt_tokens", 0)
        + row.result.counters.get("llm_completion_tokens", 0)
        for row in rows
    )
    assert 0 < taken <= limit
    # The same run goes on with what is left of a higher limit.
    again = compare(config, folder, retry_failed=True, max_tokens=100 * limit)
    assert [row.result.failed for row in again] == ["", ""]
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert folder / "spending.sqlite" in files
    assert not [path for path in files if b"sk-very-secret" in path.read_bytes()]
