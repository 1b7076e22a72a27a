#!/usr/bin/env python3
"""What LibreTranslate answers to requests, right and wrong ones: tests/golden/fixtures/libretranslate/answers.json.

    bench/serving_peers/libretranslate_server.py EXPORTED --port 5002 &      # a model from English to French
    tests/golden/make_libretranslate_golden.py http://127.0.0.1:5002 > tests/golden/fixtures/libretranslate/answers.json

Made with LibreTranslate 1.9.6. tests/serve/libretranslate_golden_test.cpp holds our statuses, messages and the shape of
our answers to it.
"""
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

GOOD = {"q": "Hello.", "source": "en", "target": "fr"}


def changed(**fields):
    body = {**GOOD, **fields}
    return {name: value for name, value in body.items() if value is not None}


BODIES = [
    changed(), changed(q=["Hello.", "A cat."]), changed(source="auto"), changed(q=["Hello."], source="auto"),
    changed(alternatives=2), changed(alternatives="2"), changed(alternatives=0), changed(alternatives=-1),
    changed(q=["Hello.", "A cat."], alternatives=1), changed(format="text"), changed(format="html"), changed(format=""),
    changed(q="<b>Hello.</b>", format="html"), changed(q=["<b>Hello.</b>"], format="html"), changed(source="EN"),
    changed(target="FR"), changed(target="en"), changed(q="  Hello.\n\nA cat.  "), changed(api_key="none"),
    changed(unknown="field"), changed(q=["Hello."], source="auto", alternatives=1),
    changed(q=None), changed(q=""), changed(q=[]), changed(source=None), changed(source=""), changed(target=None),
    changed(target=""), changed(source="xx"), changed(target="xx"), changed(target="auto"), changed(format="rtf"),
    changed(source="xx", target="xx"), {}, {"q": "Hello."}, {"source": "en", "target": "fr"},
]


def requests():
    for body in BODIES:
        yield "POST", "/translate", "json", body
    for body in BODIES:
        if not any(isinstance(value, list) for value in body.values()):
            yield "POST", "/translate", "form", body
    yield "POST", "/translate", "form", changed(alternatives="many")
    for kind in ("json", "form"):
        for body in ({"q": "Hello there, my friend."}, {"q": ""}, {}):
            yield "POST", "/detect", kind, body
        yield "POST", "/suggest", kind, {"q": "a", "s": "b", "source": "en", "target": "fr"}
    yield "POST", "/detect", "json", {"q": ["Hello there, my friend.", "How are you today?"]}
    yield "GET", "/languages", None, None
    yield "GET", "/frontend/settings", None, None


def answer(address, method, path, kind, body):
    data, headers = None, {}
    if kind == "json":
        data, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
    elif kind == "form":
        data = urllib.parse.urlencode(body).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
    request = urllib.request.Request(address + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        text = error.read().decode()
        try:
            return error.code, json.loads(text)
        except json.JSONDecodeError:
            return error.code, None


def main():
    recorded = []
    for method, path, kind, body in requests():
        status, found = answer(sys.argv[1], method, path, kind, body)
        recorded.append({"method": method, "path": path, "kind": kind, "body": body, "status": status, "answer": found})
    print("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False, sort_keys=True) for one in recorded) + "\n]")


main()
