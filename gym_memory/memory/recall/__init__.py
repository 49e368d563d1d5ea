"""Recall: which facts and episodes matter now, and their text within a budget.

Nothing here changes what is kept.
"""
