"""Stable-Baselines3 on text games: plain PPO or MaskablePPO with a features extractor that reads.

SB3 requires arrays of fixed shape and numbered actions, and number ``i`` is another command in
every state. So the extractor is the whole network: its output for the i-th valid action *is* the
logit of number ``i``, and SB3's heads pass it through (:func:`pointed`). ``examples/ppo.py`` trains
one.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, SupportsFloat, TypeVar

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.base import Policy
from gym_memory.baselines.rl.players import locate
from gym_memory.baselines.rl.shared.features import Group, describe, names_of
from gym_memory.baselines.rl.shared.lexicon import Lexicon
from gym_memory.core.errors import CheckpointError, InvalidArgumentError
from gym_memory.core.optional import require
from gym_memory.core.records import Observation, rewarded
from gym_memory.core.settings import Help, check_int, check_share, checked
from gym_memory.core.tensors import read_tensors, write_tensors

if TYPE_CHECKING:
    import torch
    from stable_baselines3.common import torch_layers
else:
    torch = require("torch", "rl", "the RL baselines")
    torch_layers = require("stable_baselines3.common.torch_layers", "rl", "SB3's PPO")

__all__ = ["POLICY", "ActionLogits", "RelationFeatures", "Sb3", "action_logits", "common_names"]
__all__ += ["lexicon_of", "pointed", "save"]

Algorithm = TypeVar("Algorithm", bound=Any)
_NEVER = -1e4
"""Logit of a row without an action."""


def common_names(
    env: gym.Env[dict[str, Any], str], games: int = 20, share: float = 0.8, seed: int = 0
) -> tuple[str, ...]:
    """Return the names and words that occur in a ``share`` of the training games."""
    lexicon, chance = Lexicon(check_share("share", share)), np.random.default_rng(seed)
    for game in range(check_int("games", games, 1)):
        obs, _ = env.reset(seed=game)
        over = False
        while not over and obs["valid_actions"]:
            describe(obs, lexicon, str(game))  # type: ignore[arg-type]
            obs, _, terminated, truncated, _ = env.step(str(chance.choice(obs["valid_actions"])))
            over = terminated or truncated
    words = dict.fromkeys(word for _, *words in lexicon.state() for word in words)
    return tuple(word for word in words if lexicon.common(word))


def lexicon_of(names: Iterable[str]) -> Lexicon:
    """Return a lexicon in which these names alone are common."""
    lexicon = Lexicon(1.0, least=1)
    lexicon.learn("train", names)
    return lexicon


@lru_cache(maxsize=1 << 12)
def _hashed(groups: tuple[Group, ...], size: int, rows: int) -> NDArray[np.int32]:
    features = names_of(groups)[:size]
    found = [1 + zlib.crc32(feature.encode()) % (rows - 1) for feature in features]
    return np.array(found + [0] * (size - len(found)), np.int32)


class RelationFeatures(
    gym.Wrapper[dict[str, Any], np.int64, dict[str, Any], np.int64],
    gym.utils.RecordConstructorArgs,
):
    """Hashed features of the situation and of every numbered action.

    Observation: ``state`` of shape (state,) and ``actions`` of shape (numbered actions, action),
    int32 in [0, rows), 0 for none; longer lists are cut.

    Args:
        env: An environment with memory and numbered actions (``IndexActions``).
        names: The common names (:func:`common_names`).
        rows: Hash values of features, in [2, 2**24], because SB3 casts observations to float32.
        state: Most features of the situation, >= 1.
        action: Most features of each action, >= 1.
    """

    def __init__(
        self,
        env: gym.Env[dict[str, Any], np.int64],
        names: Sequence[str],
        rows: int = 8192,
        state: int = 96,
        action: int = 48,
    ):
        space = env.action_space
        if not isinstance(space, gym.spaces.Discrete):
            raise InvalidArgumentError(
                f"RelationFeatures: expected numbered actions, got {space}: "
                "wrap the environment in IndexActions first"
            )
        self.names = tuple(names)
        self.sizes = {
            "rows": check_int("rows", rows, 2, 2**24),
            "state": check_int("state", state, 1),
            "action": check_int("action", action, 1),
        }
        arguments: dict[str, Any] = {"names": self.names, **self.sizes}
        gym.utils.RecordConstructorArgs.__init__(self, **arguments)
        gym.Wrapper.__init__(self, env)
        self._lexicon = lexicon_of(self.names)
        self.observation_space = _space(int(space.n), **self.sizes)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Reset the environment; encode its observation."""
        obs, info = self.env.reset(seed=seed, options=options)
        return self._encoded(obs, info), info

    def step(
        self, action: np.int64
    ) -> tuple[dict[str, Any], SupportsFloat, bool, bool, dict[str, Any]]:
        """Step the environment; encode its observation and the reward of the step."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        return self._encoded(obs, info), reward, terminated, truncated, info

    def _encoded(self, obs: Any, info: dict[str, Any]) -> dict[str, Any]:
        count, _ = self.observation_space["actions"].shape  # type: ignore[index]
        return _encode(rewarded(obs, info), self._lexicon, count, **self.sizes)


def _space(count: int, rows: int, state: int, action: int) -> gym.spaces.Dict:
    high = rows - 1
    return gym.spaces.Dict(
        {
            "state": gym.spaces.Box(0, high, (state,), np.int32),
            "actions": gym.spaces.Box(0, high, (count, action), np.int32),
        }
    )


def _encode(
    obs: Observation, lexicon: Lexicon, count: int, rows: int, state: int, action: int
) -> dict[str, Any]:
    described = describe(obs, lexicon)
    actions = np.zeros((count, action), np.int32)
    for row, features in zip(actions, described.actions, strict=False):
        row[:] = _hashed(features, action, rows)
    return {"state": _hashed(described.state, state, rows).copy(), "actions": actions}


class ActionLogits(torch_layers.BaseFeaturesExtractor):
    """A network with a logit for every row of actions, and the value of the situation.

    The logit is ``w . tanh(A s + B a + c)`` of the encodings of situation and row; the value sees
    the situation and, for each unit, its maximum over the actions.
    """

    def __init__(self, observation_space: gym.spaces.Dict, dim: int = 64, hidden: int = 64):
        numbered, _ = observation_space["actions"].shape  # type: ignore[misc]
        super().__init__(observation_space, numbered + 1)
        self.sizes = {"dim": dim, "hidden": hidden}
        rows = int(observation_space["state"].high.max()) + 1  # type: ignore[attr-defined]
        self.bag = torch.nn.EmbeddingBag(rows, dim, mode="sum", padding_idx=0)
        self.actor = torch.nn.ModuleList(_mixer(dim, hidden))
        self.critic = torch.nn.ModuleList(_mixer(dim, hidden))
        # A barely trained embedding should have almost no effect.
        torch.nn.init.zeros_(self.bag.weight)

    def forward(self, observations: dict[str, torch.Tensor]) -> torch.Tensor:
        """Return float32 of shape (batch, numbered actions + 1)."""
        state, actions = observations["state"].long(), observations["actions"].long()
        of_state, of_action, head = self.actor
        filled = actions.any(2)
        distinct, where = _distinct(actions.flatten(0, 1), filled.flatten())
        s, a = self.bag(state), self.bag(distinct)

        def spread(values: torch.Tensor) -> torch.Tensor:
            return values[where].unflatten(0, actions.shape[:2])

        mixed = torch.tanh(of_state(s)[:, None] + spread(of_action(a)))
        logits = head(mixed).squeeze(2).masked_fill(~filled, _NEVER)
        of_state, of_action, head = self.critic
        best = spread(of_action(a)).max(dim=1).values
        return torch.cat([logits, head(torch.tanh(of_state(s) + best))], dim=1)


def _distinct(rows: torch.Tensor, filled: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the distinct rows in order, and the index of each row among them.

    Most rows are empty, and the same action occurs in many observations.
    """
    found, numbers = torch.unique(rows[filled], dim=0, return_inverse=True)
    if filled.all():
        return found, numbers
    where = torch.zeros(len(rows), dtype=torch.long, device=rows.device)
    where[filled] = numbers + 1
    return torch.cat([torch.zeros_like(rows[:1]), found]), where


