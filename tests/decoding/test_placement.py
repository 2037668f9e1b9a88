"""Host or device: the code for devices gives the same results, and reads nothing back meanwhile."""

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch

from fairseq_mcts.decoding.device_readout import read_on_device
from fairseq_mcts.decoding.encoding import all_together, by_padded_length
from fairseq_mcts.decoding.host_readout import read_on_host
from fairseq_mcts.decoding.member import Member
from fairseq_mcts.decoding.network_evaluator import NetworkEvaluator
from fairseq_mcts.decoding.placement import Placement
from fairseq_mcts.decoding.row_attention import RowAttention
from fairseq_mcts.decoding.source_keys import SourceKeysOnDevice, source_keys_on_host
from fairseq_mcts.decoding.step_batch import StepBatch
from fairseq_mcts.search import Run, decode, make_decoder, run_decoder
from fairseq_mcts.search.constraints import make_constraints
from fairseq_mcts.search.tree import new_tree
from tests.decoding.networks import (
    BATCH,
    VOCABULARY,
    FullForward,
    dual_head,
    fairseq_transformer,
    policy_with_value,
    sources,
)
from tests.decoding.synchronising import counting
from tests.decoding.test_network_evaluator import COMMON, SEARCHES, assert_same

CPU = torch.device("cpu")
MODELS: dict[str, Callable[[], Any]] = {
    "multi-query": dual_head,
    "multi-head": lambda: policy_with_value(fairseq_transformer()),
}


@pytest.mark.parametrize(
    ("device", "dtype", "compiled", "on_host"),
    [
        ("cpu", torch.float32, True, True),
        ("cpu", torch.bfloat16, False, True),
        ("cuda", torch.float32, False, False),
        ("cuda", torch.float16, False, False),
    ],
)
def test_memory_and_type_decide(
    device: str, dtype: torch.dtype, compiled: bool, on_host: bool
) -> None:
    placement = Placement(torch.device(device), dtype)
    on_device = RowAttention.attend_path_on_device
    assert placement.attend_path is (RowAttention.attend_path_on_host if compiled else on_device)
    assert placement.make_source_keys is (source_keys_on_host if compiled else SourceKeysOnDevice)
    assert placement.group_lengths is (by_padded_length if on_host else all_together)
    assert placement.read_policies is (read_on_host if on_host else read_on_device)


@pytest.mark.parametrize("name", ["mcts_mean", "vgbs", "sr_metric"])
@pytest.mark.parametrize("kind", MODELS)
def test_the_code_for_devices_equals_full_passes(kind: str, name: str) -> None:
    model, options = MODELS[kind](), dict(SEARCHES[name])
    count = len(BATCH.src_lengths)
    expected = decode(FullForward([model], [model], BATCH), count, n_best=2, **COMMON, **options)
    placement = Placement(CPU, torch.float32, on_host=False)
    member = Member(model, VOCABULARY, policy=True, value=True, placement=placement)
    evaluator = NetworkEvaluator([member], VOCABULARY)
    evaluator.begin(sources(BATCH))
    metric = options.pop("metric", None)
    decoder = make_decoder(options.pop("search"), options)
    run = Run(make_constraints(count, **COMMON), n_best=2)
    assert_same(run_decoder(decoder, run, evaluator, metric).hypotheses, expected)


@pytest.mark.parametrize("kind", MODELS)
@torch.no_grad()
def test_a_step_reads_nothing_back_from_the_device(kind: str) -> None:
    """Tensors of the "meta" device have no numbers: what reads one fails, and so does what mixes
    them with tensors of the host."""
    meta = torch.device("meta")
    member = Member(MODELS[kind]().to(meta), VOCABULARY, policy=True, value=True)
    sentences, depths = np.array([0, 0, 2, 1], np.int32), np.array([0, 3, 1, 2])
    width = member.model.decoder.layers[0].encoder_attn.k_proj.in_features
    encoder_out = {
        "encoder_out": [torch.empty(16, 5, width, device=meta)],
        "encoder_padding_mask": [torch.empty(5, 16, dtype=torch.bool, device=meta)],
    }
    member.stepper.begin(encoder_out)
    member.stepper.reserve(20)
    batch = StepBatch(
        num_requested=len(depths),
        start_token=2,
        slots=torch.empty(4, dtype=torch.long, device=meta),
        numpy_slots=np.zeros(4, np.int32),
        parents=np.zeros(4, np.int32),
        tokens=torch.empty(4, dtype=torch.long, device=meta),
        depths=torch.empty(4, dtype=torch.long, device=meta),
        longest=4,
        sentences=sentences,
        numpy_paths=np.where(np.arange(16) <= depths[:, None], 1, -1).astype(np.int32),
        dtype=torch.float32,
    )
    tree = new_tree(20, 1)
    features = member.stepper.step(tree, batch)
    assert features.shape == (4, width) and features.device.type == "meta"
    assert member.scores(features).device.type == "meta"
    assert member.values(features, tree, batch).mean.shape == (4,)
    member.unread.write(batch.slots, features, 20)
    assert member.unread.read(batch.slots).shape == features.shape


def waits_of_calls(model: Any, options: dict[str, Any]) -> list[list[str]]:
    """What each call of the evaluator waits for, by the code for devices."""
    placement = Placement(CPU, torch.float32, on_host=False)
    member = Member(model, VOCABULARY, policy=True, value=True, placement=placement)
    evaluator = NetworkEvaluator([member], VOCABULARY)
    evaluator.begin(sources(BATCH))
    evaluate, calls = evaluator.evaluate, []

    def counted(*given: Any) -> Any:
        with counting() as waits:
            answers = evaluate(*given)
        calls.append([*waits])
        return answers

    metric = options.pop("metric", None)
    decoder = make_decoder(options.pop("search"), options)
    run = Run(make_constraints(len(BATCH.src_lengths), **COMMON), n_best=2)
    with mock.patch.object(evaluator, "evaluate", counted):
        run_decoder(decoder, run, evaluator, metric)
    return calls


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("kind", MODELS)
def test_a_call_waits_for_the_device_once(kind: str, name: str) -> None:
    calls = waits_of_calls(MODELS[kind](), dict(SEARCHES[name]))
    assert calls and all(waits == ["cpu"] for waits in calls)


def test_waiting_is_noticed() -> None:
    numbers = torch.arange(4.0)
    for work in (
        lambda one: one[1].item(),
        lambda one: bool(one.any()),
        lambda one: one.tolist(),
        lambda one: one.cpu(),
        lambda one: one.to(CPU),
        lambda one: one[one > 1],
        torch.nonzero,
        torch.unique,
    ):
        with counting() as waits:
            work(numbers)
        assert len(waits) == 1
    with counting() as waits:
        (numbers * 2).softmax(dim=0)[[1, 2]]
        numbers[numbers > 1] = 0.0
        numbers.to(CPU, non_blocking=True).to(torch.float64)
    assert not waits
