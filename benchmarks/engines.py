"""Compare the rules that play TextWorld's games with the interpreter, command by command.

    python -m benchmarks engines           # all games; goes on where it stopped
    python -m benchmarks engines --text    # free text: synonyms, typos, nonsense

Both engines play the same commands. After each, text, score, turns, ending, state, valid actions
and inventory must be equal; the interpreter's inventory is the game's own answer. Games: the first
of each level, split and challenge, and games of ``tw-make`` with random settings. Players:
``random`` plays valid actions, ``walkthrough`` wins with detours, ``planner`` is the rule-based
player with AriGraph, ``adversary`` mixes in commands with other nouns.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import math
import random
import runpy
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.metadata import files
from itertools import count, islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from keep import read_rows

from gym_memory.games.textworld.challenges import CHALLENGES, TreasureHunter
from gym_memory.games.textworld.cleaning import Cleaning
from gym_memory.games.textworld.cooking import Cooking
from gym_memory.games.textworld.engine import TextWorldEngine, load_game
from gym_memory.games.textworld.env import TextWorldFamily
from gym_memory.games.textworld.errands import Errands
from gym_memory.games.textworld.games import generate, generating, trial_run_by_logic
from gym_memory.games.textworld.treasure_hunt import TreasureHunt
from gym_memory.games.textworld.zmachine import clean_text, turns_of

HERE = Path(__file__).parent
FAMILIES: tuple[type[TextWorldFamily], ...] = (
    Cooking, TreasureHunt, Cleaning, Errands, *CHALLENGES.values(),
)  # fmt: skip
GAMES = 20
"""Games of each level and split, the first of the list."""
FRESH = 500
"""Games of ``tw-make``."""
_FRESH = "tw-make/"
TEXT_COMMANDS = 20_000
Plan = Mapping[str, int]
"""Player to its steps."""
PLAN: Plan = {"random": 90, "walkthrough": 90, "adversary": 165}
FIRST: Plan = {**PLAN, "planner": 120}
"""Steps in the first game of a level and split; those of the planner end with its episode."""
_TEXT: Plan = {"text": 400}
_MAKING_CPU_SECONDS = 5
"""After which a game counts as one that cannot be made."""
_SCRATCH = tempfile.TemporaryDirectory()


class Game(NamedTuple):
    """A game by name, and how to get its file."""

    name: str
    make: Callable[[], Path | None]
    planned: bool


# ---------------------------------------------------------------- games


def listed() -> Iterator[Game]:
    """Yield the first games of every level and split, in rounds."""
    for number in range(GAMES):
        for family in FAMILIES:
            for level in family.listed_levels or family.levels:
                for split in family.splits:
                    if number < family.sizes[split]:
                        yield Game(
                            f"{family.family}/{level}/{split}/{number}",
                            lambda f=family, v=level, s=split, n=number: _story(f, v, s, n),  # type: ignore[misc]
                            number == 0,
                        )


def _story(family: type[TextWorldFamily], level: str, split: str, number: int) -> Path:
    env = family(level, split)
    return Path(env.description(env.task_ids[number]))


def fresh(number: int) -> Game:
    """Return a game of ``tw-make`` whose settings follow from a number."""
    return Game(f"{_FRESH}{number}", lambda: _made(number), planned=False)


def _made(number: int) -> Path | None:
    """Run ``tw-make`` in this process, which has already imported TextWorld and read its rules."""
    sys.path.insert(0, str(HERE / "foreign_games" / "tw_make"))
    from make import MAKERS

    rng = random.Random(f"engines {number}")
    maker = rng.choice(list(MAKERS))
    options = MAKERS[maker][0](rng)
    story = Path(_SCRATCH.name) / f"{number}.z8"
    program = str(next(f.locate() for f in files("textworld") or () if f.name == "tw-make"))
    command = [program, maker, *options, "--seed", str(rng.randrange(10**6))]
    command += ["--output", str(story), "--silent"]
    _read_rules()
    with (
        mock.patch.object(sys, "argv", command),
        _limited(_MAKING_CPU_SECONDS),
        generating(),
        trial_run_by_logic() if maker != "tw-cooking" else contextlib.nullcontext(),
        contextlib.redirect_stderr(None),
        contextlib.suppress(Exception, SystemExit),
    ):
        runpy.run_path(program, run_name="__main__")
    return story if story.exists() else None


@cache
def _read_rules() -> None:
    """Make TextWorld read its two sets of rules, which takes longer than most games do."""
    for family in (Cooking, TreasureHunter):
        generate(family, next(iter(family.levels.values())), "train", 0)


@contextlib.contextmanager
def _limited(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in the block after a number of CPU seconds of this process."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


# ---------------------------------------------------------------- players

_FORMS = (
    "take {}", "get {}", "take {} from {}", "drop {}", "put {} on {}", "insert {} into {}",
    "put {} in {}", "open {}", "close {}", "lock {} with {}", "unlock {} with {}", "examine {}",
    "x {}", "eat {}", "drink {}", "cook {} with {}", "slice {} with {}", "dice {} with {}",
    "chop {} with {}", "prepare meal", "go north", "go south", "go east", "go west", "north", "s",
    "look", "inventory",
)  # fmt: skip


def adversarial(rng: random.Random, names: list[str]) -> str:
    """Draw a command whose nouns may be anything in the game."""
    form = rng.choice(_FORMS)
    return form.format(*(rng.choice(names) for _ in range(form.count("{}"))))


_SYNONYMS = {
    "take": ("grab", "carry", "pick up", "steal", "get hold of"), "put": ("place", "drop", "leave"),
    "open": ("unwrap", "uncover", "pull"), "examine": ("look at", "read", "check", "inspect"),
    "go": ("walk", "run", "head", "go to the"), "insert": ("put", "stuff"),
    "look": ("l", "look around"),
    "inventory": ("i", "inv", "take inventory"), "drop": ("throw", "put down", "discard"),
    "eat": ("bite", "taste"), "close": ("shut", "cover"), "cook": ("fry", "roast"),
    "slice": ("cut", "chop"),
}  # fmt: skip
_NONSENSE = (
    "xyzzy", "sing", "jump", "wait", "z", "dance with it", "take all", "drop all", "take it",
    "examine it", "again", "g", "eat everything", "open", "take", "go", "who am i", "say hello",
    "put it on it", "look under it", "enter", "sit", "stand up", "help", "goal", "score", "yes",
    "sleep", "smell", "listen", "think", "take the the", "north by northwest", "examine me",
)  # fmt: skip


def free_text(rng: random.Random, valid: tuple[str, ...], names: list[str]) -> str:
    """Draw a command as a language model may write it: a valid or adversarial one, altered."""
    if rng.random() < 0.15:
        return rng.choice(_NONSENSE)
    command = rng.choice(valid) if rng.random() < 0.6 else adversarial(rng, names)
    words = command.split()
    change = rng.randrange(7)
    if change == 0 and words[0] in _SYNONYMS:
        words[0] = rng.choice(_SYNONYMS[words[0]])
    elif change == 1 and len(words) > 1:  # a partial name
        words.pop(rng.randrange(1, len(words)))
    elif change == 2:  # a typo
        at = rng.randrange(len(words))
        place = rng.randrange(len(words[at]))
        words[at] = words[at][:place] + rng.choice("aest") + words[at][place + 1 :]
    elif change == 3 and len(words) > 1:
        words.insert(1, rng.choice(("the", "a", "my", "that")))
    elif change == 4 and len(words) > 1:
        words[1:] = [rng.choice(("it", "them", "all", "me"))]
    elif change == 5:
        words.append(rng.choice(("please", "now", "carefully", "and look", "quickly")))
    return " ".join(words)


def planner_actions(name: str) -> list[str]:
    """Return the planner's actions in a listed task."""
    import gymnasium as gym

    from gym_memory.baselines import make_policy

    family, level, split, _ = name.split("/")
    ids = {"cooking": "Cooking", "treasure_hunt": "TreasureHunt", "cleaning": "Cleaning"}
    if family in ids:
        settings: dict[str, Any] = {"level": level}
    elif family == "errands":
        return []  # a task of several games
    else:
        settings = {"challenge": family, "level": level}
    env = gym.make(
        f"gym_memory/{ids.get(family, 'TextWorld')}-v0", split=split, max_steps=FIRST["planner"],
        **settings,
    )  # fmt: skip
    policy = make_policy("planner?encoder=hash" if family == "cleaning" else "planner")
    obs, info = env.reset(options={"task_id": name})
    policy.reset(info, 0)
    actions, done = [], False
    while not done:
        actions.append(policy.act(obs, info))
        env.get_wrapper_attr("set_focus")(policy.focus)
        obs, _, terminated, truncated, info = env.step(actions[-1])
        done = terminated or truncated
    env.close()
    return actions


