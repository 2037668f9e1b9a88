"""What the examples share: stages that run once, their progress, subwords."""
