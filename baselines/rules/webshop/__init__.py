"""Shopping by rules: what a request asks for, looked up page by page; no catalogue, no reward."""
