"""What tests and demonstrations need: a fake house, a scripted chat server."""
