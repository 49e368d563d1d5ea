"""Kinds of furniture and things of generated households, under ALFWorld's names.

Which things a room has, where they may be and how many is our own choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["OPENABLE", "ROOMS", "THINGS", "ObjectKind", "Room"]


class ObjectKind(NamedTuple):
    """Hold what can be done to a thing, and its places; a repeated place is likelier."""

    uses: tuple[str, ...]
    places: tuple[str, ...]


class Room(NamedTuple):
    """Hold the least and the greatest number of each kind, and the lamp with its places."""

    furniture: Mapping[str, tuple[int, int]]
    things: Mapping[str, tuple[int, int]]
    lamp: tuple[str, tuple[str, ...]] | None = None


OPENABLE = frozenset(("Cabinet", "Drawer", "Fridge", "Microwave", "Safe"))
"""Furniture that can be opened."""


def _thing(uses: str, places: str) -> ObjectKind:
    return ObjectKind(tuple(uses.split()), tuple(places.split()))


_FOOD = "CounterTop CounterTop DiningTable Fridge Fridge SinkBasin GarbageCan Microwave"
_DISH = "CounterTop DiningTable Cabinet Cabinet SinkBasin Shelf"
_CUTLERY = "CounterTop DiningTable Drawer Drawer SinkBasin"
_SMALL = "Desk SideTable Drawer Dresser Shelf CoffeeTable DiningTable Safe"
_BATH = "CounterTop Cabinet Toilet Drawer Shelf BathtubBasin"

THINGS: Mapping[str, ObjectKind] = {
    "Apple": _thing("clean heat cool slice", _FOOD),
    "Bread": _thing("heat cool slice", "CounterTop CounterTop DiningTable Fridge Microwave"),
    "Egg": _thing("clean heat cool slice", "Fridge Fridge CounterTop SinkBasin Microwave"),
    "Lettuce": _thing("clean cool slice", "Fridge Fridge CounterTop DiningTable SinkBasin"),
    "Potato": _thing("clean heat cool slice", _FOOD),
    "Tomato": _thing("clean heat cool slice", _FOOD),
    "Bowl": _thing("clean heat cool", f"{_DISH} Fridge Microwave"),
    "Cup": _thing("clean heat cool", f"{_DISH} Fridge Microwave"),
    "Mug": _thing("clean heat cool", f"{_DISH} CoffeeMachine CoffeeMachine Desk Microwave"),
    "Plate": _thing("clean heat cool", f"{_DISH} Microwave"),
    "Pan": _thing("clean cool", "StoveBurner StoveBurner StoveBurner CounterTop SinkBasin Fridge"),
    "Pot": _thing("clean cool", "StoveBurner StoveBurner CounterTop SinkBasin Cabinet Fridge"),
    "Kettle": _thing("clean", "StoveBurner CounterTop Cabinet"),
    "ButterKnife": _thing("clean", _CUTLERY),
    "Fork": _thing("clean", _CUTLERY),
    "Knife": _thing("clean", _CUTLERY),
    "Ladle": _thing("clean", _CUTLERY),
    "Spatula": _thing("clean", _CUTLERY),
    "Spoon": _thing("clean", _CUTLERY),
    "DishSponge": _thing("clean", "SinkBasin SinkBasin CounterTop Drawer Cabinet GarbageCan"),
    "PepperShaker": _thing("", "CounterTop DiningTable Cabinet Drawer Shelf"),
    "SaltShaker": _thing("", "CounterTop DiningTable Cabinet Drawer Shelf"),
    "WineBottle": _thing("cool", "CounterTop Fridge Cabinet GarbageCan Shelf"),
    "SoapBottle": _thing("", "CounterTop Cabinet Toilet GarbageCan Shelf"),
    "SoapBar": _thing("clean", f"{_BATH} SinkBasin GarbageCan"),
    "SprayBottle": _thing("", f"{_BATH} GarbageCan"),
    "Candle": _thing("", "CounterTop Toilet Cabinet Shelf SideTable CoffeeTable"),
    "Cloth": _thing("clean", f"{_BATH} SinkBasin"),
    "HandTowel": _thing("", "HandTowelHolder HandTowelHolder HandTowelHolder CounterTop Toilet"),
    "ToiletPaper": _thing("", "ToiletPaperHanger Toilet Cabinet CounterTop Drawer"),
    "TissueBox": _thing("", "CounterTop Toilet SideTable CoffeeTable Dresser Shelf"),
    "AlarmClock": _thing("", "Desk SideTable SideTable Dresser Shelf"),
    "Book": _thing("", "Bed Desk Desk SideTable Shelf Drawer Dresser Sofa CoffeeTable ArmChair"),
    "CD": _thing("", "Desk Desk Drawer Shelf Safe SideTable Dresser GarbageCan"),
    "CellPhone": _thing("", f"Bed Desk {_SMALL} Sofa ArmChair"),
    "CreditCard": _thing("", f"{_SMALL} Sofa ArmChair"),
    "KeyChain": _thing("", f"{_SMALL} Sofa ArmChair"),
    "Laptop": _thing("", "Bed Desk Desk Sofa CoffeeTable DiningTable ArmChair Dresser"),
    "Newspaper": _thing("", "Sofa CoffeeTable DiningTable ArmChair Drawer SideTable GarbageCan"),
    "Pen": _thing("", "Desk Desk Drawer SideTable Shelf GarbageCan Dresser"),
    "Pencil": _thing("", "Desk Desk Drawer SideTable Shelf GarbageCan Dresser"),
    "Pillow": _thing("", "Bed Bed Sofa Sofa ArmChair"),
    "RemoteControl": _thing("", "Sofa CoffeeTable SideTable Drawer ArmChair Dresser DiningTable"),
    "Statue": _thing("", "Shelf CoffeeTable SideTable Dresser DiningTable Desk"),
    "Vase": _thing("", "Shelf CoffeeTable SideTable Dresser DiningTable CounterTop"),
    "Watch": _thing("", "SideTable Drawer Dresser Shelf Safe CoffeeTable Desk"),
}

ROOMS: Mapping[str, Room] = {
    "kitchen": Room(
        {
            "Cabinet": (3, 8), "CoffeeMachine": (1, 1), "CounterTop": (1, 3),
            "DiningTable": (0, 1), "Drawer": (2, 5), "Fridge": (1, 1), "GarbageCan": (1, 1),
            "Microwave": (1, 1), "Shelf": (0, 2), "SinkBasin": (1, 1), "StoveBurner": (2, 4),
        },
        {
            "Apple": (1, 3), "Bread": (0, 2), "Egg": (1, 3), "Lettuce": (0, 2), "Potato": (1, 3),
            "Tomato": (0, 3), "Bowl": (0, 2), "Cup": (1, 3), "Mug": (1, 3), "Plate": (1, 3),
            "Pan": (0, 2), "Pot": (0, 2), "Kettle": (0, 2), "ButterKnife": (0, 2),
            "Fork": (1, 2), "Knife": (1, 2), "Ladle": (0, 1), "Spatula": (0, 2),
            "Spoon": (1, 3), "DishSponge": (1, 2), "PepperShaker": (0, 2), "SaltShaker": (0, 2),
            "WineBottle": (0, 2), "SoapBottle": (0, 2),
        },
    ),
    "bathroom": Room(
        {
            "BathtubBasin": (0, 1), "Cabinet": (2, 4), "CounterTop": (1, 1), "Drawer": (0, 4),
            "GarbageCan": (1, 1), "HandTowelHolder": (1, 2), "Shelf": (0, 1),
            "SinkBasin": (1, 2), "Toilet": (1, 1), "ToiletPaperHanger": (1, 1),
        },
        {
            "SoapBar": (1, 3), "SoapBottle": (1, 3), "SprayBottle": (1, 3), "Candle": (1, 3),
            "Cloth": (1, 3), "HandTowel": (1, 2), "ToiletPaper": (1, 3), "TissueBox": (0, 2),
        },
    ),
    "bedroom": Room(
        {
            "ArmChair": (0, 1), "Bed": (1, 2), "Desk": (1, 2), "Drawer": (2, 6),
            "Dresser": (0, 1), "GarbageCan": (1, 1), "Safe": (0, 1), "Shelf": (1, 4),
            "SideTable": (0, 2),
        },
        {
            "AlarmClock": (1, 2), "Book": (1, 3), "CD": (1, 3), "CellPhone": (1, 3),
            "CreditCard": (1, 3), "KeyChain": (1, 3), "Laptop": (1, 2), "Mug": (0, 2),
            "Pen": (1, 3), "Pencil": (1, 3), "Pillow": (1, 3), "Watch": (0, 2),
        },
        ("DeskLamp", ("Desk", "SideTable", "Dresser", "Shelf")),
    ),
    "living room": Room(
        {
            "ArmChair": (1, 2), "CoffeeTable": (1, 2), "DiningTable": (0, 1), "Drawer": (1, 4),
            "Dresser": (0, 1), "GarbageCan": (1, 1), "Safe": (0, 1), "Shelf": (0, 3),
            "SideTable": (1, 3), "Sofa": (1, 2),
        },
        {
            "Book": (0, 2), "CellPhone": (0, 2), "CreditCard": (1, 3), "KeyChain": (1, 3),
            "Laptop": (1, 2), "Newspaper": (1, 3), "Pillow": (1, 3), "RemoteControl": (1, 3),
            "Statue": (1, 3), "TissueBox": (0, 2), "Vase": (1, 2), "Watch": (1, 2),
            "Candle": (0, 2),
        },
        ("FloorLamp", ("SideTable", "CoffeeTable", "Dresser")),
    ),
}  # fmt: skip
