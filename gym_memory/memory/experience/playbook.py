"""ACE (2510.04618): a playbook of bullets in sections, counted by the outcome of their use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

from gym_memory.core.records import Outcome, Step, Task
from gym_memory.core.settings import Help
from gym_memory.memory.experience.base import CreditSettings, ExperienceMemory, Trial
from gym_memory.memory.experience.items import Bank, Item, without_numbers
from gym_memory.memory.experience.reasoningbank import extract_items
from gym_memory.memory.roles.llm_experience import LLMCurate, LLMTagBullets

__all__ = ["Playbook", "PlaybookCounts", "PlaybookSettings", "tag_bullets"]

_SECTIONS = ("strategies", "objects", "navigation", "mistakes", "workflows", "troubleshooting",
             "others")  # fmt: skip
_QUOTED = re.compile(r'"([^"]+)"')
_NOT = "Do not do "
_GOOD, _HARM = 5, 2


@dataclass(frozen=True)
class PlaybookSettings(CreditSettings):
    """Settings of ACE's playbook."""

    k: Annotated[int, Help("Bullets to show at most, as far as the budget holds them.", low=1)] = (
        1000
    )
    merge: Annotated[float, Help("Similarity from which bullets merge; .9.", low=-1, high=1)] = 0.9


class PlaybookCounts(NamedTuple):
    """Counts of bullets: good ones have more than 5 helpful and less than 2 harmful uses.

    Problematic ones have at least as many harmful as helpful uses, and some helpful; unused none.
    """

    good: int
    problematic: int
    unused: int
    total: int


class Playbook(ExperienceMemory):
    """ACE: a playbook whose bullets grow, and are counted helpful or harmful.

    After an episode the reflector tags the bullets that it used, and the curator adds bullets to
    sections. A new bullet joins the first one with a similarity of at least ``merge``. The whole
    playbook is shown. If it does not fit, bullets that resemble the goal come first, and bullets
    with more harmful than helpful uses last.

    Differences from the paper: rules reflect and curate by default. A bullet is used if an action
    in it was taken, or was possible and, if it warns, not taken; it is helpful in a won episode and
    harmful in a lost one. There is one reflection, and the agent learns every bullet itself.
    """

    name: ClassVar[str] = "playbook"
    settings_class = PlaybookSettings
    settings: PlaybookSettings
    are_short = True

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        self._reflect = LLMTagBullets.or_rule(self._model, tag_bullets)
        self._curate = LLMCurate.or_rule(self._model, _curate)

    def counts(self) -> PlaybookCounts:
        """Return the statistics that the curator sees."""
        pairs = [_uses(item) for item in self.bank.items.values()]
        return PlaybookCounts(
            good=sum(helpful > _GOOD and harmful < _HARM for helpful, harmful in pairs),
            problematic=sum(harmful >= helpful > 0 for helpful, harmful in pairs),
            unused=sum(helpful + harmful == 0 for helpful, harmful in pairs),
            total=len(pairs),
        )

    def _choose(self, step: Step) -> Sequence[Item]:
        near = [found.item for found in self.bank.nearest(self._task.goal)]
        return sorted(near, key=lambda item: _balance(item) < 0)[: self.settings.k]

    def _write(self, trial: Trial) -> Iterable[Item]:
        outcome = trial.outcome._replace(success=trial.success)
        held = [self.bank.items[id] for id in self._used if id in self.bank.items]
        if trial.worths is None:
            bullets = {_id(item): item.text for item in held}
            tags = self._reflect(trial.trace, outcome, trial.task, bullets)
        else:
            signs = {item: trial.worths.get(item.id, 0.0) for item in held}
            tags = {_id(i): "helpful" if n > 0 else "harmful" for i, n in signs.items() if n}
        for item in held:
            tag = tags.get(_id(item))
            if tag in ("helpful", "harmful"):
                yield item._replace(more=("1", "0") if tag == "helpful" else ("0", "1"))
        book = "\n".join(f"[{_id(i)}] {i.text} (helpful, harmful: {_uses(i)})" for i in held)
        added = self._curate(trial.trace, outcome, trial.task, book, str(self.counts()._asdict()))
        for section, text in added:
            kind = section if section in _SECTIONS else "others"
            yield trial.draft(text, key=text, kind=kind)

    def _add(self, bank: Bank, draft: Item, trial: Trial) -> None:
        if draft.id:
            known = bank.items.get(draft.id)
            if known is not None:
                sums = map(sum, zip(_uses(known), _uses(draft), strict=True))
                bank.put(known._replace(more=tuple(map(str, sums))))
            return
        alike = [near.item for near in bank.nearest(draft.key, least=self.settings.merge)]
        if alike:
            bank.merge(min(alike, key=lambda item: item.id), draft)
        else:
            bank.add(draft)

    def _worths(self, bank: Bank) -> dict[int, float]:
        return {item.id: _balance(item) for item in bank.items.values()}


def _id(item: Item) -> str:
    """Return the bullet's id: its section's slug and five digits."""
    return f"{item.kind[:3]}-{item.id:05d}"


def _uses(item: Item) -> tuple[int, int]:
    """Return helpful and harmful uses."""
    helpful, harmful = item.more or ("0", "0")
    return int(helpful), int(harmful)


def _balance(item: Item) -> int:
    helpful, harmful = _uses(item)
    return helpful - harmful


def tag_bullets(
    trace: Sequence[Step], outcome: Outcome, task: Task, bullets: dict[str, str]
) -> dict[str, str]:
    """Return rule-based tags of the bullets that agree with an action of the trace."""
    taken = {without_numbers(step.action) for step in trace if step.action}
    valid = {without_numbers(action) for step in trace for action in step.valid_actions}
    tag = "helpful" if outcome.success else "harmful"
    tags = {}
    for id, text in bullets.items():
        quoted = set(_QUOTED.findall(text))
        warned = set(_QUOTED.findall(text.partition(_NOT)[2].partition("\n")[0]))
        if taken & (quoted - warned) or (warned & valid and not warned & taken):
            tags[id] = tag
    return tags


def _curate(
    trace: Sequence[Step], outcome: Outcome, task: Task, playbook: str, counts: str
) -> list[tuple[str, str]]:
    section = "workflows" if outcome.success else "mistakes"
    return [(section, text) for text in extract_items(trace, outcome, task)]
