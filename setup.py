"""The packages of the wheel; all else stands in pyproject.toml.

``gym_memory/wrappers`` and ``gym_memory/baselines`` are links to folders at the root. A checkout
may hold text files in their place (see ``gym_memory/links.py``), so both are taken from the root.
"""

from setuptools import find_packages, setup

LINKED = ("wrappers", "baselines")

own = find_packages(
    include=["gym_memory", "gym_memory.*"],
    exclude=[f"gym_memory.{name}{below}" for name in LINKED for below in ("", ".*")],
)
linked = find_packages(include=[f"{name}{below}" for name in LINKED for below in ("", ".*")])
setup(
    packages=[*own, *(f"gym_memory.{name}" for name in linked)],
    package_dir={f"gym_memory.{name}": name for name in LINKED},
)
