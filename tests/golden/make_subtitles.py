#!/usr/bin/env python3
"""Writes fixtures/film.srt and film.txt: subtitles as a film has them, and their sentences, one a line.

    tests/golden/make_subtitles.py FILE-OF-ENGLISH-SENTENCES

The sentences are from tatoeba.org, by way of manythings.org/anki (CC BY 2.0 FR).
"""
import pathlib
import random
import re
import sys
import textwrap

fixtures = pathlib.Path(__file__).resolve().parent / "fixtures"
random = random.Random(1)
lines = pathlib.Path(sys.argv[1]).read_text().splitlines()
plain = re.compile(r"[A-Z][A-Za-z' ,]*[a-z][.?!]")  # one sentence, and nothing that is markup to a subtitle
pool = [line for line in dict.fromkeys(lines) if plain.fullmatch(line) and 12 < len(line) < 110]
random.shuffle(pool)


def stamp(seconds):
    ms = round(seconds * 1000)
    return f"{ms // 3600000:02}:{ms // 60000 % 60:02}:{ms // 1000 % 60:02},{ms % 1000:03}"


cues, sentences = [], []


def take():
    sentences.append(pool.pop())
    return sentences[-1]


while len(cues) < 320:
    kind = random.random()
    if kind < 0.15:
        speaker = random.choice(["", "", "TOM: ", "MRS. BAKER: "])
        cues.append([f"- {take()}", f"- {speaker}{take()}"])
    elif kind < 0.22:
        sentences.append(random.choice(["door opens", "soft music playing", "phone rings", "thunder"]))
        cues.append([f"[{sentences[-1]}]"])
    elif kind < 0.27:
        cues.append([f"♪ {take()} ♪"])
    else:
        style = random.choice([("", "")] * 5 + [("<i>", "</i>"), ("{\\an8}", ""), ('<font color="#ffff00">', "</font>")])
        rows = textwrap.wrap(take(), random.choice([16, 24, 37]))
        for at in range(0, len(rows), 2):
            cues.append((style[0] + "\n".join(rows[at : at + 2]) + style[1]).split("\n"))

time, blocks = 61.5, []
for number, rows in enumerate(cues, 1):
    length = 1 + sum(map(len, rows)) / 18
    blocks.append(f"{number}\r\n{stamp(time)} --> {stamp(time + length)}\r\n" + "\r\n".join(rows) + "\r\n")
    time += length + random.choice([0.04, 0.04, 0.5, 2])
(fixtures / "film.srt").write_bytes(("\ufeff" + "\r\n".join(blocks)).encode())
(fixtures / "film.txt").write_text("\n".join(sentences) + "\n")
