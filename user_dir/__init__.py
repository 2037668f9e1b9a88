"""What `--user-dir user_dir` loads from a clone of the repository."""

from fairseq_mcts.register import register

register()
