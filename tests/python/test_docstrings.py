"""Every public name has a docstring whose example gives what it says; README's programs run."""

import doctest
import inspect
import re
import types
from pathlib import Path

import lanewise as lw
import numpy as np
import pytest
from lanewise import _core, errors

README = Path(__file__).parents[2] / "README.md"
OPTIONS = doctest.NORMALIZE_WHITESPACE


def documented() -> dict[str, object]:
    """Functions of the package, the classes' own methods and properties, modules with a text."""
    found: dict[str, object] = {"lanewise": lw, "lanewise.errors": errors}
    for name in dir(lw):
        value = getattr(lw, name)
        if callable(value) and not name.startswith("_"):
            found[f"lw.{name}"] = value
    found["lw.__array_namespace_info__"] = lw.__array_namespace_info__
    for cls in (lw.Array, lw.Function, lw.Size):
        for name, value in vars(cls).items():
            if not name.startswith("_") or ">>>" in (getattr(value, "__doc__", None) or ""):
                found[f"{cls.__name__}.{name}"] = value
    return found


DOCUMENTED = documented()


@pytest.fixture
def settings():
    """What examples may change."""
    threads = lw.get_num_threads()
    yield
    lw.set_num_threads(threads)
    lw.set_memory_limit(0)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_example(name, settings):
    text = inspect.cleandoc(DOCUMENTED[name].__doc__ or "")
    names = {"lw": lw, "np": np}
    test = doctest.DocTestParser().get_doctest(text, names, name, None, None)
    assert test.examples, f"{name} has no example"
    report: list[str] = []
    result = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append)
    assert result.failed == 0, "".join(report)


def test_all_functions_are_documented():
    functions = [n for n in _core.__all__ if not inspect.isclass(getattr(_core, n))]
    assert len(functions) > 100
    assert all(f"lw.{name}" in DOCUMENTED for name in functions)


@pytest.mark.parametrize("name", errors.__all__)
def test_exceptions_are_documented(name):
    exception = getattr(errors, name)
    assert exception.__doc__ and exception.__doc__.endswith(".")
    assert exception.__module__ == "lanewise.errors"


def test_modules_are_documented():
    for value in vars(lw).values():
        if isinstance(value, types.ModuleType) and value.__name__.startswith("lanewise"):
            assert value.__doc__, value.__name__


def test_programs_of_the_readme_run(capsys, settings):
    programs = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(programs) >= 3
    scope: dict = {}
    lw.manual_seed(0)
    exec("x = lw.randn(1000)", {"lw": lw}, scope)  # what the reader brings along
    for program in programs:
        exec(program, scope)
    assert capsys.readouterr().out.startswith("[-0.26")
