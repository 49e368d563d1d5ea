"""LDM2 (Wang et al.): tuples from past trajectories, recalled as examples by a two-level index."""
