"""Parts of the imitator: demonstrations, the present scene, and the match of the two.

Everything about a task comes from demonstrations: no engine, no solutions of test variations.
"""
