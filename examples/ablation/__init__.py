"""How hard is the value? Four ways to ask for it, from guessing to comparing with the reference."""
