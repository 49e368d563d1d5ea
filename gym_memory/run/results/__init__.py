"""What a run came to: its folder, scores with intervals, report and plots.

Reads and writes results; plays nothing.
"""

from gym_memory.run.results.folder import ResultsFolder, check_backends, read_config, read_episodes

__all__ = ["ResultsFolder", "check_backends", "read_config", "read_episodes"]
