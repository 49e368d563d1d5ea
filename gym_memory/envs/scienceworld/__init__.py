"""ScienceWorld: thirty school experiments in a house, on the original engine in a Java process."""
