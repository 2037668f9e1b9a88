"""How hard is the value? Five ways to learn it, from guessing to comparing with the reference."""
