"""Parts of the planner: beliefs read from an observation, a plan for each kind of aim.

It uses no engine and no solution: only what is in view and what the memory recalls.
"""