# ---------------------------------------------------------------- both engines


class Pair:
    """The rules and the interpreter in the same game.

    Attributes:
        steps: Commands that both have played.
        native: Those that the rules answered.
        unequal: The first differences.
    """

    def __init__(self, story: Path):
        self.rules, self.inform = TextWorldEngine("auto"), TextWorldEngine("inform")
        self.story = story
        self.steps = self.native = 0
        self.unequal: list[Any] = []
        self._confirmed: set[str] = set()

    def begin(self) -> None:
        """Start the game again."""
        one, two = self.rules.start(self.story), self.inform.start(self.story)
        self._compare("", one, two)

    def play(self, command: str) -> bool:
        """Play a command; return whether the game goes on."""
        unheard = self.rules._missed
        one = self.rules.send(command)
        two = self.inform.send(command)
        self.steps += 1
        self.native += self.rules._missed is not None and self.rules._missed[1] is unheard
        self._compare(command, one, two)
        over = two.won or two.lost
        if not over and self.rules.inventory() not in self._confirmed:
            self._compare_inventory(command)
        return not (over or self.unequal)

    def _compare(self, command: str, one: Any, two: Any) -> None:
        mine, judge = self.rules, self.inform
        if one != two:
            self.unequal.append([command, one.text, two.text])
        elif mine._state.changes != judge._state.changes:
            self.unequal.append([command, "facts"])
        elif mine.admissible_commands() != judge.admissible_commands():
            self.unequal.append([command, "valid actions"])
        elif mine._board.standing != judge._board.standing:
            self.unequal.append([command, str(mine._board.standing), str(judge._board.standing)])

    def _compare_inventory(self, command: str) -> None:
        machine = self.inform._machine
        assert machine is not None
        state = machine.save()
        raw = machine.send("inventory")
        machine.load(state)
        text, turns = clean_text(raw)[0], turns_of(raw)
        if text != self.rules.inventory():
            self.unequal.append([command, self.rules.inventory(), text])
        if self.rules.game.native and turns != self.rules._board.standing.turns + 1:
            self.unequal.append([command, "turns", turns])
        self._confirmed.add(text)


