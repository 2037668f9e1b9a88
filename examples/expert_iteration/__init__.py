"""Search improves the value that improves the search."""
