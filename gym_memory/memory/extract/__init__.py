"""Extraction: from the text of a step to facts."""
