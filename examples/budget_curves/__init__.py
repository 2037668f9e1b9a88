"""What each decoder gains with its budget, on a model of one's own."""
