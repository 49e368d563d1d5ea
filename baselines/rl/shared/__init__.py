"""What the learning baselines share: features, stores, encoders, replay, the training loop.

A network and its update stand in the baseline's own file, not here; nothing here knows a game.
"""
