"""CALM (Yao et al. 2020): a model proposes actions from the context, a DRRN ranks them."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, ClassVar

import numpy as np

from gym_memory.baselines.actions import parse_action
from gym_memory.baselines.llm.answers import undressed
from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings
from gym_memory.baselines.llm.saycan import Affordances
from gym_memory.baselines.rules.explorer import things_of
from gym_memory.core.errors import ModelError
from gym_memory.core.records import Observation, Transition, rewarded
from gym_memory.core.settings import Help
from gym_memory.core.text import compounds
from gym_memory.graph.schema import DIRECTIONS
from gym_memory.llm import ChatModel

__all__ = ["Calm", "CalmSettings"]

_BASIC_TEMPLATES = ("look", "inventory", "take <>", "open <>", "examine <>")
"""Initial templates if no valid action was ever listed."""
_MAX_THINGS = 12
"""Most things to fill a template, which limits templates with two slots."""
_MARK = re.compile(r"^\W*(?:\d+[.):]\s*)?")
_MAX_CHARS = 100
_TEMPERATURE = 0.1
"""Temperature of the softmax over Q while learning, in units of reward."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CalmSettings(LanguageSettings):
    """Settings of CALM: the number of proposals and their ranking.

    Attributes:
        llm: A chat model or its spec; without it and ``model``, rules fill the templates of earlier
            valid actions with the things in view.
        checkpoint: Folder of a trained DRRN, which is then fixed; empty to train one while playing,
            as in the paper.
    """

    llm: str | ChatModel = dataclasses.field(default="", kw_only=False)
    history: int | None = 1
    constrain: bool = dataclasses.field(default=False, init=False)
    k: Annotated[int, Help("Most proposals, 30 in the paper.", low=1)] = 30
    checkpoint: str = ""


class Calm(LanguagePolicy):
    """CALM: softmax Q(o, a) over the k proposals A(c, k) (sections 3.2 and 3.3).

    The context c has the last observation, the last action, the present observation and the recall.
    Valid actions need not be listed; if they are, other proposals are dropped. The paper proposes
    with a fine-tuned GPT-2; here, any chat model or rules can propose.
    """

    settings_class = CalmSettings
    settings: CalmSettings
    default_llm: ClassVar[str] = "openai"

    def set_up(self) -> None:
        """Load a DRRN, or create one that learns."""
        from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings  # needs torch
        from gym_memory.baselines.rl.players import load_player

        self._learns = not self.settings.checkpoint
        # training on one game, so all of its names may be features
        own = DrrnSettings(words="always", common=0.0, learn_start=64)
        self.learner = (
            DrrnLearner(own) if self._learns else load_player(self.settings.checkpoint, DrrnLearner)
        )
        self.useful = Affordances()
        self._forms: dict[str, None] = dict.fromkeys(_BASIC_TEMPLATES)

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode, keeping learned weights."""
        super().reset(info, seed)
        self.useful.begin()
        self.learner.rng = self._rng
        self.learner.slots.clear()
        self._task_id = info.get("task_id", "") or "game"
        self._offered: Observation | None = None
        self._by_rule = ""  # reason for rule-based proposals
        self._seen: Any = None
        self._index = -1

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return a proposal drawn by the DRRN; with a checkpoint, the best one."""
        if self._offered is None:
            self._offer(obs)
        assert self._offered is not None
        if self._by_rule:
            self.decided_otherwise(self._by_rule)
        self._index = self._choose()
        return self._offered["valid_actions"][self._index]

    def _choose(self) -> int:
        """Return the index of a proposal, drawn by softmax of Q, or the best one."""
        if not self._learns:
            return self.learner.act([self._seen], explore=False)[0]
        (values,) = self.learner.values([self._seen])
        drawn = values.astype(float) / _TEMPERATURE + self._rng.gumbel(size=len(values))
        return int(np.argmax(np.round(drawn, 4)))

    def update(self, transition: Transition) -> None:
        """Learn from the step, with proposals for the next state."""
        super().update(transition)
        self.useful.add(transition)
        seen, index = self._seen, self._index
        later = rewarded(transition.next_obs, transition.info)
        self._offer(later, ended=transition.terminated)
        if self._learns:
            from gym_memory.baselines.rl.shared.learner import Experience

            reward = float(np.clip(transition.reward, -1, 1))  # for which settings are made
            ends = transition.terminated, transition.truncated
            experience = Experience(seen, index, reward, self._seen, *ends)
            self.learner.observe(0, experience)
            self.learner.learn()

    def _offer(self, obs: Observation, *, ended: bool = False) -> None:
        """Replace the proposals and their encoding."""
        proposed = ["look"] if ended else self.propose(obs)
        offered: Observation = {**obs, "valid_actions": tuple(proposed)}
        game = self._task_id if self._learns else ""
        self._seen = self.learner.see(offered, game, self._seen, self._index)
        self._offered = offered

    # ------------------------------------------------------------ proposals

    def propose(self, obs: Observation) -> list[str]:
        """Return up to k different actions from the model or, if it fails, from rules."""
        valid = obs["valid_actions"]
        self._forms |= dict.fromkeys(parse_action(action).form for action in valid)
        none: list[str] = []
        found = none if self.llm is None else self.attempt(lambda: self._ask(obs), none)
        failed = self.llm is not None and not found
        self._by_rule = f"a rule proposed the actions: {self._unread[0]}" if failed else ""
        found = found or self.useful.ranked(obs, valid or tuple(self._commands(obs)))
        return found[: self.settings.k]

    def _ask(self, obs: Observation) -> list[str]:
        slots = self.situation(obs)
        slots["actions"] = slots["actions"] or "\n".join(self._forms)
        valid = obs["valid_actions"]
        answer = self.ask("calm", **slots).text
        lines = [_MARK.sub("", line)[:_MAX_CHARS] for line in answer.splitlines()]
        actions = [undressed(line, valid) if valid else line.strip() for line in lines]
        found = list(dict.fromkeys(filter(None, actions)))
        if not found:
            raise ModelError("answer", f"expected an action a line, got {lines[:3]!r}")
        return found

    def _commands(self, obs: Observation) -> Iterator[str]:
        """Yield moves, and the known templates filled with things in view, without duplicates."""
        sight = compounds(f"{obs['text']} {obs['memory']}")
        ways = [way for way in DIRECTIONS if way in sight] or list(DIRECTIONS)
        things = things_of(obs)[:_MAX_THINGS]
        filled = itertools.chain(*(_fill(form, things) for form in self._forms if form != "go <>"))
        yield from dict.fromkeys([*(f"go {way}" for way in ways), *filled])


def _fill(form: str, things: Iterable[str]) -> Iterator[str]:
    parts = form.split("<>")
    for chosen in itertools.permutations(things, len(parts) - 1):
        yield "".join(itertools.chain(*zip(parts, (*chosen, ""), strict=True)))
