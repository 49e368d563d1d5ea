"""ExpeL (2308.10144): counted rules from comparisons, and examples of the nearest successes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

from gym_memory.core.records import Step
from gym_memory.core.settings import Help
from gym_memory.memory.experience.base import ExperienceMemory, ExperienceSettings, Trial
from gym_memory.memory.experience.items import Bank, Item, listed, without_numbers
from gym_memory.memory.roles.llm_experience import LLMEditRules

__all__ = ["ExpeL", "ExpeLSettings", "ExpelRule", "edit_rules"]

_RULE = "rule"
_NEW, _GAIN, _LOSS, _LOSS_FULL, _MARGIN = 2, 1, 1, 3, 5
_ORDER = ("REMOVE", "AGREE", "EDIT", "ADD")
_QUOTED = re.compile(r'"([^"]+)"')
_MOST_ADDED = 2

Edit = tuple[str, int, str]
"""ADD, AGREE, EDIT or REMOVE, the number of the rule from 1 (0 for ADD), and a text."""


@dataclass(frozen=True)
class ExpeLSettings(ExperienceSettings):
    """Settings of ExpeL."""

    k: Annotated[int, Help("Examples of successes to show; 2 in households.", low=0)] = 2
    rules: Annotated[int, Help("Rules from which the list is full; 20.", low=1)] = 20
    chunk: Annotated[int, Help("Successes that are compared together; 8.", low=1)] = 8


class ExpelRule(NamedTuple):
    """A rule with its counter; ``place`` is its place before the operations, None if it is new."""

    text: str
    counter: int
    place: int | None = None


class ExpeL(ExperienceMemory):
    """ExpeL: rules that operations add, agree with, edit and remove, and worked examples.

    After a trial operations come from a success and a failure at the same task, and after every
    ``chunk`` successes from these. A rule starts at 2; AGREE and EDIT add 1, REMOVE takes 1, or 3
    if the list has 5 more than ``rules``; at 0 it goes. All rules are shown, and the ``k`` nearest
    successes, the shortest of each task.

    Differences from the paper: rules are mined by default. A candidate is an action, without
    numbers, that the success has and the failure lacks, or that all of a chunk have. A success
    that has it agrees, a failure that has it removes. Retries are left to the protocol ``trials``.
    """

    name: ClassVar[str] = "expel"
    settings_class = ExpeLSettings
    settings: ExpeLSettings
    are_short = True

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        self._edit = LLMEditRules(self._model, lambda *_: []) if self._model else None

    def _write(self, trial: Trial) -> Iterable[Item]:
        example = trial.draft(self._lesson(trial.trace, trial.outcome, trial.task, ()))
        past = [item for item in self.bank.items.values() if item.kind != _RULE]
        rules = self._rules(self.bank)
        edits: list[Edit] = []
        opposite = "failure" if trial.success else "success"
        same = [i for i in past if i.kind == opposite and i.origins[0].task == trial.task.id]
        if same:
            pair = (example, same[-1]) if trial.success else (same[-1], example)
            edits += self._compare(*pair, rules)
        wins = [i for i in past if i.kind == "success"] + [example] * trial.success
        if trial.success and len(wins) % self.settings.chunk == 0:
            edits += self._compare_wins(wins[-self.settings.chunk :], rules)
        if self._edit is None:
            edits = [*_judge(example, rules), *edits]
        flat = [part for verb, number, text in edits for part in (verb, str(number), text)]
        return [example, trial.draft("", kind=_RULE, more=tuple(flat))]

    def _compare(self, won: Item, lost: Item, rules: Sequence[ExpelRule]) -> list[Edit]:
        if self._edit is not None:
            trials = [f"Failure: {lost.text}", f"Success: {won.text}"]
            return self._ask(trials, rules)
        missed = _kinds(lost)
        new = [k for k in _kinds(won) if k not in missed and listed([k]) in won.text]
        return self._candidates(new, rules)

    def _compare_wins(self, wins: Sequence[Item], rules: Sequence[ExpelRule]) -> list[Edit]:
        if self._edit is not None:
            return self._ask([f"Success: {item.text}" for item in wins], rules)
        count = Counter(kind for item in wins for kind in _kinds(item))
        return self._candidates([kind for kind, n in count.items() if n == len(wins)], rules)

    def _ask(self, trials: Sequence[str], rules: Sequence[ExpelRule]) -> list[Edit]:
        assert self._edit is not None
        full = len(rules) >= self.settings.rules
        found: list[Edit] = self._edit(trials, [rule.text for rule in rules], full)
        return found

    def _candidates(self, kinds: Sequence[str], rules: Sequence[ExpelRule]) -> list[Edit]:
        if len(rules) >= self.settings.rules:
            return []
        known = " ".join(rule.text for rule in rules)
        new = [kind for kind in kinds if listed([kind]) not in known][:_MOST_ADDED]
        return [("ADD", 0, f"It helps to do {listed([kind])}.") for kind in new]

    def _add(self, bank: Bank, draft: Item, trial: Trial) -> None:
        if draft.kind != _RULE:
            bank.add(draft)
            return
        held = self._held(bank)
        parts = iter(draft.more)
        edits = [(verb, int(number), text) for verb, number, text in zip(parts, parts, parts)]  # noqa: B905
        edited = edit_rules(self._rules(bank), edits, self.settings.rules)
        for rule in edited:
            if rule.place is None:
                new = draft._replace(text=rule.text, key=rule.text, more=())
                bank.add(new._replace(utility=float(rule.counter)))
            else:
                old = held[rule.place]
                changed = old._replace(text=rule.text, key=rule.text, utility=float(rule.counter))
                if changed.text != old.text:
                    bank.merge(changed, draft)
                else:
                    bank.put(changed)
        for place in set(range(len(held))) - {rule.place for rule in edited}:
            bank.remove(held[place].id)

    def _held(self, bank: Bank) -> list[Item]:
        """Return the items of the rules, highest counter first; ties go to the older."""
        return sorted(bank.of_kind(_RULE), key=lambda item: -item.utility)

    def _rules(self, bank: Bank) -> list[ExpelRule]:
        return [ExpelRule(i.text, int(i.utility), n) for n, i in enumerate(self._held(bank))]

    def _worths(self, bank: Bank) -> dict[int, float]:
        worths = super()._worths(bank)
        return {id: worths[id] if bank.items[id].kind == _RULE else 0.0 for id in worths}

    def _choose(self, step: Step) -> Sequence[Item]:
        near = self.bank.nearest(self._task.goal, where=lambda item: item.kind == "success")
        shots: dict[str, Item] = {}
        for item in (found.item for found in near[: 4 * self.settings.k]):
            rival = shots.setdefault(item.origins[0].task, item)
            if len(item.actions) < len(rival.actions):
                shots[item.origins[0].task] = item
        return [*list(shots.values())[: self.settings.k], *self._held(self.bank)]


def _kinds(item: Item) -> dict[str, None]:
    return dict.fromkeys(map(without_numbers, item.actions))


def _judge(example: Item, rules: Sequence[ExpelRule]) -> list[Edit]:
    verb, kinds = "AGREE" if example.kind == "success" else "REMOVE", _kinds(example)
    return [
        (verb, number, rule.text)
        for number, rule in enumerate(rules, 1)
        if (quoted := _QUOTED.findall(rule.text)) and all(kind in kinds for kind in quoted)
    ]


def edit_rules(rules: Sequence[ExpelRule], edits: Iterable[Edit], most: int) -> list[ExpelRule]:
    """Apply operations in the order REMOVE, AGREE, EDIT, ADD (authors' code).

    An EDIT whose text contains a rule agrees with that rule. An ADD that contains one, an unknown
    number and a text without a full stop are dropped. Returns rules with a counter above 0, the
    highest first.

    >>> edit_rules([ExpelRule("Look first.", 2)], [("AGREE", 1, ""), ("ADD", 0, "Go on.")], 20)
    [ExpelRule(text='Look first.', counter=3, place=0),
     ExpelRule(text='Go on.', counter=2, place=None)]
    """
    held = [rule._replace(place=place) for place, rule in enumerate(rules)]
    loss = _LOSS_FULL if len(held) >= most + _MARGIN else _LOSS
    for verb, number, text in sorted(edits, key=lambda edit: _ORDER.index(edit[0])):
        at, known = number - 1, [rule.text for rule in held]
        if verb == "ADD":
            if text.endswith(".") and not any(old in text for old in known):
                held.append(ExpelRule(text, _NEW))
            continue
        if verb == "EDIT":
            contained = next((n for n, old in enumerate(known) if old in text), None)
            if contained is not None:
                verb, at = "AGREE", contained
            elif not text.endswith("."):
                continue
        if not 0 <= at < len(rules):
            continue
        rule = held[at]
        gain = -loss if verb == "REMOVE" else _GAIN
        held[at] = rule._replace(
            counter=rule.counter + gain, text=text if verb == "EDIT" else rule.text
        )
    return sorted((rule for rule in held if rule.counter > 0), key=lambda rule: -rule.counter)
