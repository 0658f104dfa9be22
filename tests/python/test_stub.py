"""_core.pyi against the extension it describes."""

import ast
import importlib.util
import inspect
from pathlib import Path

import lanewise as lw
import pytest
from lanewise import _core

ROOT = Path(__file__).parents[2]
STUB = ROOT / "python" / "lanewise" / "_core.pyi"


def test_stub_is_what_the_tool_writes():
    spec = importlib.util.spec_from_file_location("stub", ROOT / "tools" / "stub.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert STUB.read_text() == tool.stub(), "run ./dev stub"


def parameters(function: ast.FunctionDef) -> list[tuple]:
    """Name, kind and default of each, as inspect has them."""
    kinds = inspect.Parameter
    a = function.args
    positional = [(x, kinds.POSITIONAL_ONLY) for x in a.posonlyargs]
    positional += [(x, kinds.POSITIONAL_OR_KEYWORD) for x in a.args]
    missing = [None] * (len(positional) - len(a.defaults))
    found = [(*x, d) for x, d in zip(positional, missing + a.defaults, strict=True)]
    if a.vararg:
        found.append((a.vararg, kinds.VAR_POSITIONAL, None))
    keywords = zip(a.kwonlyargs, a.kw_defaults, strict=True)
    found += [(x, kinds.KEYWORD_ONLY, d) for x, d in keywords]
    if a.kwarg:
        found.append((a.kwarg, kinds.VAR_KEYWORD, None))
    return [
        (x.arg, kind, inspect.Parameter.empty if d is None else ast.literal_eval(d))
        for x, kind, d in found
    ]


def signature(function) -> list[tuple]:
    found = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, p.default) for p in found]


TREE = ast.parse(STUB.read_text())
FUNCTIONS = {x.name: x for x in TREE.body if isinstance(x, ast.FunctionDef) and x.name != "jit"}
CLASSES = {x.name: x for x in TREE.body if isinstance(x, ast.ClassDef)}
ALIASES = {
    target.id: x.value.id
    for x in TREE.body
    if isinstance(x, ast.Assign) and isinstance(x.value, ast.Name)
    for target in x.targets
}


ANNOTATED = {x.target.id for x in TREE.body if isinstance(x, ast.AnnAssign)}
INTERNAL_CLASSES = {name for name in ANNOTATED if name.startswith("_Aot")}
OWN_CLASSES = [name for name in CLASSES if not issubclass(getattr(_core, name), BaseException)]


def test_every_name_is_there():
    named = {*FUNCTIONS, *CLASSES, *ALIASES, *INTERNAL_CLASSES, "jit"}
    assert named == {name for name in vars(_core) if not name.startswith("__")}
    exported = next(
        ast.literal_eval(x.value)
        for x in TREE.body
        if isinstance(x, ast.Assign) and x.targets[0].id == "__all__"
    )
    assert exported == _core.__all__
    for alias, name in ALIASES.items():
        assert getattr(_core, alias) is getattr(_core, name)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if not name.startswith("_")])
def test_function(name):
    assert parameters(FUNCTIONS[name]) == signature(getattr(_core, name))


@pytest.mark.parametrize("name", OWN_CLASSES)
def test_class(name):
    cls = getattr(lw, name)
    members = {x.name: x for x in CLASSES[name].body if isinstance(x, ast.FunctionDef)}
    public = {member for member in vars(cls) if not member.startswith("_")}
    assert public <= set(members)
    for member_name, member in members.items():
        value = vars(cls)[member_name]
        if member.decorator_list:
            assert inspect.isgetsetdescriptor(value)
        else:
            # A method without parameters has a self that no keyword can name either way.
            ours, theirs = parameters(member), signature(value)
            assert ours[1:] == theirs[1:] and ours[0][0] == theirs[0][0] == "self"


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in OWN_CLASSES])
def test_exception(name):
    bases = [ast.unparse(base).removeprefix("builtins.") for base in CLASSES[name].bases]
    assert bases == [base.__name__ for base in getattr(_core, name).__bases__]
