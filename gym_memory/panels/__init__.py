"""Panels: fixed lists of tasks with digests of what an agent sees, for numbers to be cited."""

from gym_memory.panels.panel import Panel, PanelTask, load_panel, panel_names

__all__ = ["Panel", "PanelTask", "load_panel", "panel_names"]
