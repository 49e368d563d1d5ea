"""AdaPlanner (Sun et al. 2023): a plan as code, refined by the game's answers."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar

from gym_memory.baselines.llm.answers import UnreadableAnswerError, match_action, read_action
from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings
from gym_memory.baselines.llm.saycan import Affordances
from gym_memory.core.errors import ModelError
from gym_memory.core.records import Observation, PlanState, Transition
from gym_memory.core.settings import Help
from gym_memory.llm import ChatModel

__all__ = ["AdaPlanner", "AdaPlannerSettings", "PlanError", "parse_plan", "run_plan"]

_FENCE = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_STEP = """\
best = ask("Which action serves the task?", actions)
act(best)
assert observation != before, f"{best} changed nothing"
"""
_RULE = f"# the best actions\n{_STEP * 3}"
"""Plan without a model: take the most promising action three times, while something changes."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class AdaPlannerSettings(LanguageSettings):
    """Settings of AdaPlanner: the bounds of refinement.

    Attributes:
        llm: A chat model or its spec; without it and ``model`` a rule plans and answers.
    """

    llm: str | ChatModel = dataclasses.field(default="", kw_only=False)
    constrain: bool = dataclasses.field(default=False, init=False)
    rounds: Annotated[
        int, Help("Plans that may fail at one step before a random action is taken.", low=1)
    ] = 3
    skills: Annotated[
        int, Help("Plans that won, shown with later tasks; the oldest are dropped.", low=0)
    ] = 2


class AdaPlanner(LanguagePolicy):
    """AdaPlanner: plans as code, refined within the plan by ``ask`` and out of plan by feedback.

    A failed assertion or an impossible action ends the plan. The next plan is written for the
    situation at that moment, so it resumes where the last one failed. Plans of a won episode become
    skills for later episodes.
    """

    settings_class = AdaPlannerSettings
    settings: AdaPlannerSettings
    default_llm: ClassVar[str] = "openai"

    def set_up(self) -> None:
        """Start without skills."""
        self.refined = 0
        self.useful = Affordances()
        self._skills: list[str] = []

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode without a plan; keep skills and knowledge of actions."""
        super().reset(info, seed)
        self.useful.begin()
        self._codes: list[str] = []
        self._run: Iterator[str] = iter(())
        self._before = self._by_rule = ""

    def counters(self) -> dict[str, float]:
        """Return the counters, including out-of-plan refinements."""
        return {**super().counters(), "refined": self.refined}

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next action of the plan, or of a new plan if it ended."""
        self._obs, action, feedback = obs, "", ""
        for turn in range(self.settings.rounds + 1):
            if turn:
                self._plan(obs, feedback)
            try:
                action = next(self._run)
            except StopIteration:
                feedback = "The plan is at its end, and the task is not done." * bool(self._codes)
                continue
            except (PlanError, RecursionError) as failure:
                feedback, self._run = str(failure), iter(())
                self.refined += 1
                continue
            if not obs["valid_actions"] or match_action(action, obs["valid_actions"]):
                break
            feedback = f"{action!r} is not among the possible actions."
        if action and self._by_rule:
            self.decided_otherwise(self._by_rule)
        return self.act_on(action, obs)

    def update(self, transition: Transition) -> None:
        """Record the step, and keep the plans of a won episode."""
        super().update(transition)
        self.useful.add(transition)
        self._before = transition.obs["text"]
        if transition.info.get("success") and (transition.terminated or transition.truncated):
            skill = f"# {transition.obs['task'][:200]}\n{self._codes[-1]}" if self._codes else ""
            kept = [one for one in (*self._skills, skill) if one and self.llm is not None]
            self._skills = kept[max(len(kept) - self.settings.skills, 0) :]

    def _plan(self, obs: Observation, feedback: str) -> None:
        code, self._by_rule = _RULE, ""
        if self.llm is not None:
            code = self.attempt(lambda: self._written(obs, feedback), "")
        if not code:
            code, self._by_rule = _RULE, f"a rule wrote the plan: {self._unread[0]}"
        self._codes.append(code)
        self._run = run_plan(parse_plan(code), self._names, self._answer)
        self.focus = PlanState(code.partition("\n")[0].strip("# "), thought=feedback)

    def _written(self, obs: Observation, feedback: str) -> str:
        skills, plan = "\n".join(self._skills), self._codes[-1] if self._codes else ""
        slots = {**self.situation(obs), "skills": skills, "plan": plan, "feedback": feedback}
        text = self.ask("adaplanner", **slots).text
        found = _FENCE.search(text)
        code = found[1] if found else text
        if not parse_plan(code):
            raise ModelError("answer", "expected a plan of at least one line, got none")
        return code

    def _names(self) -> dict[str, Any]:
        obs = self._obs
        return {
            "observation": obs["text"], "before": self._before, "inventory": obs["inventory"],
            "actions": list(obs["valid_actions"]),
        }  # fmt: skip

    def _answer(self, question: str, options: Sequence[str]) -> str:
        """Return the model's option; without a model, the one that shares most words."""
        best = self.useful.ranked(self._obs, tuple(options))[0]
        if self.llm is None:
            return best

        def named() -> str:
            slots = {"question": question, "options": "\n".join(options)}
            answer = self.ask("adaplanner_ask", **self.situation(self._obs), **slots).text
            try:
                return read_action(answer, options).action
            except UnreadableAnswerError as error:  # the rule answers instead
                raise ModelError("answer", str(error)) from None

        named_option = self.attempt(named, "")
        if not named_option:
            self.decided_otherwise(f"a rule answered the plan's question: {self._unread[0]}")
        return named_option or best


