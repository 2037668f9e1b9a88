"""Greedy decoding by this project's evaluator beside CTranslate2, on fairseq's own transformer.

    pip install ctranslate2
    python benchmarks/against_ctranslate2.py [--size small|base] [--json FILE]

CTranslate2 is an inference engine in C++ for a fixed set of decoders. Both sides compute in float32
with as many threads, decode the same sentences, 32 at a time, and must give the same translations:
CTranslate2 in batches of similar length, as it makes them itself, here sentences join as others are
finished. The figure is CTranslate2's time over ours: 1 would be as fast as C++, 0.5 half as fast.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import common
import networks
import torch

from fairseq_mcts.generators.joining import joined
from fairseq_mcts.search import make_decoder

BARS = {"small": 1.0, "base": 1.2}
BATCH = 32


def convert(model: Any, folder: Path) -> None:
    """Writes a transformer of `networks.multihead` for CTranslate2."""
    from ctranslate2.converters import fairseq as weights
    from ctranslate2.converters.converter import Converter
    from ctranslate2.specs import common_spec, transformer_spec

    class FromMemory(Converter):
        """CTranslate2's own converter of fairseq models reads a checkpoint; this one a model."""

        @torch.no_grad()
        def _load(self) -> transformer_spec.TransformerSpec:
            encoder, decoder = model.encoder, model.decoder
            spec = transformer_spec.TransformerSpec.from_config(
                (len(encoder.layers), len(decoder.layers)),
                decoder.layers[0].self_attn.num_heads,
                pre_norm=True,
                activation=common_spec.Activation.RELU,
            )
            weights.set_transformer_encoder(spec.encoder, encoder)
            weights.set_transformer_decoder(spec.decoder, decoder)
            symbols = ["<blank>" if one == "<pad>" else one for one in decoder.dictionary.symbols]
            spec.register_source_vocabulary(symbols)
            spec.register_target_vocabulary(symbols)
            spec.config.decoder_start_token = spec.config.eos_token
            spec.config.add_source_eos = True
            return spec

    FromMemory().convert(str(folder), force=True)


def main(arguments: Sequence[str] | None = None) -> common.Report:
    parser = common.make_parser(__doc__)
    parser.add_argument("--sentences", type=int, default=256)
    options = common.parse(parser, arguments)
    try:
        import ctranslate2
    except ModuleNotFoundError as missing:
        sys.exit(f"{missing}: this benchmark compares with CTranslate2; pip install ctranslate2")
    report = common.Report("against CTranslate2", options, networks.settings())
    model = networks.multihead(options.size, options.seed)
    dictionary = model.decoder.dictionary
    sources = networks.make_sources(model.encoder.dictionary, options.sentences, options.seed)
    numbers = range(len(sources))
    batches = [numbers[begin : begin + BATCH] for begin in range(0, len(numbers), BATCH)]
    together, at_once = joined(batches)
    texts = [[dictionary[token] for token in source[:-1]] for source in sources]
    ours = networks.search_generator(model, make_decoder("beam", {"beam": 1}))
    ours.at_once = at_once
    found: dict[str, list[list[str]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        convert(model, Path(folder))
        translator = ctranslate2.Translator(
            folder,
            device="cpu",
            compute_type="float32",
            inter_threads=1,
            intra_threads=options.threads,
        )

        def by_ctranslate2() -> None:
            results = translator.translate_batch(
                texts,
                beam_size=1,
                max_batch_size=BATCH,
                min_decoding_length=networks.MIN_LENGTH,
                max_decoding_length=networks.MAX_LENGTH,
            )
            found["ctranslate2"] = [result.hypotheses[0] for result in results]

        def here() -> None:
            results = [
                hypotheses[0].tokens
                for batch in together
                for hypotheses in ours.translate([sources[one] for one in batch])
            ]
            found["here"] = [[dictionary[token] for token in one[:-1]] for one in results]

        seconds = common.alternate({"ctranslate2": by_ctranslate2, "here": here}, options)
    report.add(
        common.Comparison(
            "CTranslate2's greedy / ours, fairseq's transformer",
            seconds["ctranslate2"] / seconds["here"],
            common.at_least(BARS.get(options.size)),
            {f"{name} s": value for name, value in seconds.items()},
            outputs_equal=found["ctranslate2"] == found["here"],
        )
    )
    report.write()
    return report


if __name__ == "__main__":
    main()
