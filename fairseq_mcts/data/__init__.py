"""Data that carry scores: the folder, the dataset, and how such a folder is made."""
