"""AdaPlanner (Sun et al. 2023): a plan as code, refined by what the game answers."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from gym_memory.baselines.base import POLICIES
from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings, match_action
from gym_memory.baselines.llm.plan_code import PlanFailed, parse_plan, run_plan
from gym_memory.baselines.llm.saycan import Affordances, overlap
from gym_memory.core.errors import ModelError
from gym_memory.core.records import Observation, PlanState, Transition
from gym_memory.core.settings import check_int
from gym_memory.llm import ChatModel

__all__ = ["AdaPlanner", "AdaPlannerSettings"]

_FENCE = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_STEP = """\
best = ask("Which action serves the task?", actions)
act(best)
assert observation != before, f"{best} changed nothing"
"""
_RULE = f"# the best actions\n{_STEP * 3}"
"""The plan without a model: three times what looks best, as long as something changes."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class AdaPlannerSettings(LanguageSettings):
    """The shared ones, and the bounds of refinement.

    Attributes:
        llm: A chat model or its spec; without it and ``model`` a rule plans and answers.
        rounds: Plans that may fail at one step before a random action is taken, >= 1.
        skills: Plans that won, shown with later tasks, >= 0; the oldest are dropped.
    """

    llm: str | ChatModel = dataclasses.field(default="", kw_only=False)
    constrain: bool = dataclasses.field(default=False, init=False)
    rounds: int = 3
    skills: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("rounds", self.rounds, 1)
        check_int("skills", self.skills, 0)


@POLICIES.register("adaplanner")
class AdaPlanner(LanguagePolicy):
    """Carries out a plan as code; refines it in the plan by ``ask``, and out of it by feedback.

    A failed assertion or an impossible action ends the plan. The next plan is written for the
    situation of that moment, so that it resumes where the last one failed. The
    plans of an episode that won are skills for later ones.
    """

    name: ClassVar[str] = "adaplanner"
    settings_class = AdaPlannerSettings
    settings: AdaPlannerSettings
    default_llm: ClassVar[str] = "openai"
    max_tokens: int = 1024

    def set_up(self) -> None:
        """Begin without skills."""
        self.refined = 0
        self.useful = Affordances()
        self._skills: list[str] = []

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode without a plan; skills and what was learnt of actions stay."""
        super().reset(info, seed)
        self.useful.begin()
        self._codes: list[str] = []
        self._run: Iterator[str] = iter(())
        self._before = ""

    def counters(self) -> dict[str, float]:
        """Also return the plans that were refined from outside."""
        return {**super().counters(), "refined": self.refined}

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next action of the plan, or of the next plan where it went no further."""
        self._obs, action, feedback = obs, "", ""
        for turn in range(self.settings.rounds + 1):
            if turn:
                self._plan(obs, feedback)
            try:
                action = next(self._run)
            except StopIteration:
                feedback = "The plan is at its end, and the task is not done." * bool(self._codes)
                continue
            except (PlanFailed, RecursionError) as failure:
                feedback, self._run = str(failure), iter(())
                self.refined += 1
                continue
            if not obs["valid_actions"] or match_action(action, obs["valid_actions"]):
                break
            feedback = f"{action!r} is not among the possible actions."
        return self.act_on(action, obs)

    def update(self, transition: Transition) -> None:
        """Keep the step, and the plans of an episode that won."""
        super().update(transition)
        self.useful.add(transition)
        self._before = transition.obs["text"]
        if transition.info.get("success") and (transition.terminated or transition.truncated):
            skill = f"# {transition.obs['task'][:200]}\n{self._codes[-1]}" if self._codes else ""
            kept = [one for one in (*self._skills, skill) if one and self.llm is not None]
            self._skills = kept[max(len(kept) - self.settings.skills, 0) :]

    def _plan(self, obs: Observation, feedback: str) -> None:
        code = _RULE
        if self.llm is not None:
            code = self.attempt(lambda: self._written(obs, feedback), _RULE)
        self._codes.append(code)
        self._run = run_plan(parse_plan(code), self._names, self._answer)
        self.focus = PlanState(code.partition("\n")[0].strip("# "), thought=feedback)

    def _written(self, obs: Observation, feedback: str) -> str:
        skills, plan = "\n".join(self._skills), self._codes[-1] if self._codes else ""
        slots = {**self.situation(obs), "skills": skills, "plan": plan, "feedback": feedback}
        text = self.ask("adaplanner", **slots).text
        found = _FENCE.search(text)
        code = found[1] if found else text
        if not parse_plan(code):
            raise ModelError("answer", "expected a plan of at least one line, got none")
        return code

    def _names(self) -> dict[str, Any]:
        obs = self._obs
        return {
            "observation": obs["text"], "before": self._before, "inventory": obs["inventory"],
            "actions": list(obs["valid_actions"]),
        }  # fmt: skip

    def _answer(self, question: str, options: Sequence[str]) -> str:
        """Return the option that the model names, else the one of most shared words and use."""
        worth = overlap({**self._obs, "valid_actions": tuple(options)})
        worth = worth + np.log([self.useful.of(self._obs, option) for option in options])
        best = options[int(np.argmax(np.round(worth, 9)))]
        if self.llm is None:
            return best

        def named() -> str:
            slots = {"question": question, "options": "\n".join(options)}
            answer = self.ask("adaplanner_ask", **self.situation(self._obs), **slots).text
            found = match_action(answer, options)
            if not found:
                raise ModelError("answer", f"expected one of the options, got {answer[:200]!r}")
            return found

        return self.attempt(named, best)