def _commands(player: str, rng: random.Random, pair: Pair, planned: list[str]) -> Iterator[str]:
    names = sorted(pair.rules.game.world.names.values())
    plan = list(pair.rules.game.metadata.get("walkthrough") or ())
    while True:
        valid = pair.rules.admissible_commands()
        if player == "planner":
            if not planned:
                return
            yield planned.pop(0)
        elif player == "walkthrough" and plan and rng.random() < 0.85:
            yield plan.pop(0)
        elif player == "adversary" and rng.random() < 0.6:
            yield adversarial(rng, names)
        elif player == "text":
            yield free_text(rng, valid, names)
        else:
            yield rng.choice(valid)


def compare(game: Game, plan: Plan) -> dict[str, Any]:
    """Play a game with each player, as many episodes as take these steps."""
    story = game.make()
    if story is None:
        return {"game": game.name, "made": False, "steps": 0, "native": 0, "unequal": []}
    pair = Pair(story)
    for player, steps in plan.items():
        rng = random.Random(f"{game.name} {player}")
        planned = planner_actions(game.name) if player == "planner" else []
        left = len(planned) if player == "planner" else steps
        while left > 0 and not pair.unequal:
            pair.begin()
            for command in _commands(player, rng, pair, planned):
                if not _reaches(command):
                    continue
                left -= 1
                if not pair.play(command) or left == 0:
                    break
    native = load_game(story).native is not None
    pair.rules.close()
    pair.inform.close()
    return {
        "game": game.name, "made": True, "rules": native, "steps": pair.steps,
        "native": pair.native, "unequal": pair.unequal[:3],
    }  # fmt: skip


_GATE = Cooking("rl-1")


def _reaches(command: str) -> bool:
    """True if the environment hands the command to its engine."""
    return _GATE.refuse(command) is None


# ---------------------------------------------------------------- the run


def _games(rows: list[dict[str, Any]]) -> Iterator[Game]:
    """Yield the listed games and, after every two, a fresh one until there are enough rows."""
    new = takewhile(lambda _: _made_fresh(rows) < FRESH, map(fresh, count()))
    for i, game in enumerate(listed()):
        yield game
        if i % 2:
            yield from islice(new, 1)
    yield from new


def _made_fresh(rows: list[dict[str, Any]]) -> int:
    return sum(row["made"] and row["game"].startswith(_FRESH) for row in rows)


def main() -> None:
    """Play, keep a row for each game, and print the sums."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--text", action="store_true", help="free text instead of commands")
    parser.add_argument("--steps", type=int, help="stop after so many steps")
    parser.add_argument("--out", type=Path, help="rows of games; default: beside this script")
    args = parser.parse_args()
    out = args.out or HERE / ("engines_text.jsonl.gz" if args.text else "engines.jsonl.gz")
    rows = list(read_rows(out))
    most = args.steps or (TEXT_COMMANDS if args.text else math.inf)
    done = {row["game"] for row in rows}
    for game in _games(rows):
        if sum(row["steps"] for row in rows) >= most:
            break
        if game.name not in done:
            plan = FIRST if game.planned else PLAN
            rows.append(compare(game, _TEXT if args.text else plan))
            _keep(rows, out)
    print(_summary(rows))


def _keep(rows: list[dict[str, Any]], out: Path) -> None:
    part = out.with_suffix(".part")
    text = "".join(json.dumps(row) + "\n" for row in rows)
    part.write_bytes(gzip.compress(text.encode(), mtime=0))
    part.replace(out)


def _summary(rows: list[dict[str, Any]]) -> str:
    steps, native = (sum(row[key] for row in rows) for key in ("steps", "native"))
    made = [row for row in rows if row["made"]]
    fresh_games = sum(row["game"].startswith(_FRESH) for row in made)
    unequal = [row for row in rows if row["unequal"]]
    return (
        f"{len(made)} games, {fresh_games} of them fresh: {steps} steps, "
        f"{native / max(steps, 1):.1%} by the rules, {len(unequal)} games with a difference"
    ) + "".join(f"\n{json.dumps(row)}" for row in unequal[:20])


if __name__ == "__main__":
    main()
