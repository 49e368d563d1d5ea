"""Memories of other authors: their packages and stores, behind the protocol of gym-memory."""
