"""Compare the states and places that a memory holds with the engine's, after each of 2,000 steps.

    python -m benchmarks state_truth                      # all worlds, as in the table
    python -m benchmarks state_truth --world zork1 --steps 500 --wrong 20

Facts of five relations are judged: things in or on others, things carried, and things that are
open, closed or locked. *Judged* counts those whose subject the engine knows, *true* is the share
that the engine confirms, also for each relation, *pairs* counts facts alive at once that exclude
each other. A wanderer plays the episodes: it moves, looks, and takes, drops, opens and closes
things that the memory knows to be near. Every second episode of a story begins with a part of its
walkthrough.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.extract.draft import apply
from gym_memory.extract.known import ANOTHER
from gym_memory.extract.things import place_name
from gym_memory.games.jericho.facts import holders_of, object_names
from gym_memory.games.jericho.vocabulary import object_region
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, PLAYER, head_noun, is_contents

HERE = Path(__file__).parent
STORIES = HERE.parents[2] / "shared" / "data" / "stories"
TABLE = HERE / "table.json"
PLACES = ("is in", "is on", "is under", "is carried by")
STATES = {"open": "openness", "closed": "openness", "locked": "lock", "unlocked": "lock"}
EXCLUSIVE = (("open", "closed"), ("locked", "unlocked"), ("lit", "unlit"), ("on", "off"))
MOVES = ("north", "south", "east", "west", "up", "down", "northeast", "southwest", "in", "out")
VERBS = ("take", "take", "drop", "open", "close", "examine", "light", "put {} in", "turn on")
WORLDS = {
    "zork1": "zork1.z3",
    "zork3": "zork3.z3",
    "AgentOdyssey": {"world": "remnant", "tutorial": False},
    "ScienceWorld": {},
    "NetHack": {},
    "TreasureHunt": {"level": "voices-easy"},
}
"""World to its story file, or to the settings of its environment."""
SELVES = ("cretin", "you", "yourself", "self", "me")
"""Names of the player's object in stories."""
EPISODE = 200
STATUS_LINE = re.compile(r"\A>.*\n")
"""Facts of the turn before, for stories of a release that jericho does not know."""


class Engine(NamedTuple):
    """The truth: the places of each name, which several things may share, and their states."""

    places: dict[str, set[tuple[str, str]]]
    states: dict[tuple[str, str], set[str]]


class Score(NamedTuple):
    """Counts over the steps of a world; of each relation the facts judged and those true."""

    steps: int
    judged: int
    true: int
    pairs: int
    relations: dict[str, tuple[int, int]]


RELATIONS = ("is in", "is on", "carried", "open or closed", "locked")
"""What the facts that are judged are about."""


def relation_of(fact: Triple) -> str:
    """Return the relation of a fact, one of :data:`RELATIONS`."""
    if fact.relation == "is":
        return "locked" if STATES[fact.object] == "lock" else "open or closed"
    if fact.object == INVENTORY or fact.relation == "is carried by":
        return "carried"
    return "is on" if fact.relation == "is on" else "is in"


def judge(fact: Triple, engine: Engine) -> bool | None:
    """Return whether the engine confirms a fact; None if it does not know the thing."""
    subject = fact.subject.removeprefix(ANOTHER)
    if fact.relation == "is":
        slot = STATES.get(fact.object)
        known = engine.states.get((subject, slot)) if slot else None
        return None if known is None else fact.object in known
    known_places = engine.places.get(subject)
    if known_places is None:
        return None
    holder = place_name(fact.object)
    return any(place == holder for _, place in known_places)


def pairs_alive(graph: TemporalGraph) -> Iterator[tuple[Triple, Triple]]:
    """Yield facts that exclude each other."""
    for one, other in EXCLUSIVE:
        held = {fact.subject for fact in graph.related("is") if fact.object == one}
        for fact in graph.related("is"):
            if fact.object == other and fact.subject in held:
                yield Triple(fact.subject, "is", one), fact
    for fact in graph.related("is"):
        if fact.object == "empty":
            inside = [f for f in graph.incoming(fact.subject) if f.relation in ("is in", "is on")]
            if inside:
                yield fact, inside[0]
    located = Counter(f.subject for relation in PLACES for f in graph.related(relation))
    for subject, times in located.items():
        if times > 1 and subject != PLAYER:
            yield tuple(f for f in graph.outgoing(subject) if f.relation in PLACES)[:2]  # type: ignore[misc]


