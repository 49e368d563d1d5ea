"""What is kept and measured, and does not lead yet; nothing outside may depend on it."""
