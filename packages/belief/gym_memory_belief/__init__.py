"""GATA's continuous belief graph, parts of it: what is read, the weights, the updater.

:mod:`~gym_memory_belief.reading` finds words and names in the texts of a step,
:mod:`~gym_memory_belief.sight` puts them into arrays, and
:mod:`~gym_memory_belief.updater` changes a belief by them, with weights that
``gym-memory memory pretrain`` made. All in numpy: playing needs no torch.
"""
