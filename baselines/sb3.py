"""Stable-Baselines3 on text games: MaskablePPO (sb3-contrib) with a pointer head.

SB3 wants arrays of fixed shape and actions by number. Number ``i`` means another command in every
state, so a usual head, which has a weight vector for each number, has nothing to learn from. A
*pointer head* makes the logit of number ``i`` from the content of row ``i``: the features of the
i-th valid action, next to those of the situation. They are the relations that DRRN sees
(:mod:`gym_memory.baselines.learning.features`), hashed, so there is no table of words to build.

::

    env = RelationFeatures(IndexActions(make_env("Cooking", level="rl-1", ...)), lexicon)
    model = MaskablePPO(PointerPolicy, env)
    model.learn(50_000)

SB3 brings its own loop, so this one is trained by ``benchmarks/rl/sb3_cooking.py`` and not by
``gym-memory train``; what it learnt is then played by ``gym-memory run -p sb3?checkpoint=FILE``.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.base import Policy
from gym_memory.baselines.learning import checkpoints
from gym_memory.baselines.learning.features import Lexicon, describe
from gym_memory.checks import check_amount
from gym_memory.errors import CheckpointError, InvalidArgumentError, UnknownNameError
from gym_memory.optional import require
from gym_memory.types import Observation

if TYPE_CHECKING:
    import torch
    from sb3_contrib.common.maskable import policies
    from stable_baselines3.common import torch_layers
else:
    torch = require("torch", "rl", "the RL baselines")
    policies = require("sb3_contrib.common.maskable.policies", "rl", "MaskablePPO")
    torch_layers = require("stable_baselines3.common.torch_layers", "rl", "MaskablePPO")

__all__ = ["PointerPolicy", "RelationFeatures", "Sb3", "Sizes", "save"]


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Shapes of the arrays.

    Attributes:
        rows: Numbers that a feature may get, 0 for none included; at most 2**24, because SB3
            casts observations to float32.
        state: Features of the situation that are kept.
        action: Features of each action that are kept.
        actions: Valid actions that have a number.
    """

    rows: int = 8192
    state: int = 96
    action: int = 48
    actions: int = 64

    def space(self) -> gym.spaces.Dict:
        """The observation space."""
        high = self.rows - 1
        return gym.spaces.Dict(
            {
                "state": gym.spaces.Box(0, high, (self.state,), np.int32),
                "actions": gym.spaces.Box(0, high, (self.actions, self.action), np.int32),
            }
        )


def encode(obs: Observation, lexicon: Lexicon, sizes: Sizes, game: str = "") -> dict[str, Any]:
    """Features of an observation as arrays of :meth:`Sizes.space`; what is longer is cut.

    Args:
        obs: The observation.
        lexicon: Which names are common.
        sizes: The shapes.
        game: The training game, which the lexicon learns from; empty while evaluating.
    """
    described = describe(obs, lexicon, game)
    state = np.zeros(sizes.state, np.int32)
    _fill(state, described.state, sizes.rows)
    actions = np.zeros((sizes.actions, sizes.action), np.int32)
    for row, features in zip(actions, described.actions, strict=False):
        _fill(row, features, sizes.rows)
    return {"state": state, "actions": actions}


def _fill(row: NDArray[np.int32], features: Iterable[str], rows: int) -> None:
    found = [1 + zlib.crc32(feature.encode()) % (rows - 1) for feature in features][: len(row)]
    row[: len(found)] = found


class RelationFeatures(gym.ObservationWrapper[dict[str, Any], np.int64, dict[str, Any]]):
    """Hashed features of the situation and of every numbered action.

    Goes around ``IndexActions``. Not rebuilt from a spec: environments of one training share the
    lexicon, which learns which names are common.

    Args:
        env: An environment with memory and numbered actions.
        lexicon: Which names are common.
        sizes: The shapes; ``actions`` must be the number of actions of ``env``.
        train: Whether the lexicon learns from these games.

    Raises:
        InvalidArgumentError: The actions are not numbered, or their number differs.
    """

    def __init__(
        self,
        env: gym.Env[dict[str, Any], np.int64],
        lexicon: Lexicon,
        sizes: Sizes | None = None,
        train: bool = True,
    ):
        super().__init__(env)
        self.sizes = sizes or Sizes()
        space = env.action_space
        if not isinstance(space, gym.spaces.Discrete) or space.n != self.sizes.actions:
            raise InvalidArgumentError(
                f"expected {self.sizes.actions} numbered actions, got {space}: "
                f"wrap the environment in IndexActions(env, {self.sizes.actions}) first"
            )
        self._lexicon, self._train = lexicon, train
        self.observation_space = self.sizes.space()

    def observation(self, observation: Any) -> dict[str, Any]:
        """Encode one observation."""
        task_id = self.env.get_wrapper_attr("task_id") if self._train else ""
        return encode(observation, self._lexicon, self.sizes, task_id)


