"""Parts of the planner: beliefs read from an observation, a plan for each kind of aim.

No engine and no solution: it knows what it sees and what the memory recalls.
"""
