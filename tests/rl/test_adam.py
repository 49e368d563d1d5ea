"""The optimizer of the learners: bits equal to torch's, without importing its compiler."""

from __future__ import annotations

from typing import Any

import pytest

from gym_memory.baselines.rl.shared.adam import Adam
from gym_memory.core.tensors import flattened, load_moments, nested

pytestmark = pytest.mark.slow  # imports torch


def network() -> Any:
    import torch

    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(5, 70), torch.nn.Tanh(), torch.nn.Linear(70, 3))


def descend(net: Any, optimizer: Any, steps: range) -> None:
    """Take steps; the first layer has a gradient in every other one, the last bias in none."""
    import torch

    net[2].bias.requires_grad = False
    for step in steps:
        net[0].weight.requires_grad = step % 2 == 0
        optimizer.zero_grad()
        given = torch.randn(4, 5, generator=torch.Generator().manual_seed(step))
        net(given).square().sum().backward()
        optimizer.step()


def moments(optimizer: Any) -> dict[str, Any]:
    """Return an optimizer's state as a checkpoint holds it."""
    return flattened({"adam": optimizer.state_dict()["state"]})


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_weights_and_moments_have_the_bits_of_torch(decay: float) -> None:
    import torch

    kind = torch.optim.AdamW if decay else torch.optim.Adam
    ours, theirs = network(), network()
    mine = Adam(ours.parameters(), 3e-3, decay)
    torchs = kind(theirs.parameters(), lr=3e-3, weight_decay=decay, fused=True)
    descend(ours, mine, range(20))
    descend(theirs, torchs, range(20))
    kept = moments(mine)
    assert kept.keys() == moments(torchs).keys()
    # Each goes on from what the other kept.
    load_moments(mine, nested(moments(torchs))["adam"])
    load_moments(torchs, nested(kept)["adam"])
    descend(ours, mine, range(20, 30))
    descend(theirs, torchs, range(20, 30))
    assert all(map(torch.equal, ours.parameters(), theirs.parameters()))
    assert not all(map(torch.equal, ours.parameters(), network().parameters()))
    left, right = moments(mine), moments(torchs)
    assert all(torch.equal(left[name], right[name]) for name in left | right)


UPDATE = """
import sys
from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings
learner = DrrnLearner(DrrnSettings())
learner.descend(sum(p.square().sum() for p in learner.online.parameters()))
print("torch" in sys.modules, "torch._dynamo" in sys.modules)
"""


def test_training_imports_no_compiler(python: Any) -> None:
    assert python(UPDATE).split() == ["True", "False"]
