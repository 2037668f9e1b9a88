"""Print the folder to give as `--user-dir`: `python -m fairseq_mcts.user_dir`."""

from fairseq_mcts.user_dir import USER_DIR

print(USER_DIR)
