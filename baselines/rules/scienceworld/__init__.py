"""The parts of the imitator: what was demonstrated, what is in sight, and how the two meet.

What is to be done for a task comes from demonstrations; no engine, no solutions of test variations.
"""