def _mixer(dim: int, hidden: int) -> list[torch.nn.Linear]:
    """Return layers of the situation, of the action, and of both."""
    linear = torch.nn.Linear
    return [linear(dim, hidden), linear(dim, hidden, bias=False), linear(hidden, 1)]


POLICY: dict[str, Any] = {
    "features_extractor_class": ActionLogits,
    "net_arch": [],
    "ortho_init": False,
}
"""``policy_kwargs`` of PPO and MaskablePPO."""


def pointed(model: Algorithm) -> Algorithm:
    """Make SB3's heads pass through the output of :class:`ActionLogits`; return the model.

    Args:
        model: PPO, A2C or MaskablePPO with ``"MultiInputPolicy"`` and ``policy_kwargs=POLICY``.
    """
    policy = model.policy
    width = getattr(policy.features_extractor, "features_dim", 0)
    heads = (policy.action_net, policy.value_net)
    if not isinstance(policy.features_extractor, ActionLogits) or any(
        getattr(head, "in_features", 0) != width for head in heads
    ):
        raise InvalidArgumentError(
            "expected a model made with policy_kwargs=gym_memory.baselines.rl.sb3.POLICY, "
            f"got one whose features come from {type(policy.features_extractor).__name__}"
        )
    rows = torch.eye(width).split([width - 1, 1])
    with torch.no_grad():
        for head, weight in zip(heads, rows, strict=True):
            head.weight.copy_(weight)
            head.bias.zero_()
            head.requires_grad_(False)
    return model


