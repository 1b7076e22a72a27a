"""The examples of the documentation strings give what they say."""
import doctest
import importlib
import inspect
import pkgutil
import re

import dragoman
import pytest

MODULES = sorted(module.name for module in pkgutil.iter_modules(dragoman.__path__) if module.name != "_core")


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, translator):
    module = importlib.import_module(f"dragoman.{name}")
    failed, _ = doctest.testmod(module, extraglobs={"translator": translator}, optionflags=doctest.ELLIPSIS)
    assert failed == 0
    found = sum(len(test.examples) for test in doctest.DocTestFinder().find(module))
    assert found == len(re.findall(r"^ *>>> ", inspect.getsource(module), re.MULTILINE))


def test_all_that_is_public_has_one():
    for name in dragoman.__all__:
        assert name == "__version__" or getattr(dragoman, name).__doc__, name
