"""What common English nouns name: rooms, furniture that holds things, keys, doors.

A text that tells where something is may name what nobody saw yet; the noun then says what it is.
"""

from __future__ import annotations

from gym_memory.extract.notes.phrases import head_noun

__all__ = [
    "CONTAINER",
    "DOOR",
    "KEY",
    "ROOM",
    "SUPPORTER",
    "kind_of_noun",
    "names_person",
    "word_set",
]


def word_set(text: str) -> frozenset[str]:
    """The words of a text, each once."""
    return frozenset(text.split())


KEY, ROOM, CONTAINER, SUPPORTER, DOOR = "key", "room", "container", "supporter", "door"
TEXT = "text"

_WORDS = {
    KEY: """
        key keycard passkey latchkey passe-partout fob opener unlocker picklock lockpick
        unlatcher
    """,
    ROOM: """
        room hall hallway chamber parlour parlor study attic cellar pantry kitchen bedroom
        bathroom washroom restroom lounge library garage garden yard backyard courtyard porch
        patio terrace balcony veranda corridor passage passageway foyer lobby vestibule entrance
        landing gallery salon saloon loft basement crypt dungeon refectory canteen cafeteria
        ballroom workshop laboratory lab office nursery playroom bedchamber antechamber larder
        scullery cookhouse laundry laundromat sauna shower spa gym gymnasium theatre theater
        auditorium chapel oratory sanctuary temple tower turret den boudoir solarium
        conservatory greenhouse orangery orchard stable barn shed hut outhouse studio suite
        dormitory infirmary ward clinic armoury armory barracks vaultroom storeroom storehouse
        warehouse cloister cloakroom wardroom cabin cubicle alcove rotunda atrium arcade museum
        archive tavern bar pub inn kiosk shop store supermarket grocery street road avenue
        zone wing area quarters cell bay deck booth bakery brewery winery smithy brig galley
        nook lair den pen kennel coop porchway hangar stairwell staircase
        driveway drive lane square plaza park forest cave cavern grotto tunnel mine bridge dock
        pier house cottage mansion castle apartment flat foyer playground pavilion gazebo
        belvedere mezzanine anteroom vestry sacristy nave belfry garret mews toilet
        lavatory loo privy sunroom clubhouse aviary apiary vineyard meadow field grove glade lawn
        beach shore harbour harbor jetty wharf ship kitchenette dinette diner restaurant cafe
        bistro office reception chancel bailey rampart parapet tearoom emporium
        boathouse carport forecourt market bazaar arena stadium court courtroom precinct
        observatory planetarium dispensary pharmacy surgery school classroom kindergarten
        inglenook snug undercroft catacomb smokehouse icehouse
        treasury mint walkway promenade
    """,
    CONTAINER: """
        locker chest box cabinet trunk safe coffer hutch vault case casket crate basket drawer
        cupboard hamper bin barrel tub wardrobe closet fridge refrigerator freezer cooler
        dishwasher toolbox suitcase briefcase satchel sack pouch purse bag backpack canister
        pannier strongbox lockbox jewelbox chiffonier armoire credenza reliquary ark urn jar pot
        vase tin carton parcel container receptacle repository compartment footlocker
        portmanteau valise cassette kist dresser bureau sideboard commode cellaret canister tank
        bowl bucket pail basin cask keg flask bottle caddy cage coop bunker crock tureen tub pan
        pot churn vat chalice rucksack knapsack holdall duffel handbag clutch wallet tote envelope
        packet pocket locket magazine hopper dustbin wastebin breadbin punnet creel trug
        jewelcase showcase cassone etui sarcophagus tabernacle ossuary depository gunsafe
        dispenser washer dryer microwave oven casserole kitbag scabbard sheath quiver holster
        treasury icebox humidor canteen repository cubby pigeonhole chiller
    """,
    SUPPORTER: """
        dresser bureau sideboard commode table desk shelf rack stand bench stool chair armchair
        couch sofa bed counter bookcase bookshelf pedestal workbench ledge lectern mantelpiece
        mantel console plinth ottoman windowsill sill nightstand tray platform podium altar
        easel worktop stove hob bar washbasin sink dish-rack hook peg rail drainer cot cradle
        board slab plank settee divan futon tripod trolley mat carpet rug doormat pew seat
        footstool footrest hassock pouf pouffe throne recliner rocker armrest headboard bedstead
        mattress bunk berth hammock cart barrow pallet dais rostrum stage pulpit stand bracket
        hanger peg clothesline grille grate hearth hearthstone trivet coaster plate saucer salver
        worksurface bartop tabletop countertop desktop surface balustrade banister lintel
        buffet etagere whatnot chaise davenport loveseat bier gurney stretcher
        frame palette anvil log stump block pillar column cooker stovetop cooktop range
    """,
    TEXT: """
        note letter message memo paper page sign poster scroll diary journal map label plaque
        leaflet newspaper inscription riddle clue hint book cookbook notebook manuscript poem
        parchment pamphlet postcard telegram notice document card slip scrap sheet flyer brochure
        booklet tract bulletin memorandum missive epistle receipt invoice bill ticket chart script
        ledger folio billet dispatch
    """,
    DOOR: """
        door gate portal gateway doorway hatch trapdoor portcullis entranceway barrier turnstile
        shutter wicket
    """,
}
_PEOPLE = word_set(
    """
    butler gardener cook chef maid servant smith blacksmith locksmith master mistress mother
    father mom dad brother sister aunt uncle cousin grandmother grandfather grandma grandpa wife
    husband son daughter child children friend neighbour neighbor guest visitor owner landlord
    landlady king queen prince princess lord lady duke duchess baron knight guard guardian
    keeper caretaker janitor porter steward housekeeper clerk librarian doctor nurse teacher
    captain sailor pirate thief burglar ghost wizard witch monk priest old-timer stranger
    traveller traveler merchant innkeeper person people man woman boy girl gentleman folk folks
    author writer staff crew guide scout messenger waiter waitress valet nanny governess
    footman parson vicar nun mayor sheriff soldier student pupil artist painter gatekeeper doorman
    miller baker butcher tailor carpenter mason plumber farmer fisherman hunter lodger tenant pal
    buddy mate colleague niece nephew twin elder ancestor heir widow prisoner jailer warden
    boss inspector detective sage hermit scholar professor
    """
)
_NO_KEYS = word_set("monkey donkey turkey jockey hockey whiskey lackey")
_ROOM_ENDINGS = ("room", "yard", "shop", "house", "hall", "atory", "arium")
_KINDS = {word: kind for kind, words in _WORDS.items() for word in words.split()}


def names_person(name: str) -> bool:
    """Whether a name is that of a person, by the noun that it ends in.

    >>> names_person("old gardener"), names_person("guest room")
    (True, False)
    """
    noun = head_noun(name)
    return noun in _PEOPLE or noun.removesuffix("s") in _PEOPLE


def kind_of_noun(name: str) -> str:
    """What a name means by its head noun; empty for a noun that is none of these.

    >>> kind_of_noun("brass key"), kind_of_noun("Locker 3"), kind_of_noun("dim hall")
    ('key', 'container', 'room')
    """
    noun = head_noun(name)
    last = noun.rpartition("-")[2]
    if last.endswith(("key", "keys", "keycard")) and last not in _NO_KEYS:
        return KEY
    kind = _KINDS.get(last) or _KINDS.get(last.removesuffix("s"), "")
    if not kind and last.endswith(_ROOM_ENDINGS):
        return ROOM
    return kind or (CONTAINER if last.endswith(("box", "case", "chest")) else "")
