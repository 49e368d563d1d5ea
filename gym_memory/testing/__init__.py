"""What tests and demonstrations need: a fake house, a scripted chat server.

Nothing that plays, remembers or scores may import from here.
"""
