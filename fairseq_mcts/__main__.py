"""`python -m fairseq_mcts`: explains the options that this plugin adds to fairseq's commands.

fairseq's own `--help` prints and ends before it has asked a plugin for its options.
"""

import argparse
import logging


def explanations() -> str:
    """The options of the task, of the models and of the criterions."""
    logging.disable(logging.INFO)  # fairseq tells what else could be installed
    from fairseq.criterions import CRITERION_DATACLASS_REGISTRY
    from fairseq.dataclass.utils import gen_parser_from_dataclass
    from fairseq.models import MODEL_DATACLASS_REGISTRY
    from fairseq.tasks import TASK_DATACLASS_REGISTRY

    from fairseq_mcts.register import register

    register()
    parts = (
        ("--task", "translation_mcts", TASK_DATACLASS_REGISTRY),
        ("--arch", "multiquery_transformer", MODEL_DATACLASS_REGISTRY),
        ("--arch", "dual_head_multiquery_transformer", MODEL_DATACLASS_REGISTRY),
        ("--arch", "policy_with_value", MODEL_DATACLASS_REGISTRY),
        ("--criterion", "value", CRITERION_DATACLASS_REGISTRY),
        ("--criterion", "hybrid", CRITERION_DATACLASS_REGISTRY),
    )
    texts = []
    for option, name, registry in parts:
        parser = argparse.ArgumentParser(usage=argparse.SUPPRESS, add_help=False)
        gen_parser_from_dataclass(parser.add_argument_group(f"{option} {name}"), registry[name]())
        texts.append(parser.format_help())
    return "\n".join(texts)


if __name__ == "__main__":
    print(explanations())
