"""Parts of the searcher: where things usually are, and the next step of an errand; no engine."""
