"""Advisors of the planner, one file per kind of aim.

They use neither engine nor solution, only the observation and its recall.
"""
