"""What the loader says about checkpoints that can't serve a task."""

from pathlib import Path

import pytest
import torch
from fairseq import checkpoint_utils
from omegaconf import OmegaConf

from fairseq_mcts import compat
from fairseq_mcts.models.checkpoints import (
    NO_POLICY,
    CheckpointError,
    has_untrained_value,
    holds_only_a_value,
    load_model,
    load_models,
)
from fairseq_mcts.models.value_head import has_value_head
from tests.models.toys import (
    DUAL,
    POLICY,
    SOURCE_WORDS,
    TARGET_WORDS,
    ToyTask,
    make_dictionary,
    make_model,
    save_checkpoint,
    toy_task,
)

compat.apply()


def complaint(path: Path | str, task: ToyTask, **options: object) -> str:
    """Begins with the option and the file, always."""
    with pytest.raises(CheckpointError) as caught:
        load_models("--some-path", [path], task, **options)  # type: ignore[arg-type]
    before, _, what = str(caught.value).partition(f"--some-path {path}: ")
    assert before == ""
    return what


def save(folder: Path, name: str = "model.pt") -> str:
    """A policy that was trained on data in `folder`."""
    model = make_model(POLICY)
    return save_checkpoint(folder, name, POLICY, model, source_lang="en", target_lang="de")


def test_models_and_their_configurations_are_loaded(tmp_path: Path) -> None:
    path = save(tmp_path)
    model, saved = load_model("--some-path", path, toy_task(), overrides={"dropout": 0.42})
    assert saved.model._name == POLICY
    assert model.decoder.layers[0].dropout_module.p == 0.42
    assert torch.equal(
        model.encoder.embed_tokens.weight, make_model(POLICY).encoder.embed_tokens.weight
    )
    assert len(load_models("--some-path", [path, Path(path)], toy_task())) == 2


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert complaint(tmp_path / "none.pt", toy_task()) == "no such file"


def test_what_is_no_checkpoint_or_a_damaged_one_is_named(tmp_path: Path) -> None:
    path = Path(save(tmp_path))
    whole = path.read_bytes()
    for content in (b"", b"some text", whole[: len(whole) // 2]):
        path.write_bytes(content)
        assert complaint(path, toy_task()).startswith("can't be loaded: ")


def test_another_vocabulary_is_named_with_its_size(tmp_path: Path) -> None:
    task = ToyTask(make_dictionary(SOURCE_WORDS + 1), toy_task().target_dictionary)
    types = len(toy_task().source_dictionary)
    assert complaint(save(tmp_path), task) == (
        f"its encoder has a vocabulary of {types} types, but the dictionary of the data has "
        f"{types + 1}"
    )
    task = ToyTask(toy_task().source_dictionary, make_dictionary(3))
    assert complaint(save(tmp_path), task).startswith("its decoder has a vocabulary of")


def test_another_vocabulary_is_named_where_fairseq_loads_the_checkpoint(tmp_path: Path) -> None:
    """fairseq-generate --path with fairseq's own search."""
    path, good = save(tmp_path), save(tmp_path, "good.pt")
    checkpoint_utils.load_model_ensemble_and_task([good], task=toy_task())
    task = ToyTask(make_dictionary(SOURCE_WORDS + 1), toy_task().target_dictionary)
    with pytest.raises(ValueError, match=rf"^{path}: its encoder has a vocabulary of \d+ types"):
        checkpoint_utils.load_model_ensemble_and_task([path], task=task)


def test_other_words_in_the_same_number_are_noticed(tmp_path: Path) -> None:
    path, task = save(tmp_path), toy_task()
    task.source_dictionary.save(str(tmp_path / "dict.en.txt"))
    task.target_dictionary.save(str(tmp_path / "dict.de.txt"))
    load_model("--some-path", path, task)

    other = make_dictionary(TARGET_WORDS - 1)
    other.add_symbol("other")
    task = ToyTask(task.source_dictionary, other)
    expected = f"was trained with {tmp_path / 'dict.de.txt'}, which is not the dictionary of the"
    assert complaint(path, task).startswith(expected)
    assert "--model-overrides" not in complaint(path, task)  # not every command has it
    assert "--model-overrides" in complaint(path, task, overrides={})
    # without the folder of the training nothing can be said
    load_model("--some-path", path, task, overrides={"data": str(tmp_path / "elsewhere")})


@pytest.mark.parametrize(
    ("criterion", "model", "expected"),
    [
        ({"_name": "value", "policy_weight": 0.0}, {}, True),
        ({"_name": "hybrid", "policy_weight": 0.0}, {"freeze_policy": False}, True),
        ({"_name": "value", "policy_weight": 0.0}, {"freeze_policy": True}, False),
        ({"_name": "value", "policy_weight": 0.5}, {}, False),
        ({"_name": "cross_entropy"}, {}, False),
        (None, {}, False),
    ],
)
def test_the_configuration_tells_a_value_without_a_policy(
    criterion: dict[str, object] | None, model: dict[str, object], expected: bool
) -> None:
    cfg = OmegaConf.create({"model": {"_name": POLICY, **model}, "criterion": criterion})
    OmegaConf.set_struct(cfg, True)  # as fairseq's are
    assert holds_only_a_value(cfg.model) is expected


@pytest.mark.parametrize(
    ("weight", "has_value"), [(0.0, False), (0.5, True), (None, True)], ids=str
)
def test_a_value_head_that_learned_nothing_gives_no_values(
    weight: float | None, has_value: bool
) -> None:
    cfg = OmegaConf.create({"model": {"_name": DUAL}, "criterion": {"value_weight": weight}})
    model = make_model(DUAL)
    model.has_untrained_value = has_untrained_value(cfg.model)
    assert has_value_head(model) is has_value


def test_a_value_without_a_policy_is_refused_where_one_is_needed(tmp_path: Path) -> None:
    path = save(tmp_path)
    load_model("--some-path", path, toy_task(), needs_policy=True)
    state = torch.load(path, weights_only=False)
    state["cfg"]["criterion"] = {"_name": "value", "policy_weight": 0.0}
    torch.save(state, path)
    assert complaint(path, toy_task(), needs_policy=True) == NO_POLICY
    load_model("--some-path", path, toy_task())
