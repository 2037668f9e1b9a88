"""fairseq's hub interface: whoever asks it for a search gets that, or is told how.

`translate(…, search=…)` hands its options on to the task, and fairseq's tasks read those they
know and drop the others.
"""

import functools
import inspect
from collections.abc import Iterable
from typing import Any

from fairseq.dataclass.configs import GenerationConfig
from fairseq.hub_utils import GeneratorHubInterface

from fairseq_mcts.tasks.search_config import search_field_names
from fairseq_mcts.tasks.translation_mcts import NAME, TranslationMctsTask


def install() -> None:
    """Makes the interface tell the task its tokenizer, and refuse options that nobody reads."""
    if hasattr(GeneratorHubInterface.generate, "__wrapped__"):
        return
    build, generate = GeneratorHubInterface.__init__, GeneratorHubInterface.generate
    of_generate = set(inspect.signature(generate).parameters)

    @functools.wraps(build)
    def build_interface(self: Any, cfg: Any, task: Any, models: Any) -> None:
        build(self, cfg, task, models)
        if isinstance(task, TranslationMctsTask):
            task.set_text_encoders(self.tokenizer, self.bpe)

    @functools.wraps(generate)
    def checked_generate(self: Any, *args: Any, **options: Any) -> Any:
        given = options.keys() - of_generate
        if isinstance(self.task, TranslationMctsTask):
            _refuse_unknown(given, self.cfg.generation)
        else:
            _refuse_searches(given, options, type(self.task).__name__)
        return generate(self, *args, **options)

    GeneratorHubInterface.__init__ = build_interface
    GeneratorHubInterface.generate = checked_generate


def _refuse_unknown(given: Iterable[str], generation: Any) -> None:
    known = {*search_field_names(), *vars(GenerationConfig()), *generation}
    for name in sorted(given):
        if name not in known:
            raise ValueError(
                f"{name}: the searches have no such option, nor has fairseq's generation"
            )


def _refuse_searches(given: Iterable[str], options: dict[str, Any], task: str) -> None:
    ours = sorted(set(given) & set(search_field_names()))
    if ours:
        # "search" first, if it is among them
        name = "search" if "search" in ours else ours[0]
        raise ValueError(
            f"{name}={options[name]!r}: this checkpoint was loaded with fairseq's {task}, which "
            f"only knows beam search; load it with from_pretrained(…, task={NAME!r}) or with "
            "fairseq_mcts.load(…)"
        )
