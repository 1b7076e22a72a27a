"""The documentation's examples work, and its reference is complete."""
import ast
import doctest
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys

import dragoman
from conftest import FIXTURES
from dragoman import confidence, ctranslate2, document, huggingface, metrics

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_examples_of_the_page(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shutil.copytree(folder, "models/en-fr")
    shutil.copytree(FIXTURES / "huggingface/joint", "opus-mt-en-fr")
    pathlib.Path("lines.txt").write_text("The cat sleeps.\n", encoding="utf-8")
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    failed, tried = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False, optionflags=flags)
    assert failed == 0 and tried > 25


def test_the_copy_task(tmp_path):
    done = subprocess.run([sys.executable, ROOT / "python/examples/copy_task.py", "40"], cwd=tmp_path, text=True,
                          capture_output=True, check=True)
    assert re.search(r"epoch  2  loss \d\.\d{3}  #", done.stdout) and "\ncopied  1 " in done.stdout


def body(text):
    """A documentation string, its examples in fences."""
    text = re.sub(r" *# doctest: \+\w+", "", inspect.cleandoc(text or ""))
    parts = re.split(r"(?m)^(?=>>> )", text, maxsplit=1)
    fenced = f"\n```python\n{parts[1].strip()}\n```" if len(parts) > 1 else ""
    return [f"{parts[0].strip()}{chr(10) if fenced else ''}{fenced}", ""]


def call(node):
    arguments = re.sub(r"^self(, )?", "", ast.unparse(node.args))
    return f"{node.name}({arguments})" + (f" -> {ast.unparse(node.returns)}" if node.returns else "")


def decorators(node):
    return {ast.unparse(one) for one in node.decorator_list}


def fields(node):
    """Of a data class: what follows a field and is a string describes it."""
    for field, following in zip(node.body, [*node.body[1:], None]):
        if isinstance(field, ast.AnnAssign):
            told = following.value if isinstance(following, ast.Expr) else None
            told = f": {told.value}" if isinstance(told, ast.Constant) else ""
            yield f"- `{field.target.id}: {ast.unparse(field.annotation)}`{told}"


def described(node):
    if isinstance(node, ast.FunctionDef):
        return [f"### `{call(node)}`", "", *body(ast.get_docstring(node))]
    methods = [one for one in node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
    made = next((call(one)[8:].replace(" -> None", "") for one in methods if one.name == "__init__"), "")
    lines = [f"### `{node.name}{made}`", "", *body(ast.get_docstring(node)), *fields(node)]
    lines += [""] if lines[-1] else []
    for method in methods:
        if method.name == "__init__" and ast.get_docstring(method):
            lines += body(ast.get_docstring(method))
        if method.name.startswith("_") and method.name != "__call__" or "overload" in decorators(method):
            continue
        name = method.name if "property" in decorators(method) else call(method)
        lines += [f"#### `{name}`", "", *body(ast.get_docstring(method))]
    return lines


def definition(module, name):
    files = [pathlib.Path(module.__file__), *sorted((ROOT / "python/dragoman").glob("_*.py"))]
    for file in files:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
                return node
    return None


def reference():
    lines = ["# Reference of the Python package", "", "Written by `python/tests/run BUILD` with DRAGOMAN_WRITE_DOCS=1; "
             "[python.md](python.md) has examples.", ""]
    for module in (dragoman, confidence, document, metrics, huggingface, ctranslate2):
        lines += [f"## {module.__name__}", ""]
        for name in module.__all__:
            node = definition(module, name)
            if node is not None:
                lines += described(node)
    return "\n".join(lines)


def test_the_reference_is_up_to_date():
    path = ROOT / "docs/python_reference.md"
    if os.environ.get("DRAGOMAN_WRITE_DOCS"):
        path.write_text(reference(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == reference(), "run python/tests/run BUILD with DRAGOMAN_WRITE_DOCS=1"
