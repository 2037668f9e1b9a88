"""Where the folder for fairseq's `--user-dir` lies in an installed package.

fairseq puts the parent of that folder first on `sys.path` and imports the folder by its base
name. So the folder has a parent with nothing else in it and a name that nobody else has.
"""

from pathlib import Path

USER_DIR = Path(__file__).parent / "fairseq_mcts_plugin"
