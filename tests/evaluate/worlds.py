"""A small world in seven styles of text, with its truth: for measuring what a memory maps."""

from __future__ import annotations

from collections.abc import Iterable

from gym_memory.core.records import Oracle, Triple

WAYS = {
    "tannery": {"north": "wharf", "east": "rope walk"},
    "wharf": {"south": "tannery", "west": "custom house", "down": "barge"},
    "barge": {"up": "wharf"},
    "custom house": {"east": "wharf", "up": "counting room"},
    "counting room": {"down": "custom house"},
    "rope walk": {"west": "tannery", "north": "wharf", "south": "brickyard"},  # one way
    "brickyard": {"north": "rope walk", "southeast": "kiln"},
    "kiln": {"northwest": "brickyard"},
}
"""North from the rope walk leads to the wharf, and the way back leads elsewhere."""
SHORT = {"southeast": "se", "northwest": "nw"}
THINGS = {
    "tannery": ["hide", "scraper"], "wharf": ["crab pot"], "barge": ["tiller"],
    "counting room": ["ledger"], "rope walk": ["spindle", "tar bucket"], "kiln": ["brick"],
}  # fmt: skip


class World:
    """Walk through the places; a subclass writes the texts."""

    def reset(self, seed: int | None = None) -> str:
        self.place = "tannery"
        self.things = {place: list(names) for place, names in THINGS.items()}
        self.held: list[str] = []
        self.visited = {self.place}
        return self.room(first=True)

    def step(self, action: str) -> tuple[str, float, bool, dict]:
        return self.answer(action), 0.0, False, {}

    def answer(self, action: str) -> str:
        verb, _, name = action.partition(" ")
        here = self.things.setdefault(self.place, [])
        if verb == "take" and name in here:
            here.remove(name)
            self.held.append(name)
            return self.taken(name)
        if verb == "drop" and name in self.held:
            self.held.remove(name)
            here.append(name)
            return self.dropped(name)
        if action not in WAYS[self.place]:
            return self.refused()
        self.place = WAYS[self.place][action]
        first = self.place not in self.visited
        self.visited.add(self.place)
        return self.room(first=first)

    def actions(self) -> list[str]:
        every = ["north", "south", "east", "west", "up", "down", "southeast", "northwest"]
        takes = [f"take {name}" for name in self.things.get(self.place, ())]
        return every + takes + [f"drop {name}" for name in self.held]

    def oracle(self) -> Oracle:
        facts = {Triple("you", "is in", self.place)}
        facts |= {Triple(self.place, "has exit", way) for way in WAYS[self.place]}
        facts |= {Triple(to, f"is {way} of", self.place) for way, to in WAYS[self.place].items()}
        facts |= {Triple(n, "is in", p) for p, names in self.things.items() for n in names}
        return Oracle(frozenset(facts | {Triple(n, "is in", "inventory") for n in self.held}))


class Status(World):
    """A display of labelled lines."""

    def room(self, *, first: bool) -> str:
        names = ", ".join(self.things.get(self.place, ())) or "nothing"
        held = ", ".join(self.held) or "nothing"
        return (
            f"Location: {self.place.title()}\nExits: {', '.join(WAYS[self.place])}\n"
            f"Items: {names}\nInventory: {held}\nHP: 20/20 | Time: 10:{len(self.visited):02}"
        )

    def taken(self, name: str) -> str:
        return f"You pick up the {name}.\n\n{self.room(first=False)}"

    def dropped(self, name: str) -> str:
        return f"You drop the {name}.\n\n{self.room(first=False)}"

    def refused(self) -> str:
        return f"There is no exit that way.\n\n{self.room(first=False)}"


class FirstPerson(World):
    """Sentences of a narrator, without titles."""

    def room(self, *, first: bool) -> str:
        ways = list(WAYS[self.place])
        exits = f"A path leads {ways[0]}." if len(ways) == 1 else (
            f"There are paths to the {', '.join(ways[:-1])} and {ways[-1]}."
        )  # fmt: skip
        names = "".join(f" I can see a {name} here." for name in self.things.get(self.place, ()))
        return f"I am in the {self.place}. {exits}{names}"

    def taken(self, name: str) -> str:
        return f"I take the {name}."

    def dropped(self, name: str) -> str:
        return f"I put down the {name}."

    def refused(self) -> str:
        return "I can't go there."


