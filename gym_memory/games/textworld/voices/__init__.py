"""Games in many voices: names, wordings and themes that differ between train, valid and test.

``train.json``, ``valid.json`` and ``test.json`` hold forms of sentences and words. A game uses
those of its split only, so players are tested on new wordings.
"""
