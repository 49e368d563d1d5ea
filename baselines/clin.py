"""CLIN's controller and executor (Majumder et al., Section 3.1).

The controller picks those learnings that help now and says what to go for next; the executor
turns that goal into a valid action. An action that is not valid as it stands is replaced by the
valid action most like it, if their sentence embeddings are similar enough; otherwise the executor
is told and tries again. Learnings have numbers where the memory gives them some (memory ``clin``,
the paper's pairing), and the controller names those that it uses.
"""

from __future__ import annotations

import functools
import re
from typing import Annotated, Any, ClassVar

from gym_memory.baselines.language import LanguagePolicy, match_action
from gym_memory.checks import check_int, check_share
from gym_memory.errors import MissingDependencyError
from gym_memory.llm import ChatModel
from gym_memory.memory.encoders import DEFAULT_MODEL, Encoder, make_encoder
from gym_memory.memory.roles.text import prose
from gym_memory.optional import require
from gym_memory.types import Observation

__all__ = ["Clin"]

_ID = re.compile(r"\s*(\d+)\.")


class Clin(LanguagePolicy):
    """Sets a goal with the help of learnings, then finds the action for it.

    Args:
        llm: As of :class:`gym_memory.baselines.language.LanguagePolicy`, like the rest.
        model: Likewise.
        base_url: Likewise.
        tries: Answers of the executor at one step, >= 1: 5 in the paper, 3 in its code.
        threshold: Least cosine in [0, 1] at which a similar valid action is taken.
        encoder: Sentence encoder of that comparison, loaded when it is needed first; empty for
            no comparison. None: the one of sentence-transformers that the paper's kind of model
            is, where its weights are at hand (extra ``offline``), else hashed words.
        history: Past observations to show.
        history_tokens: Tokens that they may take.
        temperature: Sampling temperature.

    Attributes:
        similar_actions: Answers that a similar valid action replaced.
    """

    name: ClassVar[str] = "clin"

    def __init__(
        self,
        llm: str | ChatModel = "openai",
        model: str = "",
        base_url: str = "",
        *,
        tries: int = 5,
        threshold: float = 0.9,
        encoder: str | None = None,
        history: int | None = 5,
        history_tokens: int = 1000,
        temperature: float = 0.0,
    ):
        check_int("tries", tries, 1)
        self.tries, self.encoder = tries, encoder
        self.threshold = check_share("threshold", threshold)
        self.similar_actions = 0
        super().__init__(
            llm,
            model,
            base_url,
            history=history,
            history_tokens=history_tokens,
            temperature=temperature,
        )

    def counters(self) -> dict[str, float]:
        """Also answers that a similar valid action replaced."""
        return {**super().counters(), "similar_actions": self.similar_actions}

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """A goal from the controller, an action from the executor."""
        situation = self.situation(obs)
        actions, memory = situation.pop("actions"), situation.pop("memory")
        kept: tuple[str, tuple[int, ...]] = (self.focus, ())
        goal, ids = self.attempt(lambda: self._control(situation, memory), kept)
        self.focus = goal
        self.think(goal)
        used = [lesson for lesson in obs["lessons"] if _id(lesson) in ids]
        slots = {**situation, "actions": actions, "goal": goal, "learnings": "\n".join(used)}
        return self._execute(slots, obs)

    def _control(self, situation: dict[str, str], memory: str) -> tuple[str, tuple[int, ...]]:
        answer = self.ask("clin_goal", _goal_schema(), memory=memory, **situation).parsed
        return " ".join(answer.goal.split())[:1000], tuple(answer.learnings)

    def _execute(self, slots: dict[str, str], obs: Observation) -> str:
        """Ask until an answer is a valid action, or like one."""
        feedback = ""
        for turn in range(self.tries):
            told = self.attempt(functools.partial(self._told, feedback, slots), "")
            valid = obs["valid_actions"]
            action = match_action(told, valid) or (self._similar(told, valid) if told else "")
            if action or not valid or turn == self.tries - 1:
                return self.act_on(action or told, obs)
            if told:
                self.invalid_actions += 1
            feedback = f"{told[:200]!r} is not among the possible actions."
        raise AssertionError("unreachable")

    def _told(self, feedback: str, slots: dict[str, str]) -> str:
        return prose(self.ask("clin_act", feedback=feedback, **slots).text)

    def _similar(self, told: str, valid: tuple[str, ...]) -> str:
        """The valid action most similar to what was told, "" below the threshold."""
        if self.encoder == "" or not valid:
            return ""
        encoder = make_encoder(self.encoder) if self.encoder else _usual_encoder()
        vectors = encoder.encode([told[:200], *valid])
        likeness = vectors[1:] @ vectors[0]
        best = int(likeness.argmax())
        if likeness[best] <= self.threshold:
            return ""
        self.similar_actions += 1
        return valid[best]


@functools.cache
def _usual_encoder() -> Encoder:
    try:
        return make_encoder(DEFAULT_MODEL)
    except MissingDependencyError:
        return make_encoder("hash")


def _id(lesson: str) -> int:
    """The number that a lesson begins with, 0 if there is none."""
    found = _ID.match(lesson)
    return int(found[1]) if found else 0


@functools.cache
def _goal_schema() -> Any:
    pydantic = require("pydantic", "llm", "answers in JSON")
    goal = Annotated[str, pydantic.Field(min_length=1)]
    return pydantic.create_model("Goal", learnings=(list[int], []), goal=(goal, ...))
