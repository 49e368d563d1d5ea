"""Score memories rather than agents: the quality of a graph, and an exam of what is recalled.

Apart from the control ``oracle``, only this package uses engine facts.
"""
