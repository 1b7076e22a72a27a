"""The program that comes with the package: the same bytes, streams and exit codes as without Python around it."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import urllib.request

import dragoman
import pytest

MODULE = [sys.executable, "-m", "dragoman"]
SCRIPT = [str(pathlib.Path(sys.executable).parent / "dragoman")]
WAYS = [MODULE, pytest.param(SCRIPT, marks=pytest.mark.skipif(not os.path.exists(SCRIPT[0]), reason="pip installs it"))]


def run(way, *arguments, **more):
    return subprocess.run([*way, *arguments], capture_output=True, text=True, timeout=60, **more)


@pytest.mark.parametrize("way", WAYS)
def test_version_help_and_mistakes(way):
    assert run(way, "--version").stdout == f"dragoman {dragoman.__version__}\n"
    shown = run(way, "translate", "--help")
    assert shown.returncode == 0 and "usage: dragoman translate" in shown.stdout and "Examples" in shown.stdout
    wrong = run(way, "trnslate")
    assert wrong.returncode == 2 and wrong.stdout == "" and "translate" in wrong.stderr


def test_lines_through_pipes(folder, translator):
    lines = ["The cat sleeps.", "", "Where is the station?"]
    done = run(MODULE, "translate", "--model", folder, input="".join(f"{line}\n" for line in lines))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(f"{translator.translate(line).text}\n" for line in lines)


def test_files_that_are_part_of_it(folder):
    assert "complete" in run(MODULE, "completion", "bash").stdout
    with subprocess.Popen([*MODULE, "serve", "--model", f"en-fr={folder}", "--port", "0"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as server:
        said = ""
        for line in server.stdout:
            said += line
            if address := re.search(r"http://[^\s/]+:\d+", line):
                break
        else:
            assert "without the server" in said
            pytest.skip(said)
        with urllib.request.urlopen(f"{address[0]}/web/translate.js", timeout=20) as script:
            assert b"import" in script.read()
        server.send_signal(signal.SIGTERM)
        server.stdout.read()
        assert server.wait(60) == 143


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it(folder, number):
    work = subprocess.Popen([*MODULE, "translate", "--model", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    with work:
        work.stdin.write("The cat sleeps.\n")
        work.stdin.flush()
        assert work.stdout.readline()
        work.send_signal(number)
        assert work.wait(60) in (128 + number, -number)


def test_a_reader_that_is_gone_ends_it(folder):
    command = " ".join(MODULE)
    shell = f"{command} draw positions | true; echo ${{PIPESTATUS[0]}}; {command} draw positions | wc -c"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=60)
    first, second = done.stdout.split()
    assert first in ("0", "141") and int(second) > 1000 and done.stderr == ""
