"""The interpreter may end, and fork, whatever is under way."""
import subprocess
import sys

import pytest

BEGIN = """
import asyncio, atexit, os, signal, sys, threading, time, dragoman
translator = dragoman.Translator(sys.argv[1], threads=1)
"""
FIRST_OF_MANY = """
async def first():
    tasks = [asyncio.create_task(translator.translate_async("The cat sleeps.")) for _ in range(50)]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
asyncio.run(first())
"""
DAEMONS = """
def work():
    while True: translator.translate(["The cat sleeps."] * 50)
def iterate():
    for _ in translator.translate(iter(["The cat sleeps."] * 100000)): pass
for target in (work, iterate): threading.Thread(target=target, daemon=True).start()
time.sleep(0.2)
"""
TOO_LATE = """
def late():
    try: asyncio.run(translator.translate_async("The cat sleeps."))
    except dragoman.Error as error: print(error)
atexit.register(late)
atexit.register(dragoman._core._close)
"""
FORKED = """
asyncio.run(translator.translate_async("The cat sleeps."))
child = os.fork()
if child == 0:
    signal.alarm(20)
    text = asyncio.run(dragoman.Translator(sys.argv[1], threads=1).translate_async("The cat sleeps.")).text
    os._exit(0 if text else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def run(program, folder):
    return subprocess.run([sys.executable, "-c", BEGIN + program, folder], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("program", [FIRST_OF_MANY, DAEMONS])
def test_the_interpreter_ends_quietly(program, folder):
    for _ in range(3):
        done = run(program, folder)
        assert (done.returncode, done.stderr) == (0, "")


def test_a_child_awaits_translations_of_its_own(folder):
    assert run(FORKED, folder).returncode == 0


def test_what_nobody_would_wake_is_refused(folder):
    assert "while Python ends" in run(TOO_LATE, folder).stdout
