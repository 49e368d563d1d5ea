"""Recall: find what matters now and render it within a budget; nothing here changes a memory."""
