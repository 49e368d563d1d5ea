"""Benchmarks: data, the scripts that made it, and the tables. See README.md."""
