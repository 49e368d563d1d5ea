"""A saved memory: what cannot be read back is refused, with its file or line."""

import json
import math
from typing import Any

import pytest

from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.files import seal
from gym_memory.core.records import Step, Task
from gym_memory.memory import make_memory
from gym_memory.memory.controls import NoMemory


def spoilt(value: Any) -> Any:
    """Return JSON values with -5 for every whole number."""
    if isinstance(value, dict):
        return {key: spoilt(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [*map(spoilt, value)]
    return -5 if type(value) is int else value


@pytest.mark.parametrize("name", ["arigraph", "stma"])
def test_state_with_damaged_graph_is_refused(name, tmp_path):
    memory = make_memory(name)
    memory.begin(Task("house/0", "Find the key.", "textworld"), 0)
    memory.observe(Step(0, "-= Hall =-\nYou can see a chest. There is an exit to the north."))
    state, path = memory.state(), tmp_path / "wrong.json"
    path.write_bytes(seal(json.dumps({"format": 1, "memory": name, "state": spoilt(state)})))
    with pytest.raises(StoreError, match=r"wrong\.json"):
        memory.load(path)
    assert memory.state() == state


@pytest.mark.parametrize("kept", [{1, 2}, {(1, 2): 3}, math.nan])
def test_state_that_is_not_json_shows_its_line(kept, tmp_path):
    class Own(NoMemory):
        def state(self):
            return {"kept": kept}

    said = r"expected Own\.state to return .*; state is at .*test_memory_files\.py:\d+"
    with pytest.raises(InvalidArgumentError, match=said):
        Own().save(tmp_path / "own.json")
    assert not [*tmp_path.iterdir()]
