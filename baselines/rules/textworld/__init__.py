"""Advisors of the planner, a file for each kind of aim.

They use neither engine nor solution, only the observation and its recall.
"""
