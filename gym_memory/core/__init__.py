"""Records, errors, names, settings and files: what every other folder builds on."""
