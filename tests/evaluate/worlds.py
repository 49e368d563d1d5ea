"""A small world in three styles of text, with its truth: for measuring what a memory maps."""

from __future__ import annotations

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
        told = f"\nThe air is cold; {ways}." if first else ""
        return f"{self.place.upper()}{told}{names}"

    def taken(self, name: str) -> str:
        return "Taken."

    def dropped(self, name: str) -> str:
        return "Dropped."

    def refused(self) -> str:
        return "You bump into a wall."
