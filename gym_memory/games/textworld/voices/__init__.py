"""Games in many voices: names, wordings and themes that differ between train, valid and test.

``train.json``, ``valid.json`` and ``test.json`` hold forms of sentences and words. A game of a
split uses those of its split only, so that what reads, plans or learns is tested on wordings that
it never met. ``voice.py`` composes; ``hunts.py``, ``houses.py`` and ``kitchens.py`` make the games.
"""
