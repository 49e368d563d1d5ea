"""Shopping page by page for what a request names; no catalogue, no reward."""
