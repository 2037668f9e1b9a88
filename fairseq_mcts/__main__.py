"""`python -m fairseq_mcts [--user-dir DIR]`: explains the options that plugins add to fairseq.

fairseq's own `--help` prints and ends before it has asked a plugin for its options.
"""

import argparse
import logging


def explanations(arguments: argparse.Namespace) -> str:
    """The options of the task, of the models and of the criterions, those of --user-dir too."""
    logging.disable(logging.INFO)  # fairseq tells what else could be installed
    from fairseq.criterions import CRITERION_DATACLASS_REGISTRY
    from fairseq.dataclass.utils import gen_parser_from_dataclass
    from fairseq.models import MODEL_DATACLASS_REGISTRY
    from fairseq.tasks import TASK_DATACLASS_REGISTRY
    from fairseq.utils import import_user_module

    from fairseq_mcts.command_help import HelpFormatter, show_defaults
    from fairseq_mcts.register import register

    register()
    import_user_module(arguments)
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
        parser = argparse.ArgumentParser(
            usage=argparse.SUPPRESS, add_help=False, formatter_class=HelpFormatter
        )
        gen_parser_from_dataclass(parser.add_argument_group(f"{option} {name}"), registry[name]())
        show_defaults(parser)
        texts.append(parser.format_help())
    return "\n".join(texts)


if __name__ == "__main__":
    command = argparse.ArgumentParser(prog="python -m fairseq_mcts", description=__doc__)
    command.add_argument("--user-dir", help="folder that registers decoders of your own")
    print(explanations(command.parse_args()))
