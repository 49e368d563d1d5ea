"""Kinds of products of the synthetic catalogue, their attributes and phrases.

An attribute appears word for word in a text of every product that has it, and in no text of
another: none of the other phrases here may contain one.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["BRANDS", "COMMENTS", "DEPARTMENTS", "KINDS", "SERIES", "Department", "ProductKind"]


class Department(NamedTuple):
    """Hold what products of a department share: first category, remarks, ends of titles."""

    path: str
    remarks: tuple[str, ...]
    uses: tuple[str, ...]


class ProductKind(NamedTuple):
    """Hold a kind of product; ``shared`` attributes also occur in related kinds, ``own`` do not."""

    department: str
    shared: tuple[str, ...]
    names: tuple[str, ...]
    category: tuple[str, ...]
    own: tuple[str, ...]
    options: dict[str, tuple[str, ...]]
    price: tuple[int, int]


BRANDS = (
    "Veltra", "Ombrio", "Kestwick", "Nuvana", "Halden", "Brimora", "Tolvex", "Quillon", "Zarvo",
    "Ferrowyn", "Lumeko", "Pardessa", "Ostrava", "Wexley", "Mirandel", "Calvora", "Drusken",
    "Elpany", "Fjorden", "Grennick", "Hexlow", "Ivandra", "Jastor", "Korrin", "Lindavo", "Morvale",
    "Norbeck", "Orlissa", "Pellick", "Quenby", "Rostavi", "Selwick", "Tarnley", "Ulveston",
    "Vassario", "Wendrick", "Xelora", "Yarrowby", "Zephrin", "Abelund", "Birkano", "Corvessa",
)  # fmt: skip

SERIES = (
    "Classic", "Select", "Prime", "Urban", "Nova", "Studio", "Heritage", "Essential", "Aero",
    "Signature", "Plus", "Origin", "Vista", "Pulse", "Harbor", "Summit", "Metro", "Terra",
)  # fmt: skip

COMMENTS = (
    "Write to us at any time and we will answer within a day.",
    "A small company makes it and looks after every order.",
    "Please check the measurements before you order.",
    "It comes in a plain box that can be reused.",
    "Screens differ, so the shade may look a little different at home.",
    "It makes a good present for a birthday or a new home.",
    "We have made these for ten years and still enjoy it.",
    "Our customers come back for it year after year.",
)

DEPARTMENTS = {
    "fashion": Department(
        "Clothing, Shoes & Jewelry",
        (
            "Made with care by people who wear it themselves",
            "Goes with jeans as well as with a suit",
            "True to size, see the chart among the pictures",
            "Neat seams inside and out",
            "A piece for travel, work and weekends",
            "The cut has been tried on many people",
        ),
        ("for Work and Travel", "for Everyday Wear", "Casual Outfit", "Four Seasons", "Gift Idea"),
    ),
    "electronics": Department(
        "Electronics",
        (
            "The manual explains every function step by step",
            "Tested for a week before it leaves the factory",
            "Buttons that can be found in the dark",
            "Small enough for any desk",
            "Works with the devices of all makers",
            "A small light shows its state",
        ),
        ("for Home and Office", "for Desk and Travel", "Latest Model", "Plus Manual", "Gift Idea"),
    ),
    "beauty": Department(
        "Beauty & Personal Care",
        (
            "A little of it is enough for a day",
            "The bottle is made of recycled material",
            "Part of a routine for mornings and evenings",
            "Mixed in small batches, dated on the lid",
            "Feels light and leaves no trace on clothes",
            "Developed with the advice of a hairdresser",
        ),
        ("for Women and Men", "Daily Routine", "Spa at Home", "Salon Choice", "Gift Idea"),
    ),
    "grocery": Department(
        "Grocery & Gourmet Food",
        (
            "Packed the day it is made",
            "Tastes of what it is made of",
            "A favourite on long walks and in lunch boxes",
            "Closes again so that nothing spills",
            "From a family that has done nothing else for long",
            "Keep it in a cool and dark place",
        ),
        ("for the Whole Family", "Pantry Staple", "Lunch Box Treat", "Gift Basket", "Party Food"),
    ),
    "garden": Department(
        "Home & Kitchen",
        (
            "Suits old houses and new flats alike",
            "All parts and a plan are in the box",
            "Rounded corners, safe around children",
            "Looks fine in every room",
            "Made in a workshop that welcomes visitors",
            "Weighs little and can be moved by one person",
        ),
        ("for Living Room", "for Bedroom and Guests", "Home Decor", "Kitchen Helper", "Gift Idea"),
    ),
}

_SHARED = {
    "shoes": (
        "arch support",
        "rubber sole",
        "water resistant",
        "faux leather",
        "ethylene vinyl",
        "odor control",
        "cushioned heel",
        "lace free",
    ),
    "clothes": (
        "machine wash",
        "hand wash",
        "slim fit",
        "loose fit",
        "quick drying",
        "stretch fabric",
        "tagless collar",
        "water repellent",
    ),
    "sound": (
        "noise cancelling",
        "stereo sound",
        "hands free",
        "fast charging",
        "carrying case",
        "batteries included",
        "voice assistant",
        "gold plated",
    ),
    "devices": (
        "easy to install",
        "plug and play",
        "wall mounted",
        "high resolution",
        "low power",
        "aluminum alloy",
        "remote control",
        "multi device",
    ),
    "skin": (
        "cruelty free",
        "paraben free",
        "fragrance free",
        "alcohol free",
        "for sensitive skin",
        "dermatologist tested",
        "hyaluronic acid",
        "coconut oil",
    ),
    "styling": (
        "sulfate free",
        "long lasting",
        "travel size",
        "easy to apply",
        "vegan formula",
        "non toxic",
        "salon grade",
        "gift boxed",
    ),
    "snacks": (
        "gluten free",
        "dairy free",
        "soy free",
        "high protein",
        "non gmo",
        "keto friendly",
        "kosher certified",
        "high fiber",
    ),
    "drinks": (
        "sugar free",
        "usda organic",
        "no artificial colors",
        "low sodium",
        "recyclable packaging",
        "small batch",
        "family owned",
        "vegan certified",
    ),
    "textiles": (
        "machine washable",
        "fade resistant",
        "eco friendly",
        "super soft",
        "double stitched",
        "non shedding",
        "odor free",
        "reversible print",
    ),
    "furniture": (
        "easy clean",
        "non slip",
        "space saving",
        "solid wood",
        "stainless steel",
        "heavy duty",
        "easy assemble",
        "scratch proof",
    ),
}
_DEPARTMENT = {
    "shoes": "fashion", "clothes": "fashion", "sound": "electronics", "devices": "electronics",
    "skin": "beauty", "styling": "beauty", "snacks": "grocery", "drinks": "grocery",
    "textiles": "garden", "furniture": "garden",
}  # fmt: skip

_COLORS = (
    "black", "white", "navy", "grey", "red", "green", "beige", "purple", "pink", "brown", "orange",
    "yellow", "teal", "burgundy",
)  # fmt: skip
_CLOTHES = ("small", "medium", "large", "x-large", "xx-large", "3x-large")
_SHOES = ("6", "7", "8", "9", "10", "11", "12")
_PACKS = ("pack of 1", "pack of 2", "pack of 3", "pack of 4", "pack of 6", "pack of 12")
_OUNCES = ("1.7 ounce", "3.4 ounce", "5.1 ounce", "8 ounce", "12 ounce", "16 ounce")
_METERS = ("3 feet", "6 feet", "10 feet", "15 feet", "25 feet")
_GIGABYTES = ("16 gb", "32 gb", "64 gb", "128 gb", "256 gb")
_SCENTS = ("lavender", "vanilla", "citrus", "rose", "coconut", "mint", "unscented", "sandalwood")
_TASTES = (
    "chocolate", "strawberry", "peanut butter", "lemon", "sea salt", "cinnamon", "maple", "mango",
    "hot chili", "raspberry",
)  # fmt: skip
_RUGS = ("2 x 3 ft", "3 x 5 ft", "4 x 6 ft", "5 x 8 ft", "8 x 10 ft")
_BEDS = ("twin", "full", "queen", "king", "california king")


def _kind(
    kind: str,
    names: str,
    category: str,
    own: str,
    price: tuple[int, int],
    **options: tuple[str, ...],
) -> ProductKind:
    return ProductKind(
        _DEPARTMENT[kind],
        _SHARED[kind],
        tuple(names.split(", ")),
        tuple(category.split(" > ")),
        tuple(own.split(", ")),
        {name.replace("_", " "): values for name, values in options.items()},
        price,
    )


KINDS = (
    _kind("shoes", "running shoes, sneakers, trainers", "Women > Shoes > Athletic",
          "breathable mesh, slip resistant, reflective stripes, wide toe",
          (25, 110), color=_COLORS, size=_SHOES),
    _kind("shoes", "hiking boots, trail boots, walking boots", "Men > Shoes > Outdoor",
          "ankle support, steel toe, insulated lining, slip resistant",
          (40, 160), color=_COLORS, size=_SHOES),
    _kind("clothes", "winter jacket, parka, puffer coat", "Women > Clothing > Coats",
          "detachable hood, fleece lined, zipper pockets, wind proof",
          (35, 180), color=_COLORS, size=_CLOTHES),
    _kind("clothes", "dress shirt, button down shirt, office shirt", "Men > Clothing > Shirts",
          "wrinkle free, spread collar, cotton blend, moisture wicking",
          (15, 70), color=_COLORS, size=_CLOTHES),
    _kind("clothes", "yoga pants, leggings, workout tights", "Women > Clothing > Active",
          "high waist, tummy control, side pockets, squat proof",
          (14, 60), color=_COLORS, size=_CLOTHES),
    _kind("clothes", "swim trunks, board shorts, beach shorts", "Men > Clothing > Swim",
          "mesh liner, elastic waist, sun protection, drawstring closure",
          (12, 55), color=_COLORS, size=_CLOTHES),
    _kind("clothes", "shoulder bag, handbag, tote", "Women > Accessories > Bags",
          "inner pockets, magnetic closure, adjustable strap, laptop sleeve",
             (18, 120), color=_COLORS, size=("mini", "standard", "oversized")),
    _kind("shoes", "loafers, slip on shoes, moccasins", "Men > Shoes > Casual",
          "memory insole, leather sole, non marking, hand stitched",
          (28, 130), color=_COLORS, size=_SHOES),
    _kind("sound", "bluetooth headphones, wireless headset, over ear headphones",
          "Headphones > Wireless", "deep bass, built in microphone, foldable design, sweat proof",
          (20, 190), color=_COLORS, style=("standard", "studio", "gaming", "kids")),
    _kind("sound", "bluetooth speaker, portable speaker, wireless speaker",
          "Audio > Speakers", "dust proof, shower proof, dual pairing, led lights",
          (18, 150), color=_COLORS, size=("mini", "medium", "large")),
    _kind("sound", "usb charger cable, charging cord, phone cable",
          "Accessories > Cables", "braided nylon, right angle, data transfer, tangle free",
          (6, 35), color=_COLORS, size=_METERS),
    _kind("devices", "security camera, surveillance camera, home camera",
          "Cameras > Security", "night vision, motion detection, two way audio, weather proof",
          (25, 170), color=("black", "white", "grey"), size=("1 pack", "2 pack", "4 pack")),
    _kind("devices", "tablet, android tablet, touchscreen tablet",
          "Computers > Tablets", "quad core, dual camera, eye protection, parental control",
          (60, 320), color=_COLORS[:6], capacity=_GIGABYTES),
    _kind("devices", "television antenna, digital antenna, tv aerial",
          "Television > Antennas", "signal booster, long range, rotor included, paper thin",
          (15, 90), color=("black", "white"), size=_METERS),
    _kind("devices", "computer keyboard, mechanical keyboard, gaming keyboard",
          "Computers > Keyboards", "wrist rest, quiet keys, hot swappable, spill proof",
          (20, 140), color=_COLORS[:8], style=("full", "compact", "split")),
    _kind("devices", "projector, movie projector, mini projector",
          "Video > Projectors", "built in speaker, keystone control, quiet fan, screen mirroring",
          (60, 340), color=("black", "white", "grey"), style=("standard", "short throw", "laser")),
    _kind("skin", "face moisturizer, face cream, day cream", "Skin Care > Face",
          "anti aging, oil free, vitamin c, spf 30", (8, 60), scent=_SCENTS, size=_OUNCES),
    _kind("styling", "shampoo, hair cleanser, hair wash", "Hair Care > Shampoo",
          "color safe, dandruff control, argan oil, volume boost", (7, 45),
          scent=_SCENTS, size=_OUNCES),
    _kind("styling", "lipstick, lip color, lip tint", "Makeup > Lips",
          "matte finish, highly pigmented, transfer proof, vitamin e", (5, 38),
          color=("coral", "plum", "nude", "red", "rose", "berry", "mauve", "brown"),
          style=("stick", "liquid", "crayon")),
    _kind("skin", "body lotion, body butter, body milk", "Skin Care > Body",
          "shea butter, fast absorbing, dry skin, aloe vera", (6, 42), scent=_SCENTS, size=_OUNCES),
    _kind("skin", "deodorant, antiperspirant, body stick", "Personal Care > Deodorants",
          "aluminum free, stain free, baking soda, clinical strength", (5, 30),
          scent=_SCENTS, size=_PACKS),
    _kind("styling", "wig, hair piece, lace front wig", "Hair Care > Wigs",
          "heat resistant, natural hairline, human hair, adjustable cap", (25, 210),
          color=("black", "brown", "blonde", "burgundy", "grey", "red"),
          length=("10 inch", "14 inch", "18 inch", "22 inch")),
    _kind("styling", "electric toothbrush, sonic toothbrush, powered toothbrush",
          "Oral Care > Toothbrushes", "pressure sensor, soft bristles, two minute timer, gum care",
          (18, 130), color=_COLORS[:8], style=("single", "couple set", "family set")),
    _kind("styling", "nail polish, nail lacquer, gel polish", "Makeup > Nails",
          "quick dry, chip resistant, ten free, mirror shine", (4, 28),
          color=("red", "pink", "nude", "black", "purple", "teal", "coral", "navy"), size=_PACKS),
    _kind("snacks", "protein bars, snack bars, energy bars", "Snacks > Bars",
          "plant based, whole grain, individually wrapped, low carb", (9, 55),
          flavor_name=_TASTES, size=_PACKS),
    _kind("drinks", "ground coffee, coffee beans, roast coffee", "Beverages > Coffee",
          "fair trade, low acid, single origin, freshly roasted", (9, 50),
          flavor_name=("dark roast", "medium roast", "light roast", "hazelnut", "mocha", "decaf"),
          size=_PACKS),
    _kind("drinks", "green tea, herbal tea, tea bags", "Beverages > Tea",
          "caffeine free, loose leaf, antioxidant rich, hand picked", (6, 40),
          flavor_name=("jasmine", "peppermint", "chamomile", "ginger", "lemon", "hibiscus"),
          size=_PACKS),
    _kind("snacks", "trail mix, mixed nuts, nut mix", "Snacks > Nuts",
          "lightly salted, dry roasted, resealable bag, no added sugar", (8, 48),
          flavor_name=_TASTES, size=_OUNCES),
    _kind("snacks", "potato chips, crisps, kettle chips", "Snacks > Chips",
          "thick cut, oven baked, avocado oil, zero trans fat", (7, 42),
          flavor_name=("sea salt", "barbecue", "sour cream", "jalapeno", "vinegar", "cheddar"),
          size=_PACKS),
    _kind("drinks", "pasta sauce, tomato sauce, marinara", "Pantry > Sauces",
          "slow cooked, vine ripened, no preservatives, glass jar", (6, 38),
          flavor_name=("basil", "garlic", "roasted pepper", "mushroom", "arrabbiata", "vodka"),
          size=_PACKS),
    _kind("drinks", "drink mix, hydration powder, electrolyte drink", "Beverages > Powders",
          "zero calorie, vitamin b12, single serve, natural sweetener", (8, 52),
          flavor_name=("lemon", "orange", "grape", "mango", "watermelon", "fruit punch"),
          size=_PACKS),
    _kind("snacks", "cookies, biscuits, tea biscuits", "Snacks > Cookies",
          "nut free, real butter, crunchy bite, baked fresh", (6, 40),
          flavor_name=_TASTES, size=_PACKS),
    _kind("textiles", "area rug, floor carpet, living room rug", "Decor > Rugs",
          "stain proof, low pile, hand woven, pet friendly", (25, 260), color=_COLORS, size=_RUGS),
    _kind("textiles", "blackout curtains, window drapes, curtain panels", "Decor > Curtains",
          "thermal insulated, rod pocket, noise reducing, light filtering", (15, 110),
          color=_COLORS, size=("42 x 63 inch", "52 x 84 inch", "52 x 95 inch", "52 x 108 inch")),
    _kind("textiles", "bed sheets, sheet set, bedding set", "Bedding > Sheets",
          "deep pocket, egyptian cotton, wrinkle resistant, hypoallergenic fabric", (20, 140),
          color=_COLORS, size=_BEDS),
    _kind("furniture", "office chair, desk chair, computer chair", "Furniture > Chairs",
          "lumbar support, high density, swivel base, padded arms", (60, 330),
          color=_COLORS[:8], style=("mid back", "high back", "drafting")),
    _kind("furniture", "bar stool, counter stool, kitchen stool", "Furniture > Stools",
          "height adjustable, foot rest, metal frame, button tufted", (40, 240),
          color=_COLORS[:8], size=("24 inch", "26 inch", "30 inch")),
    _kind("furniture", "table lamp, bedside lamp, desk lamp", "Lighting > Lamps",
          "touch control, usb port, linen shade, brushed nickel", (18, 130),
          color=_COLORS[:8], style=("single", "set of 2", "clip on")),
    _kind("furniture", "storage ottoman, footstool, storage bench", "Furniture > Ottomans",
          "faux fur, hidden storage, safety hinge, removable legs", (28, 170),
          color=_COLORS[:9], size=("15 inch", "24 inch", "30 inch", "43 inch")),
    _kind("furniture", "frying pan, skillet, cooking pan", "Kitchen > Cookware",
          "induction ready, oven proof, ceramic coating, cool handle", (15, 120),
          color=_COLORS[:7], size=("8 inch", "10 inch", "11 inch", "12 inch")),
)  # fmt: skip
