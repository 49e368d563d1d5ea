"""Answering by rules: which passage names what the question asks for; no model, no key answers."""
