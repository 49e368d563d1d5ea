"""Games that plant falsehoods: texts that lie, and things moved out of view.

``gym-memory rank`` and ``python -m benchmarks poison`` play them.
"""
