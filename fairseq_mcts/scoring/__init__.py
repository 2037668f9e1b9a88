"""The metrics as fairseq scorers: `fairseq-generate --scoring mlbertscore …`.

Importing `fairseq_mcts.scoring.scorers` registers them.
"""
