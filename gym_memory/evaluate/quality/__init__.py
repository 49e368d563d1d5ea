"""Scoring a memory's graph against what an ideal observer would know.

``observer.py`` is that observer and uses no extraction rules, so that it cannot share their faults.
"""
