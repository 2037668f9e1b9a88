"""German: morphology from the word up, and clauses from the meaning down."""
