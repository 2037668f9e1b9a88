"""fairseq-mcts-explore: translations by every decoder, and the page that asks for them."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from fairseq_mcts.cli.explore import main, parse
from tests.browsing import Reader, width_needed, window_of
from tests.generators.test_commands import sentencepiece
from tests.generators.trained import Trained

pytest.importorskip("fastapi")
pytestmark = pytest.mark.slow

TEXT = "the dog sees a house"


def arguments(trained: Trained) -> list[str]:
    bpe = [one for one in sentencepiece(trained) if one not in ("--buffer-size", "3")]
    return [str(trained.data), "--path", str(trained.dual), "--cpu", "--max-len-b", "15", *bpe]


@pytest.fixture(scope="module")
def address(trained: Trained) -> Iterator[str]:
    """A server with a value and a metric, on a free port."""
    from fairseq_mcts.cli.explore_server import make_app, make_server
    from fairseq_mcts.cli.explore_translator import Translator

    options, cfg = parse([*arguments(trained), "--search-metric", "vowels"])
    assert options.host == "127.0.0.1"
    server = make_server(make_app(Translator(cfg), options.host))
    listening = socket.create_server((options.host, 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(60)
    assert not thread.is_alive()


def ask(address: str, path: str, content: Any = None, **headers: str) -> tuple[int, Any]:
    data = None if content is None else json.dumps(content).encode()
    given = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(address + path, data, given)
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        body = error.read().decode()
        return error.code, json.loads(body) if body.startswith("{") else body


@pytest.mark.parametrize(
    ("search", "options"),
    [
        ("beam", {"beam": "3"}),
        ("vgbs", {"beam": "3", "alpha": "0.3"}),
        ("mcts", {"simulations": "5"}),
        ("mcts", {"simulations": "5", "leaf": "rollout"}),
        ("sr", {"samples": "4"}),
        ("sr", {"samples": "4", "rank_by": "metric"}),
        ("mbr", {"samples": "4"}),
    ],
)
def test_every_decoder(address: str, search: str, options: dict[str, str]) -> None:
    wish = {"text": TEXT, "search": search, "options": options}
    status, found = ask(address, "/api/translate", wish)
    assert status == 200, found
    assert found["text"]
    assert found["record"].isascii()
    assert 0 < found["likelihood"] <= 1
    assert found["made"] > 0
    assert ask(address, "/api/translate", wish)[1] == found


def test_beam_is_fairseqs(address: str, trained: Trained) -> None:
    """What stands in for fairseq's own search translates as that does."""
    from fairseq_mcts.cli.explore_translator import Translator

    translator = Translator(parse(arguments(trained))[1])
    source = translator._tokens(TEXT)
    dataset = translator._task.build_dataset_for_inference([source], [len(source)])
    _, cfg = parse([*arguments(trained), "--beam", "4"])
    own = translator._task.build_generator(translator._models, cfg.generation)
    sample = dataset.collater([dataset[0]])
    best = translator._task.inference_step(own, translator._models, sample)[0][0]
    text = translator._target_text.decode(best["tokens"])
    wish = {"text": TEXT, "search": "beam", "options": {"beam": "4"}}
    assert ask(address, "/api/translate", wish)[1]["text"] == text


@pytest.mark.parametrize(
    ("wish", "complaint"),
    [
        ({"text": " ", "search": "beam"}, "there is no sentence"),
        ({"text": TEXT, "search": "none"}, "search 'none': is none of beam"),
        ({"text": TEXT, "search": "mcts", "options": {"width": "1"}}, "--mcts-width: there is no"),
        (
            {"text": TEXT, "search": "mcts", "options": {"simulations": "0"}},
            "--mcts-simulations: must be a whole number",
        ),
        (
            {"text": TEXT, "search": "mcts", "options": {"gumbel_actions": "3"}},
            "--mcts-gumbel-actions 3: ",
        ),
        ({"text": "a " * 1500, "search": "beam"}, "text: "),
        ({"text": "a " * 900, "search": "beam"}, "the sentence has"),
        ({"search": "beam"}, "text: Field required"),
        ({"text": "half a pair: \ud800", "search": "beam"}, "text: "),
    ],
)
def test_bad_wishes(address: str, wish: dict[str, Any], complaint: str) -> None:
    status, answer = ask(address, "/api/translate", wish)
    assert status == 400
    assert complaint in answer["error"]


def test_other_sites_are_not_answered(address: str) -> None:
    assert ask(address, "/api/decoders", Host="elsewhere.example")[0] == 400
    wish = {"text": TEXT, "search": "beam"}
    status, _ = ask(address, "/api/translate", wish, **{"Content-Type": "text/plain"})
    assert status == 400  # what a page of another site could send without being asked


def test_a_taken_port_and_a_missing_path(
    trained: Trained, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit):
            main([*arguments(trained), "--port", str(port)])
    assert f"--port {port}: can't serve there" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([str(trained.data)])
    assert "fairseq-mcts-explore: error: --path is required" in capsys.readouterr().err


def test_ctrl_c_is_how_it_ends(trained: Trained) -> None:
    command = [sys.executable, "-m", "fairseq_mcts.cli.explore", *arguments(trained), "--port", "0"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[0]
        assert len(ask(address, "api/decoders")[1]) > 3
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0


def test_the_page(browser: Any, address: str) -> None:
    reader = Reader(browser, address)
    reader.wait_for("[data-decoder='VGBS']")
    names = [one.get_attribute("data-decoder") for one in reader.all("[data-decoder]")]
    assert names == ["beam", "MBR", "V-MCTS", "MCTS+Roll", "S+RV", "S+R", "VGBS"]
    for name in ("MBR", "V-MCTS", "S+RV", "VGBS"):
        reader.click(f"[data-decoder='{name}'] .remove")
    for name in ("MCTS+Roll", "S+R"):
        reader.one(f"[data-decoder='{name}'] input").clear()
        reader.one(f"[data-decoder='{name}'] input").send_keys("7")
    reader.one("#text").send_keys("the <b>dog</b> sees a house")
    reader.click("#go")
    reader.wait_for("[data-result='S+R, samples 7'] .see")
    assert reader.all(".error") == []
    for name in ("S+R, samples 7", "MCTS+Roll, simulations 7"):
        assert "metric 0." in reader.one(f"[data-result='{name}'] .figures").text
    # nothing is known of what beam search dropped
    reader.click("[data-result='beam'] .see")
    reader.wait_for("[data-shown='beam']")
    assert reader.all("#show-dropped") == []
    reader.click("[data-result='MCTS+Roll, simulations 7'] .see")
    reader.wait_for("[data-shown='MCTS+Roll, simulations 7']")
    assert reader.one("#moment-shown").text == "7 of 7"
    reader.look_at(0)
    assert reader.field("Visits") == "8"
    assert "the <b>dog</b> sees a house" in reader.one(".texts").text
    assert reader.complaints() == []


@pytest.mark.parametrize("width", [1280, 700])
def test_nothing_is_wider_than_the_window(browser: Any, address: str, width: int) -> None:
    with window_of(browser, width, height=900):
        reader = Reader(browser, address)
        reader.wait_for("[data-decoder='VGBS']")
        assert width_needed(browser) <= width
        reader.one("#text").send_keys(TEXT)
        reader.click("#go")
        reader.wait_for_text("#progress", "Done.")  # until then results are drawn anew
        assert width_needed(browser) <= width
        reader.click("[data-result='V-MCTS'] .see")
        reader.wait_for("[data-shown='V-MCTS']")
        assert width_needed(browser) <= width
