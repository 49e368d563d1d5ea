"""What memories that learn from trial to trial share: traces, causes, abstractions.

By rules; the same parts played by a language model stand in ``roles/``.
"""
