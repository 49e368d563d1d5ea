"""A run of many episodes: its jobs, its workers, its protocols, the comparison."""
