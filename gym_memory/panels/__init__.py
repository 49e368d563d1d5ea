"""Panels: fixed lists of tasks with digests of their texts, for citable numbers."""

from gym_memory.panels.panel import Panel, PanelTask, load_panel, panel_names

__all__ = ["Panel", "PanelTask", "load_panel", "panel_names"]
