"""What `--user-dir "$(python -m fairseq_mcts.user_dir)"` loads from an installed package."""

from fairseq_mcts.register import register

register()
