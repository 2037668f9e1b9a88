"""What the plugin needs of a fairseq, whichever it is: looked for by features, not by versions.

fairseq-fixed, fairseq's own releases and its main branch, and forks of it all call themselves
`fairseq`, with version numbers that tell nothing.
"""

import importlib
from operator import attrgetter
from typing import Any

from fairseq_mcts.compat import import_fairseq

#: modules and their attributes that not every fairseq has, in the order they came about
NEEDED: tuple[tuple[str, str], ...] = (
    ("fairseq.dataclass", "FairseqDataclass"),
    ("fairseq.dataclass.configs", "GenerationConfig"),
    ("fairseq.dataclass.utils", "convert_namespace_to_omegaconf"),
    ("fairseq.tasks", "TASK_DATACLASS_REGISTRY"),
    ("fairseq.tasks.translation", "TranslationConfig"),
    ("fairseq.distributed.utils", "all_gather_list"),
    ("fairseq.scoring", "BaseScorer"),
    ("fairseq.logging.metrics", "log_derived"),
    ("fairseq.models.transformer", "TransformerDecoderBase"),
    ("fairseq.modules.transformer_layer", "TransformerDecoderLayerBase"),
    ("fairseq.models", "BaseFairseqModel.prepare_for_inference_"),
)

HOW_TO_GET_ONE = (
    "pip install --no-build-isolation 'fairseq_mcts[fairseq]' brings one that runs on Python 3.10 "
    "to 3.12"
)


class FairseqError(ImportError):
    """There is no fairseq, or one that the plugin can't work with."""


def require_fairseq() -> None:
    """Imports whatever fairseq the environment has; says in one sentence what is missing."""
    try:
        fairseq = import_fairseq()
    except ModuleNotFoundError as error:
        if error.name != "fairseq":
            raise _broken(error) from error
        raise FairseqError(
            f"fairseq_mcts works with the fairseq that is installed, and none is: {HOW_TO_GET_ONE}"
        ) from error
    except Exception as error:  # an old fairseq on a new Python fails in any way
        raise _broken(error) from error
    missing = [f"{module}.{name}" for module, name in NEEDED if not _has(module, name)]
    if missing:
        version = getattr(fairseq, "__version__", "of unknown version")
        raise FairseqError(
            f"the fairseq {version} in {_folder(fairseq)} has no {missing[0]}, which fairseq_mcts "
            f"needs: take fairseq 0.12 or later; {HOW_TO_GET_ONE}"
        )


def _has(module: str, name: str) -> bool:
    try:
        attrgetter(name)(importlib.import_module(module))
    except (ImportError, AttributeError):
        return False
    return True


def _folder(fairseq: Any) -> str:
    paths = [*getattr(fairseq, "__path__", ())]
    return str(paths[0]) if paths else "an unknown place"


def _broken(error: Exception) -> FairseqError:
    return FairseqError(
        f"the fairseq of this environment can't be imported here ({type(error).__name__}: {error}):"
        f" {HOW_TO_GET_ONE}"
    )
