"""Version of the package; see CONTRIBUTING.md, Releasing."""

__all__ = ["__version__"]

__version__ = "0.1.0"
