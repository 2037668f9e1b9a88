"""Random meanings: phrases, clauses of phrases, sentences of clauses."""
