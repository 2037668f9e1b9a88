"""Settings of decoders: which are tried, by whom, what came out, and which is the best."""
