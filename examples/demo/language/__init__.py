"""A small bilingual grammar that writes the parallel corpus of the demo and of the tests."""
