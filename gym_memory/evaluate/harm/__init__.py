"""Games that plant what is false: texts that lie, and a thing that is moved out of view.

``gym-memory rank`` and ``python -m benchmarks poison`` play them.
"""
