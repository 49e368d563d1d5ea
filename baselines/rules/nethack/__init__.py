"""Parts of the descender: what it believes, and how it reads its own plan; no engine."""
