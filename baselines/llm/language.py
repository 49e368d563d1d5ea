"""Base of the policies that call a language model: the model, the transcript, the valid action."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.baselines.llm.answers import (
    Decision,
    UnreadableAnswerError,
    read_action,
    undressed,
)
from gym_memory.baselines.llm.knowledge import examples_of, rules_of
from gym_memory.core.errors import ContextExceededError, InvalidArgumentError, ModelError
from gym_memory.core.names import Spec
from gym_memory.core.records import Observation, PlanState, Substitute, Transition
from gym_memory.core.settings import Help, Settings
from gym_memory.core.text import with_reward
from gym_memory.core.tokens import CHARS_PER_TOKEN, fitting_chars, size_of
from gym_memory.llm import MODELS, ChatModel, Message, Reply, Request, model_spec
from gym_memory.llm.base import Form
from gym_memory.llm.prompts import Prompt, load_prompt
from gym_memory.llm.usage import current_scope
from gym_memory.memory.reading import entry_head, quoted, split_entries

__all__ = ["LanguagePolicy", "LanguageSettings", "fill"]

Answer = TypeVar("Answer")

_AGAIN = "Answer again in the same form, with one of the possible actions as it is written there."
_KEPT_CHARS = 2000
"""Characters of an unreadable answer that are kept with the step."""
_RULES = "Rules of the game:"
_TRIAL = "Answer: ok"
_TRIAL_TOKENS = 16
_LEAST_CHARS = 400
"""Shortest part of a prompt that is worth halving."""
_TOO_LONG = "the model's context is exceeded: the oldest steps of an agent's history are left out"


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
        reasoning: Shorthand for the model's parameter ``reasoning``.
        strict: Whether an answer that names no possible action ends the episode as failed; else a
            random valid action is played, with a mark.
        constrain: Whether answers are held to the valid actions during generation, by local
            weights or a server with JSON schemas; needs an environment that lists them.
    """

    llm: str | ChatModel = "openai"
    model: str | int | float = ""
    base_url: str = ""
    _: dataclasses.KW_ONLY
    reasoning: bool | None = None
    max_tokens: Annotated[
        int | None,
        Help(
            "Most tokens of an answer, thoughts included; by default what the form of the answer "
            "takes, and room for thoughts where the model reasons.",
            low=1,
        ),
    ] = None
    strict: bool = False
    history: Annotated[
        int | None, Help("Past observations to show at most; None for all that fit.", low=0)
    ] = 5
    history_tokens: Annotated[
        int | None,
        Help(
            "Tokens that the past observations may take together; None for as many as the model's "
            "context holds.",
            low=0,
        ),
    ] = 400
    knowledge: Annotated[
        str,
        Help("Rules of the game: a text, ``cooking``, or ``game`` for those of the game in play."),
    ] = ""
    temperature: Annotated[
        float | None, Help("Sampling temperature; by default the server's own.", low=0)
    ] = None
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
        history_cuts: Times that the history was cut to fit into the model's context.
    """

    settings_class: ClassVar[type[LanguageSettings]] = LanguageSettings
    settings: LanguageSettings
    default_llm: ClassVar[str] = ""
    """The kind of model behind ``model`` if ``llm`` is empty, for policies with rules too."""
    examples: str = ""
    """Played examples before the game, see :func:`.examples_of`."""
    thinks: ClassVar[bool] = False
    """True if it writes a thought before each action, and examples show theirs."""
    answer_tokens: int = 1024
    """Most tokens of an answer without thoughts, unless the user sets a limit."""
    _room = sys.maxsize
    """Characters of history that the model's context holds, as far as it is known."""
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
        own = self.settings
        shorthands = {"model": own.model, "base_url": own.base_url, "reasoning": own.reasoning}
        self.llm = _model(own.llm, shorthands, self.default_llm)
        self.fallbacks = self.invalid_actions = self.asked_again = self.history_cuts = 0
        self._unread = ("", "")  # why the last answer is not played, and the answer
        self._begin(None)
        self.set_up()

    def set_up(self) -> None:
        """Prepare a policy's own parts beyond settings and model; called at construction."""

    def _begin(self, seed: int | None) -> None:
        self._rng = np.random.default_rng(seed)
        self._past: list[str] = []  # the turns of the transcript
        self._acted = False
        self._head = _head(0, "")  # the action that led to the present observation
        self._earned: list[str] = []  # the line that says what that action earned, if anything
        self._rewards_hidden = False
        self._thought = ""
        self._operations: tuple[str, ...] = ()
        self._primer = {"knowledge": "", "examples": ""}  # knowledge before the game
        self.focus = PlanState()

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode without a plan and without a past."""
        self._begin(seed)
        self._operations = info.get("operations", ())
        self._rewards_hidden = info.get("rewards") == "hidden"
        task = info.get("task_id", "")
        self._primer = {
            "knowledge": rules_of(self.settings.knowledge, task),
            "examples": examples_of(self.examples, task, thoughts=self.thinks),
        }

    def update(self, transition: Transition) -> None:
        """Add the observation that was acted on to the transcript."""
        shown = quoted(_shown_text(transition.obs))
        lines = [line for line in shown.splitlines() if line.strip()]
        self._keep("\n".join([self._head, *lines, *self._earned]))
        self._head = _head(transition.info["moves"], transition.action, self._thought)
        reward = self.reward_of(transition)
        self._earned = [with_reward("", reward)] if reward else []
        self._thought, self._acted = "", True

    def reward_of(self, transition: Transition) -> float:
        """Return what a step earned; 0 where rewards are hidden from the memory, too."""
        return 0.0 if self._rewards_hidden else float(transition.reward)

    def _keep(self, turn: str) -> None:
        most_tokens = self.settings.history_tokens
        own = sys.maxsize if most_tokens is None else most_tokens * CHARS_PER_TOKEN
        room = min(own, self._room)
        if size_of(turn) > room:
            end = fitting_chars(turn, room // CHARS_PER_TOKEN)
            turn = f"{turn[:end]} [...]" if end > len(self._head) else ""
        self._past += [turn] if turn else []
        most = len(self._past) if self.settings.history is None else self.settings.history
        if len(self._past) > most or _length(self._past) > room:
            self._forget(most, room)

    def _forget(self, most: int, room: int) -> None:
        """Drop the oldest turns until half of a number and of a size in characters is left."""
        while len(self._past) > (most + 1) // 2 or (
            len(self._past) > 1 and _length(self._past) > room // 2
        ):
            del self._past[0]

    def counters(self) -> dict[str, float]:
        """Return the counts of unusable answers over all episodes."""
        counts = {"fallbacks": self.fallbacks, "invalid_actions": self.invalid_actions}
        rare = {"asked_again": self.asked_again, "history_cuts": self.history_cuts}
        return {**counts, **{name: count for name, count in rare.items() if count}}

    # ------------------------------------------------------------ the prompt

    def situation(self, obs: Observation) -> dict[str, str]:
        """Return the slots of every prompt; the game's texts in them are quoted."""
        return {
            "task": quoted(obs["task"]),
            "history": self.transcript(),
            "memory": obs["memory"],
            "recalled_lessons": _lessons_of(obs),
            "observation": quoted(_shown_text(obs)),
            "inventory": quoted(obs["inventory"]),
            "actions": "\n".join([*map(_one_line, obs["valid_actions"]), *self._operations]),
            **self._primer,
        }

    def transcript(self) -> str:
        """Return the latest past observations, oldest first, each after its action."""
        return "\n".join([*self._past, self._head, *self._earned]) if self._acted else ""

    def think(self, thought: str) -> None:
        """Note a thought, for the transcript before the next action."""
        self._thought = " ".join(thought.split())

    # ------------------------------------------------------------ the answer

    def ask(self, prompt: str, schema: Any = None, **slots: str) -> Reply:
        """Fill a prompt and call the model; raises ModelError without a usable answer."""
        return self._fitted(prompt, slots, schema)

    def _fitted(
        self, prompt: str, slots: dict[str, str], schema: Any, turns: Sequence[Message] = ()
    ) -> Reply:
        """Call the model; if its context is exceeded, again without the oldest part of the past."""
        while True:
            messages = [*fill(load_prompt(prompt), slots), *turns]
            try:
                return self._complete(prompt, messages, schema)
            except ContextExceededError:
                if not self._shorten(slots):
                    raise
                self.history_cuts += 1
                for meter in current_scope().meters:
                    meter.note(_TOO_LONG)

    def _shorten(self, slots: dict[str, str]) -> bool:
        """Halve the history, now and in later prompts; if it is short, memory or observation."""
        history = slots.get("history", "")
        if len(history) >= _LEAST_CHARS and self._past:
            self._room = len(history) // 2
            self._forget(len(self._past), self._room)
            if len(self._past) == 1 and len(self._past[0]) > self._room:
                self._past = []
            slots["history"] = self.transcript()
            return True
        name = max(("memory", "observation"), key=lambda slot: len(slots.get(slot, "")))
        text = slots.get(name, "")
        if len(text) < _LEAST_CHARS:
            return False
        half = len(text) // 2
        latest = name == "memory" and bool(
            split_entries(text)[1]
        )  # a transcript ends in the newest
        slots[name] = f"[...] {text[-half:]}" if latest else f"{text[:half]} [...]"
        return True

    def _complete(self, role: str, messages: Sequence[Message], schema: Any) -> Reply:
        own = self.settings
        return self.llm.complete(
            Request(
                messages,
                role=role,
                temperature=own.temperature,
                max_tokens=own.max_tokens or self.answer_tokens,
                thinks=own.max_tokens is None,
                schema=schema,
                strict=own.constrain and schema is not None,
            )
        )

    def preflight(self) -> None:
        """Try the model with a short call that has the parameters of this agent's calls.

        Raises ModelSetupError where it cannot be used.
        """
        if not hasattr(self.llm, "preflight"):
            return
        own = self.settings
        messages: list[Message] = [
            {"role": "system", "content": "You answer in one word."},
            {"role": "user", "content": _TRIAL},
        ]
        form = Form("{answer}", ("ok", "no")) if own.constrain else None
        limit = min(own.max_tokens or _TRIAL_TOKENS, _TRIAL_TOKENS)
        self.llm.preflight(
            Request(
                messages,
                role="trial",
                temperature=own.temperature,
                max_tokens=limit,
                thinks=False,
                schema=form,
                strict=own.constrain,
            )
        )

    def held_to(self, obs: Observation) -> tuple[str, ...]:
        """Return the actions to which answers are restricted; empty if they are free."""
        return tuple(obs["valid_actions"]) if self.settings.constrain else ()

    def form(self, template: str, obs: Observation) -> Form | None:
        """Return a text that ends in a valid action; None if answers are free."""
        options = self.held_to(obs)
        return Form(template, options) if options else None

    def decide(
        self,
        prompt: str,
        obs: Observation,
        schema: Any = None,
        *,
        field: str = "",
        **slots: str,
    ) -> Decision:
        """Request an action; if the answer names no possible one, request it once more.

        Args:
            prompt: Name of the prompt.
            obs: The observation with the valid actions.
            schema: As of :class:`gym_memory.llm.Request`.
            field: Name of the schema's field with the action; empty reads the text.
            **slots: Values of the prompt's slots.

        Raises:
            UnreadableAnswerError: Neither answer names one possible action.
            ModelError: A call failed.
        """

        def read(answer: Reply) -> Decision:
            text = str(getattr(answer.parsed, field)) if field else answer.text
            self._unread = ("", text)
            return self.read(text, obs, cut=answer.finish == "length" and not field)

        answer = self._fitted(prompt, slots, schema)
        try:
            return read(answer)
        except UnreadableAnswerError as error:
            self.asked_again += 1
            turns: list[Message] = [
                {"role": "assistant", "content": answer.text[:2000]},
                {"role": "user", "content": f"This answer cannot be used: {error}.\n{_AGAIN}"},
            ]
        return read(self._fitted(prompt, slots, schema, turns))

    def read(self, text: str, obs: Observation, *, cut: bool = False) -> Decision:
        """Return the action that a text decides for, see :func:`.read_action`."""
        return read_action(text, obs["valid_actions"], self._operations, cut=cut)

    def attempt(self, answer: Callable[[], Answer], otherwise: Answer) -> Answer:
        """Return the result of ``answer``; on a ModelError, which is counted, of ``otherwise``."""
        try:
            return answer()
        except UnreadableAnswerError as error:
            self.invalid_actions += 1
            self._unread = (str(error), self._unread[1])
        except ModelError as error:
            self.fallbacks += 1
            self._unread = (f"the call failed: {error}", "")
        return otherwise

    def act_on(self, answer: str, obs: Observation) -> str:
        """Return the valid action, or operation on the memory, in an answer; else a random action.

        An empty answer was counted by :meth:`attempt`. With ``strict`` a ModelError replaces the
        random action.
        """
        valid = obs["valid_actions"]
        action = undressed(answer, valid, self._operations) if answer else ""
        if answer and not action:
            try:
                action = self.read(answer, obs).action
            except UnreadableAnswerError as error:
                self.invalid_actions += 1
                self._unread = (str(error), answer)
        if action:
            return action
        reason, answer = self._unread
        self.decided_otherwise(reason or "the model gave no action", answer)
        return valid[int(self._rng.integers(len(valid)))] if valid else "look"

    def decided_otherwise(self, reason: str, answer: str = "") -> None:
        """Mark that the model did not decide this step; with ``strict`` raise a ModelError."""
        self.substitute = Substitute(reason, answer[:_KEPT_CHARS])
        if self.settings.strict:
            raise ModelError("answer", f"strict=true, and {reason}")


