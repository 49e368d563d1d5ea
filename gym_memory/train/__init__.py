"""Games for trainers of language models.

``session.py`` holds what all trainers share; ``openenv.py`` (a server), ``trl.py`` and
``stepwise.py`` (GRPO) and ``verifiers.py`` adapt it. ``steps.py`` and ``export.py`` turn recorded
episodes into rows and datasets. A trainer is imported by its own file alone.
"""
