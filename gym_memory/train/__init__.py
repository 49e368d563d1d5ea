"""Games for those who train language models: sessions, prompts, records, and trainers' doors.

``session.py`` holds what every door shares. A door is one file: ``openenv.py`` (a server),
``trl.py`` and ``stepwise.py`` (environments and rollouts for GRPO).
``steps.py`` makes rows of what was played, ``minari.py`` a dataset of it. No trainer is imported
before its own file is.
"""
