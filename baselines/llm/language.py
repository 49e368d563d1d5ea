"""A base class of policies that call a language model: prompts, transcripts and answers."""

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
from gym_memory.llm.base import NO_ANSWER, Form, answered
from gym_memory.llm.prompts import Prompt, load_prompt
from gym_memory.llm.usage import current_scope
from gym_memory.memory.reading import entry_head, quoted, split_entries

__all__ = ["LanguagePolicy", "LanguageSettings", "fill"]

Answer = TypeVar("Answer")

_RETRY_REQUEST = (
    "Answer again in the same form, with one of the possible actions as it is written there."
)
_MAX_KEPT_CHARS = 2000
"""Most characters of an unreadable answer in the step's info."""
_RULES = "Rules of the game:"
_TRIAL = "Answer: ok"
_TRIAL_TOKENS = 16
_MIN_HALVED_CHARS = 400
"""Shortest part of a prompt, in characters, that may be halved."""
_TOO_LONG = "the model's context is exceeded: the oldest steps of an agent's history are left out"


@dataclasses.dataclass(frozen=True)
class LanguageSettings(Settings):
    """Settings of every policy that calls a chat model; subclass it to add more.

    A policy that fixes a setting declares it again with ``init=False``.

    Attributes:
        llm: A chat model or its spec: ``openai`` (configured by environment variables) or
            ``transformers?model=...``. Quote a spec inside a policy's spec.
        model: Shorthand for the model's ``model``; without ``base_url``, ``smollm`` is a package
            that runs in this process.
        base_url: Shorthand for the model's parameter ``base_url``.
        reasoning: Shorthand for the model's parameter ``reasoning``.
        strict: Whether an answer without a possible action fails the episode; otherwise a random
            valid action replaces it, with a mark.
        constrain: Whether generation is restricted to the valid actions; needs local weights or a
            server with JSON schemas, and an environment that lists valid actions.
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

    A subclass names its ``settings_class``, whose fields become its arguments, and prepares itself
    in :meth:`set_up`.

    Args:
        *args: The first three settings, by position.
        **kwargs: Settings.

    Attributes:
        fallbacks: Calls without a usable answer.
        invalid_actions: Decisions that named no valid action, replaced by a random one.
        asked_again: Second calls after an answer without a valid action.
        history_cuts: Number of cuts that made the history fit the model's context.
    """

    settings_class: ClassVar[type[LanguageSettings]] = LanguageSettings
    settings: LanguageSettings
    default_llm: ClassVar[str] = ""
    """Default spec for ``model`` in a policy that also works without a model."""
    examples: str = ""
    """Example episodes before the game, see :func:`.examples_of`."""
    thinks: ClassVar[bool] = False
    """True if the policy writes a thought before each action."""
    answer_tokens: int = 1024
    """Default token limit of an answer without thoughts."""
    _room = sys.maxsize
    """Characters of history known to fit the model's context."""
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Copy the settings into the signature, which registries and presets read."""
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
        self._unread = ("", "")  # reason why the last answer was not played, and the answer
        self._formless = ""  # answer of the last attempt if it was not of the requested form
        self._begin(None)
        self.set_up()

    def set_up(self) -> None:
        """Prepare what a subclass needs beyond settings and model; called at construction."""

    def _begin(self, seed: int | None) -> None:
        self._rng = np.random.default_rng(seed)
        self._past: list[str] = []  # turns of the transcript
        self._acted = False
        self._head = _head(0, "")  # last action
        self._earned: list[str] = []  # line with the reward of the last action, if any
        self._thought = ""
        self._operations: tuple[str, ...] = ()
        self._primer = {"knowledge": "", "examples": ""}  # rules and examples before the game
        self.focus = PlanState()

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode without a plan or a past."""
        self._begin(seed)
        self._operations = info.get("operations", ())
        task = info.get("task_id", "")
        self._primer = {
            "knowledge": rules_of(self.settings.knowledge, task),
            "examples": examples_of(self.examples, task, thoughts=self.thinks),
        }

    def update(self, transition: Transition) -> None:
        """Add the observation before the action to the transcript."""
        shown = quoted(_shown_text(transition.obs))
        lines = [line for line in shown.splitlines() if line.strip()]
        self._keep("\n".join([self._head, *lines, *self._earned]))
        self._head = _head(transition.info["moves"], transition.action, self._thought)
        reward = self.reward_of(transition)
        self._earned = [with_reward("", reward)] if reward else []
        self._thought, self._acted = "", True

    def reward_of(self, transition: Transition) -> float:
        """Return the reward of a step, 0 if rewards are hidden from the memory."""
        return float(transition.info.get("earned", transition.reward))

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
        """Drop the oldest turns, down to half of ``most`` turns and of ``room`` characters."""
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
        """Return the slots of every prompt, with the game's texts quoted."""
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
        """Return the latest past observations after their actions, oldest first."""
        return "\n".join([*self._past, self._head, *self._earned]) if self._acted else ""

    def think(self, thought: str) -> None:
        """Record a thought for the transcript, before the next action."""
        self._thought = " ".join(thought.split())

    # ------------------------------------------------------------ the answer

    def ask(self, prompt: str, schema: Any = None, **slots: str) -> Reply:
        """Fill a prompt and call the model; raise ModelError without a usable answer."""
        return self._fitted(prompt, slots, schema)

    def _fitted(
        self, prompt: str, slots: dict[str, str], schema: Any, turns: Sequence[Message] = ()
    ) -> Reply:
        """Call the model; if its context is exceeded, shorten the past and call again."""
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
        """Halve the history in this and later prompts, else a long memory or observation."""
        history = slots.get("history", "")
        if len(history) >= _MIN_HALVED_CHARS and self._past:
            self._room = len(history) // 2
            self._forget(len(self._past), self._room)
            if len(self._past) == 1 and len(self._past[0]) > self._room:
                self._past = []
            slots["history"] = self.transcript()
            return True
        name = max(("memory", "observation"), key=lambda slot: len(slots.get(slot, "")))
        text = slots.get(name, "")
        if len(text) < _MIN_HALVED_CHARS:
            return False
        half = len(text) // 2
        latest = name == "memory" and bool(
            split_entries(text)[1]
        )  # a transcript ends with the latest turn
        slots[name] = f"[...] {text[-half:]}" if latest else f"{text[:half]} [...]"
        return True

    def _complete(self, role: str, messages: Sequence[Message], schema: Any) -> Reply:
        own = self.settings
        request = Request(
            messages,
            role=role,
            temperature=own.temperature,
            max_tokens=own.max_tokens or self.answer_tokens,
            thinks=own.max_tokens is None,
            schema=schema,
            strict=own.constrain and schema is not None,
        )
        return answered(self.llm.complete, request)

    def preflight(self) -> None:
        """Test the model by a short call with this agent's parameters.

        Raises ModelSetupError if the model cannot be used.
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
        """Return the allowed actions of an answer; empty if answers are free."""
        return tuple(obs["valid_actions"]) if self.settings.constrain else ()

    def form(self, template: str, obs: Observation) -> Form | None:
        """Return the form of a text that ends with a valid action; None if answers are free."""
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
        """Request an action, and request it again if the answer names no possible one.

        Args:
            prompt: Name of the prompt.
            obs: The observation with the valid actions.
            schema: As of :class:`gym_memory.llm.Request`.
            field: Field of the schema with the action; empty to read the text.
            **slots: Values of the prompt's slots.

        Raises:
            UnreadableAnswerError: Neither answer names exactly one possible action.
            ModelError: A call failed.
        """

        def read(answer: Reply) -> Decision:
            text = str(getattr(answer.parsed, field)) if field else answer.text
            if not text.strip():  # some servers take the whole answer for a thought
                text = answer.thought.rstrip().rpartition("\n")[2]
            self._unread = ("", text)
            return self.read(text, obs, cut=answer.finish == "length" and not field)

        answer = self._fitted(prompt, slots, schema)
        try:
            return read(answer)
        except UnreadableAnswerError as error:
            self.asked_again += 1
            turns: list[Message] = [
                {"role": "assistant", "content": answer.text[:2000] or NO_ANSWER},
                {
                    "role": "user",
                    "content": f"This answer cannot be used: {error}.\n{_RETRY_REQUEST}",
                },
            ]
        return read(self._fitted(prompt, slots, schema, turns))

    def read(self, text: str, obs: Observation, *, cut: bool = False) -> Decision:
        """Return the action in a text, see :func:`.read_action`."""
        return read_action(text, obs["valid_actions"], self._operations, cut=cut)

    def attempt(self, answer: Callable[[], Answer], otherwise: Answer) -> Answer:
        """Return ``answer()``; on a ModelError, count it and return ``otherwise``."""
        self._formless = ""
        try:
            return answer()
        except UnreadableAnswerError as error:
            self._count_unread(error, self._unread[1])
        except ModelError as error:
            self.fallbacks += 1
            self._unread = (f"the call failed: {error}", error.answer)
            self._formless = error.answer
            if error.answer:
                self._note_unread(error)
        return otherwise

    def _count_unread(self, error: UnreadableAnswerError, answer: str) -> None:
        self.invalid_actions += 1
        self._unread = (str(error), answer)
        self._note_unread(error)

    def _note_unread(self, error: ModelError) -> None:
        for meter in current_scope().meters:
            meter.note(f"an answer could not be used: {error}", "unread")

    def act_on(self, answer: str, obs: Observation) -> str:
        """Return the valid action or memory operation in an answer, or else a random action.

        :meth:`attempt` has counted an empty answer. If an answer was not of the requested form, the
        action that it names is played. With ``strict``, raise ModelError instead of
        choosing at random.
        """
        valid = obs["valid_actions"]
        answer = answer or (self._formless if valid else "")  # otherwise any text is an action
        action = undressed(answer, valid, self._operations) if answer else ""
        if answer and not action:
            try:
                action = self.read(answer, obs).action
            except UnreadableAnswerError as error:
                if answer != self._formless:
                    self._count_unread(error, answer)
        if action:
            self.fallbacks -= answer == self._formless  # the answer was of use after all
            return action
        reason, answer = self._unread
        self.decided_otherwise(reason or "the model gave no action", answer)
        return valid[int(self._rng.integers(len(valid)))] if valid else "look"

    def decided_otherwise(self, reason: str, answer: str = "") -> None:
        """Record that the model did not decide a step; with ``strict``, raise ModelError."""
        self.substitute = Substitute(reason, answer[:_MAX_KEPT_CHARS])
        if self.settings.strict:
            raise ModelError("answer", f"strict=true, and {reason}")


def fill(prompt: Prompt, slots: Mapping[str, str]) -> list[Message]:
    """Fill a prompt; if it has a slot for lessons, move them there from the memory.

    Examples come first. Rules of the game follow the task unless the prompt has a slot for them.
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
    """Return the lessons at the start of a recall, with their heading."""
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
    """Return the model; None for a rule-based policy without one."""
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
