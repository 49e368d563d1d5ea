"""The players that ship are small, and are named where one is missing."""

from __future__ import annotations

import pytest

from gym_memory.baselines.base import make_policy
from gym_memory.core.errors import UnknownNameError

pytest.importorskip("torch", reason="needs the extra rl")
checkpoints = pytest.importorskip("gym_memory.baselines.rl.shared.checkpoints")

pytestmark = pytest.mark.slow

NAMES = sorted(path.stem for path in checkpoints.SHIPPED.glob("*.safetensors"))


def test_what_ships_is_small_and_known() -> None:
    assert "gata" in NAMES
    assert sum(path.stat().st_size for path in checkpoints.SHIPPED.iterdir()) < 5_000_000
    with pytest.raises(UnknownNameError, match="gata"):
        make_policy("a2c?checkpoint=shipped")
