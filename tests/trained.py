"""Assertions on two trainings."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gym_memory.core.tensors import read_tensors
from gym_memory.core.training_folder import TRAINING


def assert_same_training(first: Path, second: Path) -> None:
    """Assert that two folders have the same tensors for resuming a training."""
    one, two = (read_tensors(path / TRAINING)[0] for path in (first, second))
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[name], two[name]) for name in one)
