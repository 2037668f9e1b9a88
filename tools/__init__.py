"""What the project's own upkeep needs."""
