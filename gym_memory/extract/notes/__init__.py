"""What English says, whoever wrote it: things, places, states, notes, recipes.

``phrases.py`` and ``nouns.py`` know names and kinds of things, ``sentences.py`` what
descriptions and answers share, ``verbs.py`` verbs by sense, ``named.py`` what a sentence names,
``said.py`` what its other words say, ``statements.py`` what a text tells of keys, locks and
places, ``recipes.py`` what recipes ask for, ``writing.py`` what is written on things;
``reader.py`` lets these rules read it or ``parsed.py``, a statistical parser; ``plain.py`` are the
rules for text of no known dialect.
Games and players read with these; no game is named here.
"""
