"""What memories that learn from trial to trial share: traces, causes, abstractions."""