class _Content(torch_layers.BaseFeaturesExtractor):
    """Bags to vectors; the situation's, then each action's, end to end.

    Args:
        observation_space: Of :meth:`Sizes.space`.
        dim: Size of a vector.
    """

    def __init__(self, observation_space: gym.spaces.Dict, dim: int = 64):
        numbered, _ = observation_space["actions"].shape  # type: ignore[misc]
        super().__init__(observation_space, (1 + numbered) * dim)
        rows = int(observation_space["state"].high.max()) + 1  # type: ignore[attr-defined]
        self.bag = torch.nn.EmbeddingBag(rows, dim, mode="sum", padding_idx=0)
        # What was hardly trained should say hardly anything.
        torch.nn.init.zeros_(self.bag.weight)

    def forward(self, observations: dict[str, torch.Tensor]) -> torch.Tensor:
        """Float32 of shape (batch, (1 + actions) * dim)."""
        state, actions = observations["state"].long(), observations["actions"].long()
        encoded = torch.cat([self.bag(state)[:, None], self._actions(actions)], dim=1)
        return encoded.flatten(1)

    def _actions(self, actions: torch.Tensor) -> torch.Tensor:
        # Most rows are empty, and the same action stands in many observations.
        distinct, where = torch.unique(actions.flatten(0, 1), dim=0, return_inverse=True)
        return self.bag(distinct)[where].unflatten(0, actions.shape[:2])


class _Head(torch.nn.Module):
    """Reads what :class:`_Content` gives: the situation, then the actions."""

    def __init__(self, dim: int, hidden: int):
        super().__init__()
        self.dim = dim
        self.of_state = torch.nn.Linear(dim, hidden)
        self.of_action = torch.nn.Linear(dim, hidden, bias=False)
        self.head = torch.nn.Linear(hidden, 1)


class _Pointer(_Head):
    """Logit of every row from its own content and the situation's: w . tanh(A s + B a + c)."""

    def forward(self, latent: torch.Tensor) -> torch.Tensor:
        encoded = latent.unflatten(1, (-1, self.dim))
        mixed = self.of_state(encoded[:, :1]) + self.of_action(encoded[:, 1:])
        return self.head(torch.tanh(mixed)).squeeze(2)


class _Critic(_Head):
    """Value of the situation and of the best that each unit finds among the actions."""

    def forward(self, latent: torch.Tensor) -> torch.Tensor:
        encoded = latent.unflatten(1, (-1, self.dim))
        best = self.of_action(encoded[:, 1:]).max(dim=1).values
        return self.head(torch.tanh(self.of_state(encoded[:, 0]) + best))


class PointerPolicy(policies.MaskableActorCriticPolicy):
    """A policy for MaskablePPO whose logits come from the content of the actions.

    Args:
        observation_space: Of :meth:`Sizes.space`.
        action_space: ``Discrete`` with as many numbers as there are rows of actions.
        lr_schedule: SB3's.
        dim: Size of an encoding.
        hidden: Width of the layer over situation and action.
        **kwargs: SB3's.
    """

    def __init__(
        self,
        observation_space: gym.spaces.Dict,
        action_space: gym.spaces.Discrete,
        lr_schedule: Any,
        dim: int = 64,
        hidden: int = 64,
        **kwargs: Any,
    ):
        self._sizes = (dim, hidden)
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            net_arch=[],
            ortho_init=False,
            features_extractor_class=_Content,
            features_extractor_kwargs={"dim": dim},
            **kwargs,
        )

    def _build(self, lr_schedule: Any) -> None:
        self._build_mlp_extractor()
        self.action_net = _Pointer(*self._sizes)
        self.value_net = _Critic(*self._sizes)  # type: ignore[assignment]
        options = {"lr": lr_schedule(1), **self.optimizer_kwargs}
        self.optimizer = self.optimizer_class(self.parameters(), **options)


