"""Token ids become the text that fairseq-generate prints, by the task's own BPE and tokenizer."""

from argparse import Namespace

import pytest
import torch
from fairseq.data import Dictionary, encoders

from fairseq_mcts.metrics import TextDecoder, text_decoders


def make_dictionary(*symbols: str) -> Dictionary:
    dictionary = Dictionary()
    for symbol in symbols:
        dictionary.add_symbol(symbol)
    return dictionary


def test_sentencepiece_and_padding_and_unknown_words(tmp_path) -> None:
    import sentencepiece

    corpus = tmp_path / "corpus.txt"
    corpus.write_text("Der Hund läuft.\nDie Hunde laufen schnell.\n" * 20, encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(tmp_path / "sp"), vocab_size=25, minloglevel=2
    )
    model = str(tmp_path / "sp.model")
    bpe = encoders.build_bpe(Namespace(bpe="sentencepiece", sentencepiece_model=model))
    text = "Die Hunde laufen schnell."
    dictionary = make_dictionary(*bpe.encode(text).split())
    decoder = TextDecoder(dictionary, bpe)
    row = dictionary.encode_line(bpe.encode(text), append_eos=True)
    padded = torch.cat([torch.tensor([dictionary.pad()] * 3), row])
    assert decoder.decode(padded) == text
    assert decoder.decode(row.tolist()) == decoder.decode(row.numpy()) == text
    assert decoder.decode_batch(torch.stack([padded, padded])) == [text, text]
    assert decoder.decode([dictionary.eos()]) == ""
    assert "<unk>" in decoder.decode([dictionary.unk(), dictionary.eos()])
    assert "<<unk>>" in decoder.decode([dictionary.unk()], escape_unk=True)


class Detokenizer:
    """Joins what a tokenizer split: enough to see that it runs last."""

    def decode(self, x: str) -> str:
        return x.replace(" .", ".").replace("&quot;", '"')


def test_subwords_are_joined_before_detokenisation() -> None:
    dictionary = make_dictionary("ich", "lau@@", "fe", "&qu@@", "ot;", ".")
    bpe = encoders.build_bpe(Namespace(bpe="characters"))
    assert TextDecoder(make_dictionary("▁", "a"), bpe).decode([4, 5]) == " a"
    ids = dictionary.encode_line("&qu@@ ot; ich lau@@ fe .", append_eos=True)
    decoder = TextDecoder(dictionary, tokenizer=Detokenizer(), post_process="subword_nmt")
    assert decoder.decode(ids) == '" ich laufe.'


def test_post_process_and_ignored_symbols() -> None:
    dictionary = make_dictionary("ich", "lau@@", "fe", "[de_DE]")
    ids = dictionary.encode_line("[de_DE] ich lau@@ fe", append_eos=True)
    tag = dictionary.index("[de_DE]")
    decoder = TextDecoder(dictionary, post_process="@@ ", ignore=[tag])
    assert decoder.decode(ids) == "ich laufe"


def test_text_is_what_generate_would_print() -> None:
    """The same calls as in fairseq-generate for its D lines."""
    from fairseq import utils

    dictionary = make_dictionary("ich", "lau@@", "fe", "heim")
    ids = torch.tensor([dictionary.index(w) for w in ("ich", "lau@@", "fe")] + [dictionary.eos()])
    _, printed, _ = utils.post_process_prediction(
        hypo_tokens=ids.int(),
        src_str="",
        alignment=None,
        align_dict=None,
        tgt_dict=dictionary,
        remove_bpe="@@ ",
        extra_symbols_to_ignore={dictionary.eos()},
    )
    assert TextDecoder(dictionary, post_process="@@ ").decode(ids) == printed


@pytest.mark.parametrize("pieces", [["▁ich", "▁lau", "fe"], ["ich", "lau@@", "fe"]])
def test_subwords_without_a_bpe_are_refused(pieces) -> None:
    with pytest.raises(ValueError, match=r"no BPE is set.*--bpe"):
        TextDecoder(make_dictionary(*pieces))
    TextDecoder(make_dictionary("ich", "laufe"))


def test_both_languages_are_decoded_alike() -> None:
    class Task:
        source_dictionary = make_dictionary("lau@@", "fe")
        target_dictionary = make_dictionary("ru@@", "n")

    texts = text_decoders(Task(), tokenizer=Detokenizer(), post_process="subword_nmt")
    expected = [
        TextDecoder(dictionary, None, Detokenizer(), post_process="subword_nmt").decode([4, 5])
        for dictionary in (Task.source_dictionary, Task.target_dictionary)
    ]
    assert [texts.source.decode([4, 5]), texts.target.decode([4, 5])] == expected
    with pytest.raises(ValueError, match="give --bpe"):
        text_decoders(Task())
