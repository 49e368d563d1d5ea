"""Scoring memories rather than agents: the quality of a graph, and an exam of what is recalled.

The only place, beside the control ``oracle``, where engine facts are used.
"""