_NAME = "sb3"


def save(path: Path, policy: PointerPolicy, lexicon: Lexicon, sizes: Sizes) -> None:
    """Write what playing needs as safetensors and JSON; SB3's own files are pickled.

    Raises:
        CheckpointError: It cannot be written there.
    """
    dim, hidden = policy._sizes
    record = {
        "baseline": _NAME,
        "sizes": dataclasses.asdict(sizes),
        "policy": {"dim": dim, "hidden": hidden},
        "share": lexicon.share,
        "lexicon": lexicon.state(),
    }
    checkpoints.write(path, policy.state_dict(), record)


_MODES = ("greedy", "sample")


class Sb3(Policy):
    """Plays what MaskablePPO has learnt.

    Args:
        checkpoint: What :func:`save` wrote.
        mode: ``greedy``, the valid action of the largest logit, or ``sample``, one by the chances
            that training gave them: greedy play of a policy that was trained by sampling may walk
            in circles.
        repeat_penalty: What an action's logit loses for each time that it was taken after the same
            text in this episode, >= 0.

    Raises:
        InvalidArgumentError: No checkpoint is given, or a number is wrong.
        UnknownNameError: ``mode`` is neither.
        CheckpointError: It cannot be read, or is one of another baseline.
    """

    name = _NAME

    def __init__(self, checkpoint: str = "", mode: str = "greedy", repeat_penalty: float = 0.0):
        if mode not in _MODES:
            raise UnknownNameError("mode", str(mode), _MODES)
        self._mode = mode
        self._penalty = check_amount("repeat_penalty", repeat_penalty)
        self._chance = np.random.default_rng(0)
        self._tried: Counter[tuple[str, str]] = Counter()
        if not checkpoint:
            raise InvalidArgumentError(
                "expected sb3?checkpoint=FILE: make one with 'python benchmarks/rl/sb3_cooking.py'"
            )
        tensors, record = checkpoints.read(Path(checkpoint))
        if record.get("baseline") != _NAME:
            raise CheckpointError(
                f"expected a checkpoint of 'sb3' at {checkpoint!r}, "
                f"got one of {record.get('baseline')!r}"
            )
        try:
            self._load(tensors, record)
        except (KeyError, RuntimeError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"expected a checkpoint of this version of 'sb3' at {checkpoint!r}: {error!r}"
            ) from error

    def _load(self, tensors: dict[str, Any], record: dict[str, Any]) -> None:
        self._sizes = Sizes(**record["sizes"])
        self._lexicon = Lexicon(record["share"])
        self._lexicon.load_state(record["lexicon"])
        space = gym.spaces.Discrete(self._sizes.actions)
        # The weights are replaced at once: nobody else's chance should pay for them.
        with torch.random.fork_rng(devices=[]):
            self._policy = PointerPolicy(
                self._sizes.space(), space, lambda _: 0.0, **record["policy"]
            )
        self._policy.load_state_dict(tensors)

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Forget what was tried; seeds the sampling."""
        self._chance = np.random.default_rng(seed)
        self._tried.clear()

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """A valid action by its logit; ``look`` where none is listed."""
        actions = obs["valid_actions"]
        if not actions:
            return "look"
        # The head takes any number of rows, so none is left out and none is masked.
        sizes = dataclasses.replace(self._sizes, actions=len(actions))
        arrays = encode(obs, self._lexicon, sizes)
        with torch.no_grad():
            latent = self._policy.extract_features(
                {key: torch.from_numpy(array)[None] for key, array in arrays.items()}
            )
            logits = self._policy.action_net(latent)[0].double().numpy()
        tried = np.array([self._tried[obs["text"], action] for action in actions])
        logits = logits - self._penalty * tried
        if self._mode == "sample":
            chances = np.exp(logits - logits.max())
            number = int(self._chance.choice(len(actions), p=chances / chances.sum()))
        else:
            number = int(logits.argmax())
        self._tried[obs["text"], actions[number]] += 1
        return actions[number]
