"""What the learning baselines share: features, stores, encoders, replay, the training loop."""
