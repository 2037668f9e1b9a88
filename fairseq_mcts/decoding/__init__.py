"""Networks as the searches' evaluators: key/value pool, decoder steppers, device matters."""
