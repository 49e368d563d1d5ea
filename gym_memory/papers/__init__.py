"""Published experiments (``experiments.py``), the agents' presets, LDM2's exploration, transfer."""
