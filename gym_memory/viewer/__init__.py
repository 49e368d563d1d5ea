"""Show pages: replay an episode, compare runs, play a game.

``story`` turns recorded rows into what a page shows, ``recordings`` finds the episodes of results
folders, ``replay`` writes a page of its own, ``server`` and ``play`` serve pages on this machine.
Scripts and styles are in ``static``; they show all text of games and models as text.
"""