class Terse(World):
    """Titles in capitals; a place is described on the first visit alone."""

    def room(self, *, first: bool) -> str:
        names = "".join(f"\nThere is a {n} here." for n in self.things.get(self.place, ()))
        ways = " and ".join(f"a passage leads {way}" for way in WAYS[self.place])
        description = f"\nThe air is cold; {ways}." if first else ""
        return f"{self.place.upper()}{description}{names}"

    def taken(self, name: str) -> str:
        return "Taken."

    def dropped(self, name: str) -> str:
        return "Dropped."

    def refused(self) -> str:
        return "You bump into a wall."


class Past(World):
    """A narrator in the past tense."""

    def room(self, *, first: bool) -> str:
        names = self.things.get(self.place)
        seen = f" You saw {listed(names, 'a ')} there." if names else ""
        came = "You came into" if first else "You were back in"
        return f"{came} the {self.place}. Paths led {listed(WAYS[self.place])}.{seen}"

    def taken(self, name: str) -> str:
        return f"You picked up the {name}."

    def dropped(self, name: str) -> str:
        return f"You put down the {name}."

    def refused(self) -> str:
        return "There was no way to go there."


class Mud(World):
    """Short names of exits in brackets, and a line for each thing."""

    def room(self, *, first: bool) -> str:
        exits = " ".join(SHORT.get(way, way[0]) for way in WAYS[self.place])
        names = "".join(f"\nA {name} lies here." for name in self.things.get(self.place, ()))
        return f"[{self.place.title()}]\n   Nobody sweeps this place.\n[Exits: {exits}]{names}"

    def taken(self, name: str) -> str:
        return f"You get a {name}."

    def dropped(self, name: str) -> str:
        return f"You drop a {name}."

    def refused(self) -> str:
        return "Alas, you cannot go that way..."


class Markdown(World):
    """Headings above lists; the whole page after every action."""

    def room(self, *, first: bool) -> str:
        exits = "\n".join(f"- {way}: {place}" for way, place in WAYS[self.place].items())
        names = "\n".join(f"* {n}" for n in self.things.get(self.place, ())) or "* (nothing)"
        return (
            f"### {self.place.title()}\n\n**Exits**\n{exits}\n\n**On the ground**\n{names}"
            f"\n\n**Backpack:** {', '.join(self.held) or 'empty'}"
        )

    def taken(self, name: str) -> str:
        return f"Added to your backpack.\n\n{self.room(first=False)}"

    def dropped(self, name: str) -> str:
        return f"Removed from your backpack.\n\n{self.room(first=False)}"

    def refused(self) -> str:
        return f"Invalid move!\n\n{self.room(first=False)}"


class Chat(World):
    """Long sentences with bold names, as a language model narrates."""

    def room(self, *, first: bool) -> str:
        ways = listed([f"the **{to}** to the **{way}**" if way not in ("up", "down") else
                       f"the **{to}** by stairs **{way}**"
                       for way, to in WAYS[self.place].items()])  # fmt: skip
        names = self.things.get(self.place)
        near = f"\n\nNearby you notice {listed(names, 'a **', '**')}." if names else ""
        came = "You step into" if first else "You find yourself back in"
        return f"{came} the **{self.place}**. It is cold.\n\nFrom here you can reach {ways}.{near}"

    def taken(self, name: str) -> str:
        return f"You carefully pick up the **{name}** and add it to your inventory."

    def dropped(self, name: str) -> str:
        return f"You set the **{name}** down on the floor."

    def refused(self) -> str:
        return "There is nothing of interest in that direction."


def listed(names: Iterable[str], before: str = "", after: str = "") -> str:
    """Return ``a cup, a map and a key``."""
    *more, last = (f"{before}{name}{after}" for name in names)
    return f"{', '.join(more)} and {last}" if more else last
