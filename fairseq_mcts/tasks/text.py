"""The task's text: how its tokens become what a reader sees, as metrics need it."""

from typing import Any, Optional

from fairseq_mcts.metrics.text import TextDecoders, text_decoders


class TaskText:
    """Remembers the BPE and the tokenizer that fairseq's commands build, once they have."""

    def __init__(self, task: Any) -> None:
        self._task = task
        self.bpe: Any = None
        self.tokenizer: Any = None
        self.is_tokenizer_known = False  # None says that there is none

    def set_tokenizer(self, tokenizer: Any) -> None:
        """Says how text is tokenised; None: not at all."""
        self.tokenizer = tokenizer
        self.is_tokenizer_known = True

    def decoders(self, post_process: Optional[str]) -> TextDecoders:
        """Of sources and of targets."""
        if not self.is_tokenizer_known:
            raise ValueError(
                "a metric reads text, and the task has not been told how that was tokenised: "
                "fairseq's commands and its hub interface call its build_tokenizer and build_bpe, "
                "and so must other programs"
            )
        try:
            return text_decoders(self._task, self.bpe, self.tokenizer, post_process=post_process)
        except ValueError as error:
            raise ValueError(
                f"a metric reads text, not subwords: give --bpe, or --search-post-process (beside "
                f"--post-process, which only concerns the output): {error}"
            ) from error
