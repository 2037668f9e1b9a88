"""Data that carry scores: the folder and the dataset."""
