"""What tests of several rooms use: a toy parallel corpus, an untrained encoder, the shared data."""

import gzip
import itertools
import logging
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.browsing import start_browser
from tests.toy_encoder import save_toy_encoder

# Set before transformers is imported: a test that asks the network must fail at once.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
# Set before torch is imported: on a busy machine more threads than cores cost far more than one.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Some virtual machines announce instructions for bf16 that they lack: processes would end there.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE")
# Processes that train together meet on this machine, whatever its name resolves to.
os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with the longest tests come first, or one process would be left alone with them."""
    seconds: dict[Path, float] = {}
    for item in items:
        marker = item.get_closest_marker("slow")
        known = marker.kwargs.get("seconds", 0) if marker else 0
        seconds[item.path] = max(seconds.get(item.path, 0), known)
    items.sort(key=lambda item: -seconds[item.path])


@pytest.fixture(autouse=True)
def usual_process() -> Iterator[None]:
    """Undoes what trainings, benchmarks and random cases set for the whole process."""
    yield
    logging.disable(logging.NOTSET)
    logging.getLogger("fairseq").setLevel(logging.NOTSET)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_flush_denormal(False)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, for tests of pages."""
    driver = start_browser()
    yield driver
    driver.quit()


class ParallelTexts(NamedTuple):
    """Sentences and their translations, line by line."""

    sources: list[str]
    targets: list[str]


_SUBJECTS = [
    ("the dog", "der Hund"),
    ("a small cat", "eine kleine Katze"),
    ("my sister", "meine Schwester"),
    ("the old teacher", "der alte Lehrer"),
    ("our neighbour", "unser Nachbar"),
    ("the girl", "das Mädchen"),
]
_VERBS = [
    ("sees", "sieht"),
    ("finds", "findet"),
    ("buys", "kauft"),
    ("carries", "trägt"),
    ("forgets", "vergisst"),
]
_OBJECTS = [
    ("the book", "das Buch"),
    ("a red apple", "einen roten Apfel"),
    ("the key", "den Schlüssel"),
    ("some bread", "etwas Brot"),
    ("the big box", "die große Kiste"),
]
_TAILS = [
    ("in the garden.", "im Garten."),
    ("today.", "heute."),
    ("at the station.", "am Bahnhof."),
    ("again!", "schon wieder!"),
]


@pytest.fixture(scope="session")
def toy_pairs() -> ParallelTexts:
    """600 distinct English–German pairs in a fixed random order."""
    combinations = list(itertools.product(_SUBJECTS, _VERBS, _OBJECTS, _TAILS))
    random.Random(7).shuffle(combinations)
    english = [" ".join(part[0] for part in parts).capitalize() for parts in combinations]
    german = [" ".join(part[1] for part in parts) for parts in combinations]
    return ParallelTexts(english, german)


@pytest.fixture(scope="session")
def toy_encoder(tmp_path_factory: pytest.TempPathFactory, toy_pairs: ParallelTexts) -> Path:
    """A real BertModel folder with random weights."""
    folder = tmp_path_factory.mktemp("encoders") / "toy-encoder"
    save_toy_encoder(folder, [*toy_pairs.sources, *toy_pairs.targets])
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and models that lies beside the project on its own machines."""
    folder = os.environ.get("FAIRSEQ_MCTS_SHARED")
    if not folder:
        pytest.skip("FAIRSEQ_MCTS_SHARED is not set: no real data to test with")
    return Path(folder)


@pytest.fixture(scope="session")
def multi30k(shared: Path) -> Callable[[str], list[str]]:
    """Reads a language of Multi30k's test set of 2016."""

    def read(language: str) -> list[str]:
        path = shared / "data" / "multi30k" / f"test_2016_flickr.{language}.gz"
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            return stream.read().rstrip("\n").split("\n")

    return read


@pytest.fixture(scope="session")
def shared_encoder(shared: Path) -> Path:
    """A real encoder of English, German and French."""
    return shared / "models" / "mlbert-multi30k"
