"""Parts that learning baselines share: features, bags, replay, learner, checkpoints, training.

A network and its update stand in the baseline's own file, not here; nothing here knows a game.
"""