def fill(prompt: Prompt, slots: Mapping[str, str]) -> list[Message]:
    """Fill a prompt; if it has a slot for lessons, take them out of the memory.

    Rules of the game follow the task if the prompt has no slot for them; examples come first.
    """
    if slots.get("knowledge") and "knowledge" not in prompt.slots:
        slots = {**slots, "task": f"{slots['task']}\n\n{_RULES}\n{slots['knowledge']}"}
    if "lessons" in prompt.slots and "lessons" not in slots:
        lessons, memory = slots["recalled_lessons"], slots["memory"]
        slots = {**slots, "lessons": lessons, "memory": memory.removeprefix(lessons)}
    messages = prompt.messages(**slots)
    if slots.get("examples"):
        played = f"<examples>\n{slots['examples']}\n</examples>\n"
        messages[-1]["content"] = played + messages[-1]["content"]
    return messages


def _shown_text(obs: Observation) -> str:
    return obs["text"].removeprefix(obs["task"]) if obs["task"] else obs["text"]


def _lessons_of(obs: Observation) -> str:
    """Return the heading and lessons at the beginning of a recall."""
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
    return sum(size_of(turn) + 1 for turn in turns)


def _one_line(action: str) -> str:
    return " ".join(action.split())


def _model(llm: str | ChatModel, parameters: dict[str, Any], otherwise: str) -> Any:
    """Return the model; None for a policy with rules if no model is named."""
    given = {name: value for name, value in parameters.items() if value not in ("", None)}
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
