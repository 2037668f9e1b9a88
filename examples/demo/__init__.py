"""The demo: from nothing to translations, by fairseq's own commands (`make demo`)."""
