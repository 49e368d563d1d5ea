"""Show pages: replay an episode, compare runs, play a game; all text of games is shown as text."""
