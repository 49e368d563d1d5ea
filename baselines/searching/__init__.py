"""Parts of the searcher: where things usually are, and what the next step of an errand is."""
