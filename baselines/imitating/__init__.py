"""The parts of the imitator: what was demonstrated, what is in sight, and how the two meet."""
