import contextlib
import os
import pty
import subprocess
import sys
import threading
import time

import dragoman
import numpy as np
import pytest

RECIPE = {
    "data": {"synthetic": "copy", "symbols": 11, "length": 5, "sentences": 8, "batches": 10, "valid_batches": 1},
    "model": {"encoder_layers": 1, "decoder_layers": 1, "d_model": 16, "d_ff": 32, "heads": 2, "tied": "none"},
    "training": {"max_steps": 40, "threads": 1},
}


def test_training_calls_back_and_ends(tmp_path):
    steps, validations, threads = [], [], set()

    def stepped(step):
        steps.append(step)
        threads.add(threading.current_thread())

    done = dragoman.train(RECIPE, out=tmp_path / "copy", options={"training.max_steps": 30}, on_step=stepped,
                          on_validation=validations.append, progress=False)
    assert threads == {threading.current_thread()}
    assert done.steps == 30 and not done.stopped and done.folder == str(tmp_path / "copy")
    assert [step.step for step in steps] == list(range(1, 31))
    assert steps[-1].loss < steps[0].loss and validations[-1].step == 30
    assert "srcdoc" in done._repr_html_()
    translator = dragoman.Translator(done.folder, threads=1)
    assert translator.translate("1 2 3").text
    assert translator.attention("").shape[1] == 0  # a text without tokens


def test_what_a_callback_raises_saves_a_checkpoint_first(tmp_path):
    def stop(step):
        if step.step == 10:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        dragoman.train(RECIPE, out=tmp_path / "stopped", on_step=stop, progress=False)
    steps = []
    dragoman.train(RECIPE, out=tmp_path / "stopped", on_step=steps.append, progress=False)
    assert steps[0].step == 11 and steps[-1].step == 40

    undisturbed = []
    dragoman.train(RECIPE, out=tmp_path / "undisturbed", on_step=undisturbed.append, progress=False)
    assert [step.loss for step in undisturbed[10:]] == [step.loss for step in steps]


def test_a_recipe_has_tables_or_names_with_a_point(tmp_path):
    flat = {f"{table}.{name}": value for table, options in RECIPE.items() for name, value in options.items()}
    numbers = {"training": {"max_steps": np.int64(3), "max_minutes": None}, "data.name": None}
    done = dragoman.train({**flat, **numbers}, out=tmp_path / "flat", resume="auto", progress=False)
    assert done.steps == 3
    done = dragoman.train(RECIPE, out=tmp_path / "flat", options=numbers, resume="require", progress=False)
    assert done.steps == 3


def test_mistakes_are_said(tmp_path):
    for options, sentence in [({"max_steps": 3}, "did you mean training.max_steps"), ({1: 3}, "must be a str"),
                              ({"training": {"max_minutes": float("nan")}}, "max_minutes is nan"),
                              ({"training": {"max_steps": {}}}, '"training.max_steps" cannot be a dict')]:
        with pytest.raises((dragoman.UsageError, TypeError), match=sentence):
            dragoman.train({**RECIPE, **options}, out=tmp_path / "wrong")
    with pytest.raises(dragoman.UsageError, match="d_modell"):
        dragoman.train({**RECIPE, "model": {"d_modell": 16}}, out=tmp_path / "wrong")
    with pytest.raises(dragoman.UsageError, match="automatic, never or require"):
        dragoman.train(RECIPE, out=tmp_path / "wrong", resume="maybe")


def test_the_log_is_pythons(tmp_path, caplog):
    caplog.set_level("INFO", "dragoman")
    dragoman.train(RECIPE, out=tmp_path / "run", progress=False)
    lines = [(one.levelname, one.getMessage()) for one in caplog.records if one.name == "dragoman"]
    assert any(level == "INFO" and "parameters" in line for level, line in lines)
    assert "40" in lines[-1][1]  # the last one, at the call's end, has arrived

    (tmp_path / "run/checkpoints/step-00000040/model.safetensors").write_bytes(b"")
    caplog.clear()
    dragoman.train(RECIPE, out=tmp_path / "run", progress=False)
    warnings = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert len(warnings) == 1 and "skipping the checkpoint" in warnings[0]


def test_the_line_of_progress_is_alone(tmp_path):
    """On a terminal, on which the library would draw its own."""
    program = f"""
import logging, sys, dragoman
logging.basicConfig(level="INFO", format="log: %(message)s")
dragoman.train({RECIPE!r}, out=sys.argv[1], progress=True)
"""
    terminal, end = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", program, tmp_path / "run"], stderr=end)
    os.close(end)
    shown = b""
    with contextlib.suppress(OSError):  # all is read
        while True:
            shown += os.read(terminal, 4096)
    os.close(terminal)
    assert process.wait() == 0
    assert b"the best so far\r\n" in shown
    assert shown.count(b"log: ") == shown.count(b"\r\x1b[Klog: ") > 0  # instead of the line
    assert b"\x1b[?7l" not in shown  # no wrapping: a line of the library's


def test_interrupting_saves_a_checkpoint(tmp_path):
    program = f"""
import sys, dragoman
def told(step):
    if step.step == 5: print("five", flush=True)
dragoman.train({RECIPE!r}, out=sys.argv[1], options={{"training.max_steps": 1000000}}, on_step=told)
"""
    process = subprocess.Popen([sys.executable, "-c", program, tmp_path / "run"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "five\n"
    time.sleep(0.2)
    process.send_signal(2)
    assert "KeyboardInterrupt" in process.communicate(timeout=30)[1]
    steps = []

    def first(step):
        steps.append(step.step)
        raise StopIteration

    with pytest.raises(StopIteration):
        dragoman.train(RECIPE, out=tmp_path / "run", options={"training.max_steps": 1000000}, resume="require",
                       on_step=first)
    assert steps[0] > 5
