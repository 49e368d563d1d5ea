"""Pages to look at: replay an episode, compare runs, play a game.

``story`` turns recorded rows into what a page shows, ``places`` lays the map out, ``recordings``
finds the episodes of results folders, ``replay`` writes a page of its own, ``server`` and ``play``
serve pages on this machine. The pages' scripts and styles are in ``static`` and in
``gym_memory/core/html/static``; they show all text of games and models as text.
"""