_NAME = "sb3"


def save(path: str | Path, model: Any, **more: Any) -> None:
    """Write the player of a :func:`pointed` model as safetensors; SB3's own files are pickled.

    The header of the file also holds ``more``, JSON-able values.
    """
    network, env = model.policy.features_extractor, model.get_env()
    record = {
        **more,
        "baseline": _NAME,
        "network": network.sizes,
        "sizes": env.get_attr("sizes")[0],
        "names": env.get_attr("names")[0],
    }
    write_tensors(Path(path), network.state_dict(), record)


def action_logits(
    network: Any, obs: Observation, lexicon: Lexicon, sizes: dict[str, int]
) -> NDArray[np.float64]:
    """Return the logit of every valid action; the network takes any number of rows."""
    arrays = _encode(obs, lexicon, len(obs["valid_actions"]), **sizes)
    device = next(network.parameters()).device
    with torch.no_grad():
        given = {key: torch.from_numpy(array)[None].to(device) for key, array in arrays.items()}
        logits: NDArray[np.float64] = network(given)[0, :-1].double().cpu().numpy()
    return logits


class Sb3(Policy):
    """A trained PPO or MaskablePPO of Stable-Baselines3, read from its file."""

    @checked
    def __init__(
        self,
        checkpoint: Annotated[str, Help("File that save() wrote, or shipped.")] = "",
        mode: Annotated[
            Literal["greedy", "sample"],
            Help(
                "greedy, or sample as in training: greedy play of a policy that was trained by "
                "sampling may walk in circles."
            ),
        ] = "greedy",
        repeat_penalty: Annotated[
            float,
            Help(
                "Amount that an action's logit loses each time it is taken after the same text in "
                "an episode.",
                low=0,
            ),
        ] = 0.0,
    ):
        self._mode = mode
        self._penalty = repeat_penalty
        self._chance = np.random.default_rng(0)
        self._tried: Counter[tuple[str, str]] = Counter()
        if not checkpoint:
            raise InvalidArgumentError(
                "expected sb3?checkpoint=FOLDER: make one with 'gym-memory train sb3', or shipped"
            )
        weights, record = read_tensors(locate(checkpoint, _NAME))
        if record.get("baseline") != _NAME:
            raise CheckpointError(
                f"expected a checkpoint of 'sb3' at {checkpoint!r}, "
                f"got one of {record.get('baseline')!r}"
            )
        try:
            self._load(weights, record)
        except (KeyError, RuntimeError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"expected a checkpoint of this version of 'sb3' at {checkpoint!r}: {error!r}"
            ) from error

    def _load(self, weights: dict[str, Any], record: dict[str, Any]) -> None:
        self._sizes, self._lexicon = record["sizes"], lexicon_of(record["names"])
        # The weights are replaced at once: drawing them must not change the global generator.
        with torch.random.fork_rng(devices=[]):
            self._network = ActionLogits(_space(1, **self._sizes), **record["network"])
        self._network.load_state_dict(weights)

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Forget tried actions; seed the sampling."""
        self._chance = np.random.default_rng(seed)
        self._tried.clear()

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return a valid action by its logit; ``look`` if none is listed."""
        actions = obs["valid_actions"]
        if not actions:
            return "look"
        shown = rewarded(obs, info)
        logits = action_logits(self._network, shown, self._lexicon, self._sizes)
        tried = np.array([self._tried[obs["text"], action] for action in actions])
        logits = logits - self._penalty * tried
        if self._mode == "sample":
            chances = np.exp(logits - logits.max())
            number = int(self._chance.choice(len(actions), p=chances / chances.sum()))
        else:
            number = int(logits.argmax())
        self._tried[obs["text"], actions[number]] += 1
        return actions[number]