# ------------------------------------------------------------ plans as code

# A small subset of Python, interpreted node by node and never executed. Statements: act(text),
# name = ask(question, options), if, for over a list, assert, pass. Values: texts, f-strings, lists,
# names, in, == and the like.

Ask = Callable[[str, Sequence[str]], str]
"""A function that chooses one of the options to answer a question."""

_MAX_CODE, _MAX_TEXT, _MAX_STATEMENTS = 4000, 2000, 500
_COST_OF_ASK = 25
"""Cost of a question, in statements, since each may call a model."""
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Eq: lambda a, b: bool(a == b),
    ast.NotEq: lambda a, b: bool(a != b),
}


class PlanError(Exception):
    """An error of a plan: the line that cannot be executed, with the reason."""


def parse_plan(code: str) -> list[ast.stmt]:
    """Parse the statements of a plan; raises ModelError if it is no Python."""
    try:
        return ast.parse(code[:_MAX_CODE]).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ModelError("answer", f"expected a plan in Python, got {error}") from error


def run_plan(
    plan: Sequence[ast.stmt], names: Callable[[], Mapping[str, Any]], ask: Ask
) -> Iterator[str]:
    """Interpret a plan and yield its actions.

    Args:
        plan: What :func:`parse_plan` returned.
        names: Function that returns the variables of the plan now: texts and lists of texts by
            name.
        ask: Function that answers the plan's questions.

    Raises:
        PlanError: An assertion failed, or a line is outside of the subset.
    """
    run = _Run(names, ask)
    try:
        yield from run.block(plan)
    except PlanError as failure:
        raise PlanError(f"line {run.line}: {failure}") from None


class _Run:
    def __init__(self, names: Callable[[], Mapping[str, Any]], ask: Ask):
        self._names, self._ask = names, ask
        self._own: dict[str, Any] = {}
        self._left = _MAX_STATEMENTS
        self.line = 0

    def block(self, statements: Sequence[ast.stmt]) -> Iterator[str]:
        for statement in statements:
            self._left, self.line = self._left - 1, statement.lineno
            if self._left < 0:
                raise PlanError("the plan takes too many steps")
            yield from self._statement(statement)

    def _statement(self, statement: ast.stmt) -> Iterator[str]:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="act"), args=[action], keywords=[])):
                yield self._text(action)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._own[name] = self._value(value)
            case ast.Assert(test=test, msg=message):
                if not self._value(test):
                    raise PlanError(self._text(message) if message else ast.unparse(test))
            case ast.If(test=test, body=body, orelse=orelse):
                yield from self.block(body if self._value(test) else orelse)
            case ast.For(target=ast.Name(id=name), iter=values, body=body, orelse=[]):
                listed = self._value(values)
                if isinstance(listed, str):
                    raise PlanError("expected a list to go through, got a text")
                for self._own[name] in listed:
                    yield from self.block(body)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                raise PlanError(f"not possible in a plan: {ast.unparse(statement)[:80]}")

    def _text(self, node: ast.expr) -> str:
        value = self._value(node)
        if not isinstance(value, str) or len(value) > _MAX_TEXT:
            raise PlanError(f"expected a text of at most {_MAX_TEXT} characters")
        return value

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=str() as value):
                return value
            case ast.Name(id=name):
                known = {**self._own, **self._names()}
                if name not in known:
                    raise PlanError(f"{name!r} is not known; known are {', '.join(known)}")
                return known[name]
            case ast.JoinedStr(values=parts):
                found = "".join(self._text(part) for part in parts)
                return found[:_MAX_TEXT]
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self._text(value)
            case ast.List(elts=values):
                return [self._text(value) for value in values]
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
                return _COMPARE[type(op)](self._text(left), self._value(right))
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self._value(value) for value in values)
            case ast.BoolOp(values=values):
                return any(self._value(value) for value in values)
            case ast.UnaryOp(op=ast.Not(), operand=value):
                return not self._value(value)
            case ast.Call(func=ast.Name(id="ask"), args=[question, options], keywords=[]):
                offered = self._value(options)
                if not offered or isinstance(offered, str):
                    raise PlanError("expected a list of options to choose from")
                self._left -= _COST_OF_ASK
                return self._ask(self._text(question), offered)
        raise PlanError(f"not possible in a plan: {ast.unparse(node)[:80]}")
