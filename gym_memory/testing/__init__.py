"""Tools of tests and demonstrations: a fake house, a scripted chat server."""
