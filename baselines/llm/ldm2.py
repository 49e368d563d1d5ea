"""LDM2's agent (Wang et al., Section 3.2): imitate actions in similar situations.

The examples come from the memory's recall (in the paper, memory ``ldm2``). One call a step returns
actions with confidences, as needed by the paper's tree exploration, and the most confident one is
played. :func:`gym_memory.papers.explore.explore` plays the others too.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import re
from collections import Counter
from types import GenericAlias
from typing import Annotated, Any

from gym_memory.baselines.llm.answers import undressed
from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings
from gym_memory.core.errors import ModelError
from gym_memory.core.optional import require
from gym_memory.core.records import Observation, Step, Transition
from gym_memory.core.settings import Help
from gym_memory.core.text import words
from gym_memory.memory.reading import quoted
from gym_memory.memory.roles.text import read_number, trace_text

__all__ = ["Ldm2", "Ldm2Settings"]

_ACTION = re.compile(r"^Action: (.+)$", re.MULTILINE)
_NOT_IN_SNAPSHOT = ("settings", "llm", "fallbacks", "invalid_actions", "history_cuts", "processes")
_MAX_PROCESS_TOKENS = 16_000
"""Token limit of all processes in a choice."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ldm2Settings(LanguageSettings):
    """Settings of LDM2: when examples count as agreeing."""

    agreement: Annotated[
        float,
        Help(
            "Share of the shown examples that must have the same action to agree, so that "
            'exploration continues with one action. The paper says "highly concentrated".',
            low=0,
            high=1,
        ),
    ] = 0.8
    constrain: bool = dataclasses.field(default=False, init=False)


class Ldm2(LanguagePolicy):
    """LDM2's agent, which imitates examples."""

    settings_class = Ldm2Settings
    settings: Ldm2Settings

    def set_up(self) -> None:
        """Start without a process."""
        self.processes: list[list[Step]] = []
        self._task_id = self._goal = ""

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start a process; with another task instance, forget earlier processes."""
        super().reset(info, seed)
        if info.get("task_id", "") != self._task_id:
            self.processes = []
        self._task_id = info.get("task_id", "")
        self.processes.append([])

    def update(self, transition: Transition) -> None:
        """Record the step, for the choice among processes."""
        super().update(transition)
        obs, action, _, after, *_ = transition
        self._goal = obs["task"]
        process = self.processes[-1]
        process += [] if process else [Step(0, obs["text"])]
        process.append(Step(len(process), after["text"], action, self.reward_of(transition)))

    def choose(self) -> int | None:
        """Return the best process of this task instance, by the model (Eq. 5); None on failure."""
        if len(self.processes) < 2:
            return 0
        share = _MAX_PROCESS_TOKENS // len(self.processes)
        shown = [
            f"Process {number}\n{trace_text(process, share)}"
            for number, process in enumerate(self.processes, 1)
        ]

        def answer() -> int | None:
            reply = self.ask("choose", task=self._goal, processes=quoted("\n\n".join(shown)))
            return read_number(reply.text, 1, len(shown)) - 1

        return self.attempt(answer, None)

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the most confident of the candidates."""
        return next(iter(self.candidates(obs)))

    def candidates(self, obs: Observation) -> dict[str, float]:
        """Return candidate actions with confidences, most confident first (Eq. 9)."""
        nothing: dict[str, float] = {}
        confidence = self.attempt(lambda: self._ask_candidates(obs), nothing) or {
            self.act_on("", obs): 1.0
        }
        return dict(sorted(confidence.items(), key=lambda pair: -pair[1]))

    def _ask_candidates(self, obs: Observation) -> dict[str, float]:
        answer = self.ask("ldm2", _schema(), **self.situation(obs))
        confidence: dict[str, float] = {}
        for candidate in answer.parsed.actions:
            valid = obs["valid_actions"]
            action = undressed(candidate.action, valid)
            if action:
                confidence[action] = confidence.get(action, 0.0) + candidate.confidence
        total = sum(confidence.values())
        if not total:
            raise ModelError("answer", "expected at least one valid action with confidence > 0")
        return {action: share / total for action, share in confidence.items()}

    def disagree(self, obs: Observation) -> bool:
        """True if the recalled examples differ in their actions, or there are none."""
        actions = [action for lesson in obs["lessons"] for action in _ACTION.findall(lesson)[-1:]]
        known = set(words(" ".join(obs["valid_actions"])))
        forms = Counter(
            tuple(word for word in words(action) if word in known or not known)
            for action in actions
        )
        return not forms or max(forms.values()) < self.settings.agreement * len(actions)

    # ------------------------------------------------------------ branches of an episode

    def snapshot(self) -> Any:
        """Return the state of the episode so far."""
        own = {name: value for name, value in vars(self).items() if name not in _NOT_IN_SNAPSHOT}
        return copy.deepcopy(own)

    def restore(self, snapshot: Any) -> None:
        """Restore a snapshot, except for counters."""
        vars(self).update(copy.deepcopy(snapshot))


@functools.cache
def _schema() -> Any:
    pydantic = require("pydantic", "llm", "answers in JSON")
    share = Annotated[float, pydantic.Field(ge=0, le=1)]
    candidate = pydantic.create_model("Candidate", action=(str, ...), confidence=(share, ...))
    several = pydantic.Field(min_length=1)
    return pydantic.create_model("Candidates", actions=(GenericAlias(list, (candidate,)), several))
