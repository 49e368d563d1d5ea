"""Parts of memories that learn from trial to trial: traces, causes, abstractions."""
