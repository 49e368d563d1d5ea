"""Records, errors, names, settings and files: the base of every other folder."""
