"""What policies that ask a language model share: the model, the transcript, the valid action.

A policy fills the slots of its prompts from the observation and its own recent transcript, asks,
and returns a valid action. A call that fails for good, or an answer that cannot be used, never
ends the episode: another action stands in, and :meth:`LanguagePolicy.counters` says how often.
A model that is not set up right and a budget that is spent are raised.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.core.errors import InvalidArgumentError, ModelError
from gym_memory.core.names import parse_spec
from gym_memory.core.records import Observation, Transition
from gym_memory.core.settings import check_flag, check_int, check_number
from gym_memory.core.tokens import CHARS_PER_TOKEN
from gym_memory.llm import MODELS, ChatModel, Message, Reply, Request, model_spec
from gym_memory.llm.forms import Form
from gym_memory.llm.prompts import Prompt, load_prompt
from gym_memory.memory.reading import entry_head

__all__ = ["LanguagePolicy", "LanguageSettings", "fill", "match_action"]

Answer = TypeVar("Answer")

_ARTICLE = re.compile(r"\b(?:the|a|an)\s+")
_SEARCH = re.compile(r"search\[.+\]")
_AGAIN = "Answer again in the same form, with one of the possible actions as it is written there."
_NOISE = " \t\n\"'`*.!>"


@dataclasses.dataclass(frozen=True)
class LanguageSettings:
    """What an agent that asks a chat model can be told; an agent with more of it subclasses this.

    An agent that fixes one of these declares it anew with ``init=False``.

    Attributes:
        llm: A chat model or its spec, ``openai`` (all from the environment) or
            ``transformers?model=...``; inside the name of a policy a spec is quoted, see
            :func:`gym_memory.core.names.format_spec`.
        model: Shorthand for the model's parameter ``model``; ``smollm`` is the model that comes
            with a package, in this process, unless a ``base_url`` says where else.
        base_url: Shorthand for the model's parameter ``base_url``.
        history: Past observations to show at most, >= 0; None for all that fit. Where there is
            one too many the older half goes at once, so that the prompt begins as it did at the
            step before, most of the time, and a server's prefix cache keeps it.
        history_tokens: Tokens that the past observations may take together, >= 0; likewise.
        temperature: Sampling temperature, >= 0; 0.2 in the AriGraph authors' code.
        constrain: Whether answers are held to the valid actions while they are written, by local
            weights or by a server that takes JSON schemas; needs an environment that lists them.

    Raises:
        InvalidArgumentError: A number is out of range.
    """

    llm: str | ChatModel = "openai"
    model: str = ""
    base_url: str = ""
    _: dataclasses.KW_ONLY
    history: int | None = 5
    history_tokens: int = 400
    temperature: float = 0.2
    constrain: bool = False

    def __post_init__(self) -> None:
        if self.history is not None:
            check_int("history", self.history, 0)
        check_int("history_tokens", self.history_tokens, 0)
        check_number("temperature", self.temperature, low=0)
        check_flag("constrain", self.constrain)


class LanguagePolicy(Policy):
    """Base of the policies that ask a chat model.

    An agent names its settings and sets up the rest in :meth:`set_up`: what it is built from, by
    a call or by a name with parameters, are the fields of ``settings_class``.

    Args:
        *args: The first three settings may go without their names.
        **kwargs: Settings.

    Attributes:
        settings: The settings.
        llm: The chat model, built.
        fallbacks: Calls that gave no usable answer, so that a rule stood in.
        invalid_actions: Decisions that named no valid action, so that one by chance stood in.
        asked_again: Answers that named no valid action, so that the model was asked once more.

    Raises:
        InvalidArgumentError: A number is out of range.
        UnknownNameError: Unknown kind of model or parameter.
        ModelSetupError: The model cannot be used as it is set up.
    """

    settings_class: ClassVar[type[LanguageSettings]] = LanguageSettings
    settings: LanguageSettings
    max_tokens: int = 512
    """Most tokens of an answer."""
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let every reader of signatures see the settings: registries, presets, the list."""
        super().__init_subclass__(**kwargs)
        own = vars(cls).get("__init__")
        signature = inspect.signature(own or cls.settings_class)
        parameters = list(signature.parameters.values())[own is not None :]
        cls.__signature__ = signature.replace(parameters=parameters)

    def __init__(self, *args: Any, **kwargs: Any):
        self.settings = self.settings_class(*args, **kwargs)
        shorthands = {"model": self.settings.model, "base_url": self.settings.base_url}
        self.llm = _model(self.settings.llm, shorthands)
        self.fallbacks = self.invalid_actions = self.asked_again = 0
        self._begin(None)
        self.set_up()

    def set_up(self) -> None:
        """Make what an agent has beside settings and model; called once, at construction."""

    def _begin(self, seed: int | None) -> None:
        self._rng = np.random.default_rng(seed)
        self._past: list[str] = []  # the turns of the transcript
        self._acted = False
        self._head = _head(0, "")  # what led to the present observation
        self._thought = ""
        self.focus = ""

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode without a plan and without a past."""
        self._begin(seed)

    def update(self, transition: Transition) -> None:
        """Keep the observation that was acted on."""
        lines = [line for line in _shown_text(transition.obs).splitlines() if line.strip()]
        self._keep("\n".join([self._head, *lines]))
        self._head = _head(transition.info["moves"], transition.action, self._thought)
        self._thought, self._acted = "", True

    def _keep(self, turn: str) -> None:
        """Add a turn to the transcript; where that is too much, drop its older half."""
        room = self.settings.history_tokens * CHARS_PER_TOKEN
        if len(turn) > room:
            turn = f"{turn[:room]} [...]" if room > len(self._head) else ""
        self._past += [turn] if turn else []
        most = len(self._past) if self.settings.history is None else self.settings.history
        if len(self._past) > most or _length(self._past) > room:
            while len(self._past) > (most + 1) // 2 or (
                len(self._past) > 1 and _length(self._past) > room // 2
            ):
                del self._past[0]

    def counters(self) -> dict[str, float]:
        """Calls without a usable answer, answers without a valid action, over all episodes."""
        counts = {"fallbacks": self.fallbacks, "invalid_actions": self.invalid_actions}
        return {**counts, **({"asked_again": self.asked_again} if self.asked_again else {})}

    # ------------------------------------------------------------ the prompt

    def situation(self, obs: Observation) -> dict[str, str]:
        """The slots that every prompt has: task, history, memory, what is seen, what can be done.

        ``history`` ends in the action that led to the present observation. ``recalled_lessons``
        are the beginning of ``memory``, for prompts that show them apart: they change less.
        """
        return {
            "task": obs["task"],
            "history": self.transcript(),
            "memory": obs["memory"],
            "recalled_lessons": _lessons_of(obs),
            "observation": _shown_text(obs),
            "inventory": obs["inventory"],
            "actions": "\n".join(obs["valid_actions"]),
        }

    def transcript(self) -> str:
        """The latest past observations, oldest first, each after its action."""
        return "\n".join([*self._past, self._head]) if self._acted else ""

    def think(self, thought: str) -> None:
        """Note a thought: the transcript tells it before the next action."""
        self._thought = " ".join(thought.split())

    # ------------------------------------------------------------ the answer

    def ask(self, prompt: str, schema: Any = None, **slots: str) -> Reply:
        """Fill a prompt and ask the model.

        Raises:
            ModelError: No usable answer.
        """
        return self._complete(prompt, fill(load_prompt(prompt), slots), schema)

    def _complete(self, role: str, messages: Sequence[Message], schema: Any) -> Reply:
        return self.llm.complete(
            Request(
                messages,
                role=role,
                temperature=self.settings.temperature,
                max_tokens=self.max_tokens,
                schema=schema,
                strict=self.settings.constrain and schema is not None,
            )
        )

    def held_to(self, obs: Observation) -> tuple[str, ...]:
        """The actions that answers are held to; none where they are free."""
        return tuple(obs["valid_actions"]) if self.settings.constrain else ()

    def form(self, template: str, obs: Observation) -> Form | None:
        """A text that ends in a valid action, for :meth:`decide`; None where answers are free."""
        options = self.held_to(obs)
        return Form(template, options) if options else None

    def decide(
        self,
        prompt: str,
        read: Callable[[Reply], str],
        obs: Observation,
        schema: Any = None,
        **slots: str,
    ) -> str:
        """Ask for an action; where the answer names none that is possible, once more.

        Args:
            prompt: Name of the prompt.
            read: Finds the action in an answer; raises ModelError where there is none.
            obs: The observation with the valid actions.
            schema: As of :class:`gym_memory.llm.Request`.
            **slots: What to fill into the prompt.

        Returns:
            The action as answered; after the second answer it may still be none that is possible.

        Raises:
            ModelError: No usable answer.
        """
        messages = fill(load_prompt(prompt), slots)
        answer = self._complete(prompt, messages, schema)
        try:
            action = read(answer)
            problem = f"{action[:200]!r} is not among the possible actions."
            if not obs["valid_actions"] or match_action(action, obs["valid_actions"]):
                return action
        except ModelError as error:
            problem = str(error)
        self.asked_again += 1
        again = f"This answer cannot be used: {problem}\n{_AGAIN}"
        turns: list[Message] = [
            {"role": "assistant", "content": answer.text[:2000]},
            {"role": "user", "content": again},
        ]
        return read(self._complete(prompt, [*messages, *turns], schema))

    def attempt(self, answer: Callable[[], Answer], otherwise: Answer) -> Answer:
        """What ``answer`` gives; where it raises ModelError, counted, ``otherwise``."""
        try:
            return answer()
        except ModelError:
            self.fallbacks += 1
            return otherwise

    def act_on(self, answer: str, obs: Observation) -> str:
        """The valid action that an answer names, or a stand-in.

        Where the observation lists no valid actions, the answer is played as it stands; a
        stand-in is a valid action by chance, ``look`` where none is listed.
        """
        valid = obs["valid_actions"]
        action = match_action(answer, valid) if valid else _one_line(answer)
        if action:
            return action
        if answer:  # an answer that failed is counted already
            self.invalid_actions += 1
        return valid[int(self._rng.integers(len(valid)))] if valid else "look"


def fill(prompt: Prompt, slots: Mapping[str, str]) -> list[Message]:
    """A prompt with its slots filled; one that shows lessons apart gets them out of the memory."""
    if "lessons" in prompt.slots and "lessons" not in slots:
        lessons, memory = slots["recalled_lessons"], slots["memory"]
        slots = {**slots, "lessons": lessons, "memory": memory.removeprefix(lessons)}
    return prompt.messages(**slots)


def _shown_text(obs: Observation) -> str:
    """The text of an observation; without the task where it begins with it, told apart anyway."""
    return obs["text"].removeprefix(obs["task"]) if obs["task"] else obs["text"]


def _lessons_of(obs: Observation) -> str:
    """The beginning of what the memory recalls, as far as it is a heading and lessons."""
    memory, end = obs["memory"], 0
    at = memory.find("\n") + 1
    while lesson := next((x for x in obs["lessons"] if x and memory.startswith(x, at)), ""):
        end = at + len(lesson)
        at = end + 1
    return memory[:end]


def _head(t: int, action: str, thought: str = "") -> str:
    """What stands before an observation: the step, the action that led to it, the thought."""
    before = f"Thought: {thought}\n" if thought else ""
    return before + entry_head(t, action)


def _length(turns: Sequence[str]) -> int:
    return sum(len(turn) + 1 for turn in turns)


def _model(llm: str | ChatModel, parameters: dict[str, str]) -> ChatModel:
    """The model of a spec, with those parameters that are set."""
    given = {name: value for name, value in parameters.items() if value}
    if not isinstance(llm, str):
        if given:
            raise InvalidArgumentError(f"expected llm as a name beside {', '.join(given)}")
        return llm
    kind, kwargs = parse_spec(llm)
    model: ChatModel = MODELS.make(model_spec(kind, {**kwargs, **given}))
    return model


def _one_line(answer: str) -> str:
    return next((line.strip(_NOISE) for line in answer.splitlines() if line.strip(_NOISE)), "")


@functools.lru_cache(maxsize=4096)
def _plain(action: str) -> str:
    """An action as it is compared: one case, one space, no articles and no marks around it."""
    return _ARTICLE.sub("", " ".join(action.lower().split()).strip(_NOISE))


def match_action(answer: str, valid: Sequence[str]) -> str:
    """The valid action that an answer names, "" if it names none.

    Case, spaces, articles and marks around the action do not count; the wording does, but for
    what is searched for: where a search is valid, any search is.

    >>> match_action('Take the red key.', ("look", "take red key"))
    'take red key'
    >>> match_action("search[warm red coat]", ("search[coat]",))
    'search[warm red coat]'
    """
    line = _one_line(answer)
    if line in valid:
        return line
    if _SEARCH.fullmatch(line) and any(map(_SEARCH.fullmatch, valid)):
        return line
    wanted = _plain(line)
    return next((action for action in valid if _plain(action) == wanted), "")
