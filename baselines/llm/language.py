"""Base of the policies that call a language model: the model, the transcript, the valid action."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.core.errors import InvalidArgumentError, ModelError
from gym_memory.core.names import Spec
from gym_memory.core.records import Observation, PlanState, Transition
from gym_memory.core.settings import Help, Settings
from gym_memory.llm import MODELS, ChatModel, Message, Reply, Request, model_spec
from gym_memory.llm.base import Form
from gym_memory.llm.prompts import Prompt, load_prompt
from gym_memory.memory.base import CHARS_PER_TOKEN
from gym_memory.memory.reading import entry_head, read_operation

__all__ = ["LanguagePolicy", "LanguageSettings", "fill", "match_action"]

Answer = TypeVar("Answer")

_ARTICLE = re.compile(r"\b(?:the|a|an)\s+")
_SEARCH = re.compile(r"search\[.+\]")
_AGAIN = "Answer again in the same form, with one of the possible actions as it is written there."
_NOISE = " \t\n\"'`*.!>"


@dataclasses.dataclass(frozen=True)
class LanguageSettings(Settings):
    """Settings of every policy that calls a chat model; one with more subclasses this.

    A policy that fixes a setting declares it again with ``init=False``.

    Attributes:
        llm: A chat model or its spec, ``openai`` (all from the environment) or
            ``transformers?model=...``; a spec inside the name of a policy is quoted.
        model: Shorthand for the model's ``model``; ``smollm`` comes with a package and runs in
            this process, unless a ``base_url`` is given.
        base_url: Shorthand for the model's parameter ``base_url``.
        constrain: Whether answers are held to the valid actions during generation, by local
            weights or a server with JSON schemas; needs an environment that lists them.
    """

    llm: str | ChatModel = "openai"
    model: str = ""
    base_url: str = ""
    _: dataclasses.KW_ONLY
    history: Annotated[
        int | None, Help("Past observations to show at most; None for all that fit.", low=0)
    ] = 5
    history_tokens: Annotated[
        int, Help("Tokens that the past observations may take together.", low=0)
    ] = 400
    temperature: Annotated[
        float, Help("Sampling temperature; 0.2 in the AriGraph authors' code.", low=0)
    ] = 0.2
    constrain: bool = False


class LanguagePolicy(Policy):
    """Base of the policies that call a chat model.

    A subclass names its ``settings_class``, whose fields are its arguments, and prepares the
    rest in :meth:`set_up`.

    Args:
        *args: The first three settings may go without their names.
        **kwargs: Settings.

    Attributes:
        fallbacks: Calls without a usable answer.
        invalid_actions: Decisions that named no valid action, replaced by a random one.
        asked_again: Answers that named no valid action, so that the model was called once more.
    """

    settings_class: ClassVar[type[LanguageSettings]] = LanguageSettings
    settings: LanguageSettings
    default_llm: ClassVar[str] = ""
    """The kind of model behind ``model`` where ``llm`` is empty, for policies with rules too."""
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
        self.llm = _model(self.settings.llm, shorthands, self.default_llm)
        self.fallbacks = self.invalid_actions = self.asked_again = 0
        self._begin(None)
        self.set_up()

    def set_up(self) -> None:
        """Prepare what a policy has beyond settings and model; called at construction."""

    def _begin(self, seed: int | None) -> None:
        self._rng = np.random.default_rng(seed)
        self._past: list[str] = []  # the turns of the transcript
        self._acted = False
        self._head = _head(0, "")  # what led to the present observation
        self._thought = ""
        self._operations: tuple[str, ...] = ()
        self.focus = PlanState()

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode without a plan and without a past."""
        self._begin(seed)
        self._operations = info.get("operations", ())

    def update(self, transition: Transition) -> None:
        """Keep the observation that was acted on."""
        lines = [line for line in _shown_text(transition.obs).splitlines() if line.strip()]
        self._keep("\n".join([self._head, *lines]))
        self._head = _head(transition.info["moves"], transition.action, self._thought)
        self._thought, self._acted = "", True

    def _keep(self, turn: str) -> None:
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
        """Return the counts of unusable answers over all episodes."""
        counts = {"fallbacks": self.fallbacks, "invalid_actions": self.invalid_actions}
        return {**counts, **({"asked_again": self.asked_again} if self.asked_again else {})}

    # ------------------------------------------------------------ the prompt

    def situation(self, obs: Observation) -> dict[str, str]:
        """Return the slots of every prompt."""
        return {
            "task": obs["task"],
            "history": self.transcript(),
            "memory": obs["memory"],
            "recalled_lessons": _lessons_of(obs),
            "observation": _shown_text(obs),
            "inventory": obs["inventory"],
            "actions": "\n".join([*obs["valid_actions"], *self._operations]),
        }

    def transcript(self) -> str:
        """Return the latest past observations, oldest first, each after its action."""
        return "\n".join([*self._past, self._head]) if self._acted else ""

    def think(self, thought: str) -> None:
        """Note a thought, for the transcript before the next action."""
        self._thought = " ".join(thought.split())

    # ------------------------------------------------------------ the answer

    def ask(self, prompt: str, schema: Any = None, **slots: str) -> Reply:
        """Fill a prompt and call the model; raises ModelError without a usable answer."""
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
        """Return the actions that answers are held to; none where they are free."""
        return tuple(obs["valid_actions"]) if self.settings.constrain else ()

    def form(self, template: str, obs: Observation) -> Form | None:
        """Return a text that ends in a valid action; None where answers are free."""
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
        """Request an action; where the answer names none that is possible, once more.

        Args:
            prompt: Name of the prompt.
            read: Finds the action in an answer; raises ModelError where there is none.
            obs: The observation with the valid actions.
            schema: As of :class:`gym_memory.llm.Request`.
            **slots: Values of the prompt's slots.

        Returns:
            The action as answered; the second one may still be impossible.
        """
        messages = fill(load_prompt(prompt), slots)
        answer = self._complete(prompt, messages, schema)
        try:
            action = read(answer)
            problem = f"{action[:200]!r} is not among the possible actions."
            if not obs["valid_actions"] or self._named(action, obs):
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

    def _named(self, answer: str, obs: Observation) -> str:
        line = _one_line(answer)
        if self._operations and read_operation(line) and line not in self._operations:
            return line
        return match_action(answer, obs["valid_actions"])

    def attempt(self, answer: Callable[[], Answer], otherwise: Answer) -> Answer:
        """Return what ``answer`` gives; on a ModelError, counted, ``otherwise``."""
        try:
            return answer()
        except ModelError:
            self.fallbacks += 1
            return otherwise

    def act_on(self, answer: str, obs: Observation) -> str:
        """Return the valid action or operation on the memory of an answer, else a random action."""
        valid = obs["valid_actions"]
        action = self._named(answer, obs) if valid else _one_line(answer)
        if action:
            return action
        if answer:  # an answer that failed is counted already
            self.invalid_actions += 1
        return valid[int(self._rng.integers(len(valid)))] if valid else "look"


