"""Provide an agent's prior knowledge: rules of the game, and examples of other games."""

from __future__ import annotations

import functools
import re
from importlib import resources

from gym_memory.core.errors import UnknownNameError

__all__ = ["KNOWLEDGE", "examples_of", "rules_of"]

_GAME = "game"
"""Setting for the rules of the current game."""
_TURNS = "There are 50 turns."
_COOKING = """Read the cookbook in the kitchen first: it names the ingredients and what to do.
Each ingredient in the inventory, each right cut and each right heating scores 1 point, and so does
preparing the meal; eat it to finish.
Cut with a knife in the inventory: slice, chop or dice, exactly as the recipe says.
Grill with the BBQ, fry with the stove, roast with the oven; another appliance, another cut, or
heating a thing twice loses the game. What is grilled, fried or roasted already stays as it is.
Open a closed door, fridge or other container before going through or taking things out."""
KNOWLEDGE = {"cooking": f"{_COOKING}\n{_TURNS}"}
"""Rules of the game by name, from STMA's A.1 and Table 3."""

_KINDS = ("alfworld", "scienceworld", "webshop")
_EXAMPLE_ORDERS = ((0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1))
"""ReAct's six prompts for ALFWorld: two of three examples of a task type, in either order."""
_SECTION = re.compile(r"^# (.*)$", re.MULTILINE)


def rules_of(setting: str, task_id: str) -> str:
    """Return the rules of a setting: a text, a name, or ``game`` for the task's own.

    >>> rules_of("game", "cooking/stma-1/test/0").splitlines()[-1], rules_of("game", "fetch/easy")
    ('There are 50 turns.', '')
    """
    if setting != _GAME:
        return KNOWLEDGE.get(setting, setting)
    if not task_id.startswith("cooking/"):
        return ""
    return KNOWLEDGE["cooking"] if task_id.startswith("cooking/stma-") else _COOKING


def examples_of(setting: str, task_id: str, *, thoughts: bool = True) -> str:
    """Return the example episodes of a setting; empty for an empty one.

    Args:
        setting: ``alfworld`` (``alfworld-1`` to ``alfworld-6`` for ReAct's prompts),
            ``scienceworld`` or ``webshop``.
        task_id: Current task, whose type selects the examples.
        thoughts: Whether to include the thoughts before actions.
    """
    if not setting:
        return ""
    name, _, number = setting.partition("-")
    chosen = int(number) if number.isdigit() else 1
    if name not in _KINDS or not 1 <= chosen <= len(_EXAMPLE_ORDERS):
        raise UnknownNameError("examples", setting, _KINDS)
    sections = _sections(name)
    kind = next((kind for kind in sections if kind and kind in task_id), next(iter(sections)))
    played = sections[kind]
    if len(played) > 2:
        played = tuple(played[at] for at in _EXAMPLE_ORDERS[chosen - 1])
    text = "\n\n".join(played)
    return text if thoughts else re.sub(r"^Thought: .*\n", "", text, flags=re.MULTILINE)


@functools.cache
def _sections(name: str) -> dict[str, tuple[str, ...]]:
    """Return the examples of a file by task type, empty for examples without a type."""
    text = resources.files("gym_memory.llm.prompts").joinpath("examples", f"{name}.txt")
    _, *parts = _SECTION.split(text.read_text("utf-8"))
    found: dict[str, tuple[str, ...]] = {}
    for task, played in zip(parts[::2], parts[1::2], strict=True):
        kind = task.split("/")[1] if name == "alfworld" else ""
        found[kind] = (*found.get(kind, ()), played.strip())
    return found
