"""EXPLORER (Basu et al. 2024): rules induced from rewarded steps, exploration where none applies.

``explorer`` is another player, which goes back to states. Literals are relations of the recalled
facts to the objects of an action, so a rule also applies to unseen objects; the paper generalises
names by WordNet. Rules are learnt bottom up, with exceptions, as in its default logic.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.baselines.llm.saycan import Affordances
from gym_memory.baselines.rl.shared.features import describe, names_of
from gym_memory.baselines.rl.shared.lexicon import Lexicon
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.files import read_json, write_atomic
from gym_memory.core.records import Observation, PlanState, Transition, Triple, playable

__all__ = ["ActionRule", "Symbolic", "induce"]

Literals = frozenset[str]
Counts = Counter[Literals]

_FILE = "symbolic.json"
_MOST_EXAMPLES = 40
"""Number of the latest rewarded examples from which rule bodies are made."""
_NO_NAME = 2.0
"""Share of games in which a name must occur to be a literal; above 1, so none is."""


class ActionRule(NamedTuple):
    """A rule that an action is rewarded if all of ``body`` holds and nothing of ``unless``.

    ``right`` and ``wrong`` count the examples that it covers.
    """

    body: Literals
    unless: Literals
    right: int
    wrong: int

    def covers(self, literals: Literals) -> bool:
        """True if the rule applies."""
        return self.body <= literals and not self.unless & literals

    @property
    def confidence(self) -> float:
        """Return the share of rewarded examples, after adding one of each kind."""
        return (self.right + 1) / (self.right + self.wrong + 2)

    def __str__(self) -> str:
        body = ", ".join(sorted(self.body)) or "true"
        return body + "".join(f", not {literal}" for literal in sorted(self.unless))


def induce(paid: Counts, not_paid: Counts) -> list[ActionRule]:
    """Return rules that cover the latest rewarded examples, the most reliable first.

    A candidate body is one such example or the common part of two. The best candidate becomes a
    rule, then the best for the examples that are not covered yet, and so on.
    """
    latest = list(paid)[-_MOST_EXAMPLES:]
    bodies = dict.fromkeys(one & other for one in latest for other in latest)
    candidates = [_rule(body, paid, not_paid) for body in bodies]
    rules: list[ActionRule] = []
    left = set(latest)
    while left:
        rule = max(
            (rule for rule in candidates if any(map(rule.covers, left))),
            key=lambda rule: (rule.confidence, -len(rule.body), str(rule)),
        )
        rules.append(rule)
        left = {one for one in left if not rule.covers(one)}
    return sorted(rules, key=lambda rule: -rule.confidence)


def _rule(body: Literals, paid: Counts, not_paid: Counts) -> ActionRule:
    """Return the rule of a body; its exception is common to the unrewarded examples alone."""
    right = [example for example in paid if body <= example]
    wrong = [example for example in not_paid if body <= example]
    unless: Literals = frozenset()
    if len(wrong) > 1:
        shared = frozenset.intersection(*wrong).difference(*right)
        unless = frozenset(sorted(shared)[:1])
    rule = ActionRule(body, unless, sum(paid[one] for one in right), 0)
    return rule._replace(wrong=sum(not_paid[one] for one in wrong if rule.covers(one)))


class _Discovery(Affordances):
    """A judge of steps, useful if rewarded or if they led to a fact new in the episode."""

    def begin(self) -> None:
        super().begin()
        self._facts: set[Triple] = set()

    def useful(self, step: Transition) -> bool:
        facts = set(step.next_obs["triples"])
        new = facts - self._facts - set(step.obs["triples"])
        self._facts |= facts
        return step.reward > 0 or (bool(new) and not step.terminated)


class Symbolic(Policy):
    """A learner of symbolic rules that takes an action with a rule for it, else explores.

    The paper's neural explorer is a trained learner; here it is SayCan's counts of useful forms.

    Args:
        checkpoint: Folder that :meth:`save` wrote; with it, nothing more is learnt.
    """

    def __init__(self, checkpoint: str = "") -> None:
        self._learns = not checkpoint
        self._useful = _Discovery()
        self._paid: dict[str, Counts] = defaultdict(Counter)
        self._not_paid: dict[str, Counts] = defaultdict(Counter)
        self.rules: dict[str, list[ActionRule]] = {}
        self._followed = 0
        self.reset({}, 0)
        if checkpoint:
            self.load(checkpoint)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the examples to a folder."""
        examples = [
            {form: [[sorted(one), n] for one, n in of.items()] for form, of in kept.items()}
            for kept in (self._paid, self._not_paid)
        ]
        Path(path).mkdir(parents=True, exist_ok=True)
        write_atomic(Path(path) / _FILE, json.dumps(examples))

    def load(self, path: str | os.PathLike[str]) -> None:
        """Read the examples of a folder and induce their rules."""
        file = Path(path) / _FILE
        if not file.is_file():
            raise InvalidArgumentError(f"expected {_FILE} of a trained symbolic in {str(path)!r}")
        for kept, record in zip((self._paid, self._not_paid), read_json(file), strict=True):
            for form, of in record.items():
                kept[form] = Counter({frozenset(one): int(n) for one, n in of})
        learnt = [form for form, examples in self._paid.items() if examples]
        self.rules = {form: induce(self._paid[form], self._not_paid[form]) for form in learnt}

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode; rules and counts stay."""
        self._useful.begin()
        self._rng = np.random.default_rng(seed)

    def counters(self) -> dict[str, float]:
        """Return the number of rules, and of steps that rules decided, over all episodes."""
        return {"by_rules": self._followed, "rules": sum(map(len, self.rules.values()))}

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the action of the most reliable rule, among those not tried in this state."""
        obs = playable(obs, info)
        useful = np.array([self._useful.of(obs, action) for action in obs["valid_actions"]])
        found: list[tuple[ActionRule, int]] = []
        for number, (form, *literals) in enumerate(_literals(obs)):
            fresh = not self._useful.tried(obs, obs["valid_actions"][number])
            rule = self._rule(form, frozenset(literals)) if fresh else None
            if rule is not None and rule.confidence > 0.5:
                found.append((rule, number))
        if found:
            rule, number = max(found, key=lambda one: one[0].confidence)
            self._followed += 1
            self.focus = PlanState(thought=f"rule: {rule}")
        else:
            number = int(self._rng.choice(len(useful), p=useful / useful.sum()))
            self.focus = PlanState(thought="explore")
        return obs["valid_actions"][number]

    def _rule(self, form: str, literals: Literals) -> ActionRule | None:
        rules = self.rules.get(form, ())
        return next((rule for rule in rules if rule.covers(literals)), None)

    def update(self, transition: Transition) -> None:
        """Keep the step as an example; induce the rules of its action form again."""
        self._useful.add(transition)
        obs, action = transition.obs, transition.action
        if not self._learns or action not in obs["valid_actions"]:
            return
        form, *literals = _literals(obs)[obs["valid_actions"].index(action)]
        examples = self._paid if transition.reward > 0 else self._not_paid
        examples[form][frozenset(literals)] += 1
        if self._paid[form]:
            self.rules[form] = induce(self._paid[form], self._not_paid[form])


def _literals(obs: Observation) -> list[tuple[str, ...]]:
    """Return, for each valid action, its form and then the facts about its objects."""
    described = map(names_of, describe(obs, Lexicon(_NO_NAME)).actions)
    return [(form, *(one for one in rest if one[:1].isdigit())) for form, *rest in described]
