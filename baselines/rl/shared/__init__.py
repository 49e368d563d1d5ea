"""Parts that learning baselines share: features, bags, replay, learner, checkpoints, training."""
