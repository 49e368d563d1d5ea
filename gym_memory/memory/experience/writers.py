"""Write experience by rules: the script that won, the end of a failure, where two attempts part."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from gym_memory.core.records import Outcome, Step, Task
from gym_memory.memory.lessons.causes import Act, plan_of, read_acts
from gym_memory.memory.reading import without_numbers

__all__ = ["actions_of", "effective_actions", "listed", "script", "write_lesson"]

_LAST = 5
_MOST_STEPS = 60
_MOST_REFUSED = 5
_GOAL_CHARS = 300
_ANSWER_CHARS = 80


def actions_of(trace: Sequence[Step]) -> tuple[str, ...]:
    """Return the actions of a trace, oldest first."""
    return tuple(step.action for step in trace if step.action)


def script(actions: Iterable[str]) -> list[str]:
    """Return actions without numbers of objects; what then repeats directly is cut.

    >>> script(["go to shelf 1", "go to shelf 2", "go north", "go north"])
    ['go to shelf', 'go north', 'go north']
    """
    steps: list[str] = []
    for action in actions:
        general = without_numbers(action)
        if general == action or steps[-1:] != [general]:
            steps.append(general)
    return steps


def effective_actions(trace: Sequence[Step], acts: Sequence[Act]) -> list[str]:
    """Return the actions of a trial with an effect: a change, or an answer that no other had."""
    answers = Counter(step.text for step in trace)
    texts = [step.text for step in trace[-len(acts) :]] if acts else []
    return [
        act.action
        for act, text in zip(acts, texts, strict=True)
        if act.changed or act.news or answers[text] == 1
    ]


def write_lesson(trace: Sequence[Step], outcome: Outcome, task: Task, other: Sequence[str]) -> str:
    """Write the script of a success, or the last actions and refusals of a failure.

    With ``other``, the actions of an attempt at the same task with the opposite outcome, it begins
    with the first action where the two part.
    """
    acts = read_acts(trace, task)
    own = [act.action for act in acts]
    goal = " ".join(task.goal.split())[:_GOAL_CHARS].replace('"', "'").rstrip(". ")
    lines = [f"Goal: {goal}."]
    if outcome.success:
        steps = plan_of(acts, _on_things_of(goal, acts, trace[-len(acts) :]))
        steps = steps or [act.action for act in acts if act.changed]
    else:
        steps = list(other)
    if steps:
        lines.append(f"These steps won: {listed(script(steps)[:_MOST_STEPS])}.")
    good, bad = (own, other) if outcome.success else (other, own)
    part = next((n for n, (a, b) in enumerate(zip(good, bad, strict=False)) if a != b), None)
    if part is not None:
        after = f'After "{good[part - 1]}"' if part else "At the start"
        lines.append(f"{after} a failed attempt did not go on the same way.")
        lines.append(f'Do "{good[part]}" then.\nDo not do "{bad[part]}" then.')
    elif not outcome.success:
        refused = {
            act.action: trace[-len(acts) :][act.number].text
            for act in acts
            if not (act.changed or act.news)
        }
        for action, answer in list(refused.items())[-_MOST_REFUSED:]:
            lines.append(f'Do not do "{action}": {_first(answer)}.')
        if own:
            lines.append(f"An attempt failed; its end may not contribute: {listed(own[-_LAST:])}.")
    return "\n".join(lines)


def listed(actions: Iterable[str]) -> str:
    """Return actions in quotes, separated by commas."""
    return ", ".join('"{}"'.format(" ".join(a.split())[:200].replace('"', "'")) for a in actions)


def _on_things_of(goal: str, acts: Sequence[Act], steps: Sequence[Step]) -> list[int]:
    """Return the acts on a thing of the goal that changed something or had an answer of their own.

    Heating a thing changes neither place nor inventory, and no points may rest on it.
    """
    words, answers = set(goal.lower().split()), Counter(step.text for step in steps)
    return [
        act.number
        for act, step in zip(acts, steps, strict=True)
        if act.things
        and words.intersection(without_numbers(act.things[0]).split())
        and (act.changed or answers[step.text] == 1)
    ]


def _first(answer: str) -> str:
    sentence = re.split(r"[.!?\n]", answer.strip(), maxsplit=1)[0]
    return sentence[:_ANSWER_CHARS].replace('"', "'") or "no answer"
