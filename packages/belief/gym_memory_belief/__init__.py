"""GATA's continuous belief graph as a memory, in numpy: playing needs no torch.

``reading.py`` finds words and names in the texts of a step, ``sight.py`` puts them into arrays, and
``updater.py`` changes a belief by them, with weights of ``gym-memory memory pretrain``.
"""