class Watch:
    """A count of confirmed facts, step by step."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.judged: Counter[str] = Counter()
        self.true: Counter[str] = Counter()
        self.wrong: Counter[tuple[Triple, str]] = Counter()

    def see(self, graph: TemporalGraph, engine: Engine, action: str) -> None:
        """Count one step."""
        self.counts["steps"] += 1
        self.counts["pairs"] += sum(1 for _ in pairs_alive(graph))
        facts = [f for f in graph.related("is") if f.object in STATES]
        facts += [f for relation in PLACES for f in graph.related(relation)]
        held = (f for f in graph.live() if is_contents(f.relation))
        facts += [Triple(f.object, "is in", f.subject) for f in held]
        for fact in facts:
            verdict = None if fact.subject == PLAYER else judge(fact, engine)
            if verdict is not None:
                relation = relation_of(fact)
                self.judged[relation] += 1
                self.true[relation] += verdict
                if not verdict:
                    began = graph.fact(fact)  # None for contents
                    since = began.intervals[-1][0] if began else -1
                    self.wrong[fact, f"since step {since}"] += 1

    def score(self) -> Score:
        """Return the counts."""
        relations = {name: (self.judged[name], self.true[name]) for name in RELATIONS}
        judged, true = self.judged.total(), self.true.total()
        return Score(self.counts["steps"], judged, true, self.counts["pairs"], relations)


class Wanderer:
    """A player that moves, looks, and handles things that the memory knows to be near."""

    def __init__(self, seed: int):
        self._random = random.Random(seed)

    def act(self, graph: TemporalGraph) -> str:
        """Return a command."""
        choice = self._random.random()
        here = graph.value(PLAYER, "location")
        near = [f.subject for f in graph.incoming(here.object)] if here else []
        near += [f.subject for f in graph.incoming(INVENTORY)]
        near += [f.subject for name in tuple(near) for f in graph.incoming(name)]
        near = [head_noun(name) for name in near if name != PLAYER]
        if choice < 0.45 or not near:
            exits = [f.object for f in graph.outgoing(here.object)] if here else []
            ways = [way for way in exits if way in MOVES]
            return self._random.choice(ways or list(MOVES))
        if choice < 0.55:
            return self._random.choice(("look", "inventory"))
        verb, thing = self._random.choice(VERBS), self._random.choice(near)
        if "{}" in verb:
            return f"{verb.format(thing)} {self._random.choice(near)}"
        return f"{verb} {thing}"


# Stories, by their object tree


class Story:
    """A story with the truth of all its objects."""

    def __init__(self, path: Path):
        import jericho

        bindings = {known["name"]: known for known in jericho.defines.BINDINGS_DICT.values()}
        known = bindings.get(path.stem, {})
        self.walkthrough = str(known.get("walkthrough", "")).lower().split("/")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # jericho knows another release of the story
            seed = int(known.get("seed") or 1)  # 0 is the clock
            self.env = jericho.FrotzEnv(str(path), seed=seed)
        self.story = path.read_bytes()
        self.names = object_names(self.story)
        self.player = self._find_player()
        self.open_bit = self._find_open_bit()

    def _parents(self) -> list[int]:
        return [int(n) for n in holders_of(self.story, self._memory())]

    def _memory(self) -> Any:
        return np.array(self.env._get_ram(), dtype=np.uint8)

    def _attributes(self) -> list[int]:
        """Return the attributes of each object as one number, the first one highest."""
        region, size = object_region(self.story), 9 if self.story[0] <= 3 else 14
        entries = self._memory()[region.start :][: size * region.objects].reshape(-1, size)
        width = 4 if self.story[0] <= 3 else 6
        return [0, *(int.from_bytes(bytes(entry[:width]), "big") for entry in entries)]

    def _find_player(self) -> int:
        """Return the object that most commands of movement move."""
        moved: Counter[int] = Counter()
        for way in MOVES:
            self.env.reset()
            before = self._parents()
            self.env.step(way)
            moved.update(n for n, at in enumerate(self._parents()) if before[n] not in (0, at))
        return max(moved, key=lambda n: (self.names[n] in SELVES, moved[n]))

    def _find_open_bit(self) -> int:
        """Return the bit that opening sets most often along the walkthrough."""
        set_by: Counter[int] = Counter()
        self.env.reset()
        before = self._attributes()
        for action in self.walkthrough:
            if self.env.step(action)[2]:
                break
            after = self._attributes()
            if action.startswith("open ") and len(action.split()) == 2:
                for old, new, name in zip(before, after, self.names, strict=True):
                    if action.split()[1] in name.split():
                        set_by.update(bit for bit in range(48) if new & ~old & 1 << bit)
            before = after
        return set_by.most_common(1)[0][0] if set_by else -1

    def truth(self, names: set[str]) -> Engine:
        """Return places and states of the things that some of the names may mean."""
        parents, attributes = self._parents(), self._attributes()
        places: dict[str, set[tuple[str, str]]] = defaultdict(set)
        states: dict[tuple[str, str], set[str]] = defaultdict(set)
        for name in names:
            for number in _meant(name, self.names):
                places[name] |= set()
                at = parents[number]
                for _ in range(len(parents)):
                    if not at:
                        break
                    holder = INVENTORY if at == self.player else place_name(self.names[at])
                    places[name].add(("is in", holder))
                    at = 0 if at == self.player else parents[at]
                if self.open_bit >= 0:
                    is_open = bool(attributes[number] & 1 << self.open_bit)
                    states[name, "openness"].add("open" if is_open else "closed")
        return Engine({k: _spoken_as(v, names) for k, v in places.items()}, dict(states))


@lru_cache(maxsize=4096)
def _meant(name: str, spoken: tuple[str, ...]) -> list[int]:
    """Return the objects that a name may mean: all its words, or all of theirs."""
    words = set(name.split())
    same = [n for n, other in enumerate(spoken) if other == name]
    return same or [
        n
        for n, other in enumerate(spoken)
        if other and head_noun(other) == head_noun(name)
        and (words <= set(other.split()) or set(other.split()) <= words)
    ]  # fmt: skip


def _spoken_as(places: set[tuple[str, str]], names: set[str]) -> set[tuple[str, str]]:
    """Add the other names of a holder in memories."""
    more = set(places)
    for relation, holder in places:
        for name in names:
            if set(name.split()) < set(holder.split()) or set(holder.split()) < set(name.split()):
                more.add((relation, place_name(name)))
    return more


def play_story(path: Path, steps: int, watch: Watch) -> None:
    """Play episodes of a story until there are enough steps."""
    story, rules, episode = Story(path), get_extractor("plain"), 0
    while watch.counts["steps"] < steps:
        graph, player = TemporalGraph(), Wanderer(episode)
        text, action = story.env.reset()[0], ""
        lead = random.Random(episode).randrange(len(story.walkthrough)) if episode % 2 else 0
        plan = list(story.walkthrough[:lead])
        for t in range(lead + EPISODE):
            text = STATUS_LINE.sub("", text)
            found = rules.extract(Step(t, text, action), graph, Task("", "", "plain"))
            apply(found, graph, t, episode=t)
            names = {f.subject for r in (*PLACES, "is") for f in graph.related(r)}
            names |= {f.object for r in PLACES for f in graph.related(r)}
            watch.see(graph, story.truth({n.removeprefix(ANOTHER) for n in names}), action)
            if watch.counts["steps"] >= steps:
                return
            action = plan.pop(0) if plan else player.act(graph)
            text, _, done, _ = story.env.step(action)
            if done:
                break
        episode += 1


# Environments, by their oracle


def oracle_truth(facts: frozenset[Triple]) -> Engine:
    """Return places and states by the facts of an oracle, which knows all things."""
    places: dict[str, set[tuple[str, str]]] = defaultdict(set)
    states: dict[tuple[str, str], set[str]] = defaultdict(set)
    for subject, relation, obj in facts:
        if relation in PLACES:
            places[subject].add((relation, place_name(obj)))
        elif relation.startswith("contains"):
            places[obj].add((relation, place_name(subject)))
        elif relation == "is" and obj in STATES:
            states[subject, STATES[obj]].add(obj)
            if obj == "locked":
                states[subject, "openness"].add("closed")
            elif STATES[obj] == "openness":
                states[subject, "lock"].add("unlocked")
    return Engine(dict(places), dict(states))


def play_environment(name: str, settings: dict[str, Any], steps: int, watch: Watch) -> None:
    """Play episodes of an environment until there are enough steps."""
    import gymnasium as gym

    import gym_memory  # noqa: F401 - registers the environments

    env: Any = gym.make(f"gym_memory/{name}-v0", memory="arigraph", **settings)
    episode = 0
    while watch.counts["steps"] < steps:
        obs, _ = env.reset(seed=episode)
        chooser, action = random.Random(episode), ""
        for _ in range(EPISODE):
            memory = env.get_wrapper_attr("memory")
            watch.see(memory.graph, oracle_truth(env.unwrapped.oracle().facts), action)
            action = chooser.choice(obs["valid_actions"] or ("look",))
            obs, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated or watch.counts["steps"] >= steps:
                break
        episode += 1
    env.close()


def main() -> None:
    """Play the worlds, print a row each, and keep the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--world", action="append", choices=WORLDS, help="only this one")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--wrong", type=int, default=0, help="list so many wrong facts")
    args = parser.parse_args()
    table = json.loads(TABLE.read_text("utf-8")) if TABLE.exists() else {}
    print(f"{'world':14} {'steps':>5} {'judged':>7} {'true':>6} {'pairs':>5}")
    for world in args.world or WORLDS:
        watch, how = Watch(), WORLDS[world]
        try:
            if isinstance(how, str):
                play_story(STORIES / how, args.steps, watch)
            else:
                play_environment(world, how, args.steps, watch)
        except ImportError as error:
            print(f"{world:14} {error}")
            continue
        score = watch.score()
        share = score.true / max(score.judged, 1)
        counts = f"{score.steps:5} {score.judged:7} {share:6.3f} {score.pairs:5}"
        print(f"{world:14} {counts}", flush=True)
        for relation, (judged, true) in score.relations.items():
            if judged:
                print(f"    {relation:14} {judged:12} {true / judged:6.3f}")
        for (fact, since), times in watch.wrong.most_common(args.wrong):
            print(f"    {times:4} {' | '.join(fact)} ({since})")
        table[world] = score._asdict()
        if args.steps == parser.get_default("steps"):
            TABLE.write_text(json.dumps(table, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
