"""Some sentences of a split, decoded again and again by networks that stay in memory."""
