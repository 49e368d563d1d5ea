"""Games for trainers of language models."""
