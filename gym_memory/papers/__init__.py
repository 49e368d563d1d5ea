"""Published experiments (``experiments.py``), presets of agents, LDM2's exploration, transfer."""