def fill(prompt: Prompt, slots: Mapping[str, str]) -> list[Message]:
    """Fill a prompt; where it shows lessons apart, take them out of the memory."""
    if "lessons" in prompt.slots and "lessons" not in slots:
        lessons, memory = slots["recalled_lessons"], slots["memory"]
        slots = {**slots, "lessons": lessons, "memory": memory.removeprefix(lessons)}
    return prompt.messages(**slots)


def _shown_text(obs: Observation) -> str:
    return obs["text"].removeprefix(obs["task"]) if obs["task"] else obs["text"]


def _lessons_of(obs: Observation) -> str:
    """Return the beginning of what the memory recalls, as far as it is a heading and lessons."""
    memory, end = obs["memory"], 0
    at = memory.find("\n") + 1
    while lesson := next((x for x in obs["lessons"] if x and memory.startswith(x, at)), ""):
        end = at + len(lesson)
        at = end + 1
    return memory[:end]


def _head(t: int, action: str, thought: str = "") -> str:
    before = f"Thought: {thought}\n" if thought else ""
    return before + entry_head(t, action)


def _length(turns: Sequence[str]) -> int:
    return sum(len(turn) + 1 for turn in turns)


def _model(llm: str | ChatModel, parameters: dict[str, str], otherwise: str) -> Any:
    """Return the model; None where a policy has rules too and no model is named."""
    given = {name: value for name, value in parameters.items() if value}
    if llm == "" and otherwise:
        if not given:
            return None
        llm = otherwise
    if not isinstance(llm, str):
        if given:
            raise InvalidArgumentError(f"expected llm as a name beside {', '.join(given)}")
        return llm
    kind, kwargs = Spec(llm).parts
    return MODELS.make(model_spec(kind, {**kwargs, **given}))


def _one_line(answer: str) -> str:
    return next((line.strip(_NOISE) for line in answer.splitlines() if line.strip(_NOISE)), "")


@functools.lru_cache(maxsize=4096)
def _plain(action: str) -> str:
    return _ARTICLE.sub("", " ".join(action.lower().split()).strip(_NOISE))


def match_action(answer: str, valid: Sequence[str]) -> str:
    """Return the valid action that an answer names, "" if it names none.

    Case, spaces, articles and marks around the action do not count. Where a search is valid, any
    search is.

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
