"""Read and write the results of a run: its folder, scores with intervals, report and plots."""

from gym_memory.run.results.folder import ResultsFolder, check_backends, read_config, read_episodes

__all__ = ["ResultsFolder", "check_backends", "read_config", "read_episodes"]
