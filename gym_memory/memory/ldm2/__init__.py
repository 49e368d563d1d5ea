"""LDM2 (Wang et al.): tuples from past trajectories, recalled as examples by a two-level index.

``memory.py`` is the memory; ``formation.py`` makes records of trajectories, ``bank.py`` and
``index.py`` keep and find them. Exploring for more lives in ``gym_memory/experiment/``.
"""
