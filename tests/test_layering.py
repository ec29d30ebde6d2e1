"""Who may import whom, and that the kernel's half stands alone."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import jupyter_schedule

PACKAGE = Path(jupyter_schedule.__file__).parent
OURS = "jupyter_schedule"

# Each layer, and the layers of ours it may import besides itself. The version belongs to all.
LAYERS: dict[str, set[str]] = {
    "rules": set(),
    "log": {"rules"},
    "server": {"rules", "log"},
    "cli": {"rules", "log"},
    "kernel": set(),
}

# What a layer may import that is not ours, beyond the standard library; None: anything declared.
DEPENDENCIES: dict[str, set[str] | None] = {
    "rules": {"tzdata", "msgspec"},
    "log": {"msgspec"},
    "server": None,
    "cli": None,
    "kernel": {"IPython", "ipykernel", "traitlets"},
}

# A module of its own may need what its environment need not have: where, what and why.
EXCEPTIONS: dict[str, set[str]] = {
    # The panel is loaded on request and says what to install.
    "kernel/panel": {"ipywidgets"},
    # The extra `agent`, loaded when a person names a model of it.
    "kernel/models/pydantic_ai": {"pydantic_ai"},
    "kernel/models/pydantic_messages": {"pydantic_ai"},
}


def modules() -> list[Path]:
    """Every module of the layers."""
    return [path for layer in LAYERS for path in sorted((PACKAGE / layer).rglob("*.py"))]


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute name of everything a module imports for running, at any depth.

    What stands under ``if TYPE_CHECKING:`` is for readers and checkers only and does not count
    for other people's packages, but does for our own.
    """
    tree = ast.parse(path.read_text(), filename=str(path))
    for_types = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.dump(branch.test)
        for statement in branch.body
        for node in ast.walk(statement)
    }
    package = [OURS, *path.relative_to(PACKAGE).parent.parts]
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # `from .. import rules` names a module, `from ..rules import x` does too.
            names = [f"{module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith(f"{OURS}.") or id(node) not in for_types:
                yield node.lineno, name


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_its_layer_may(path: Path) -> None:
    relative = path.relative_to(PACKAGE)
    layer = relative.parts[0]
    foreign = DEPENDENCIES[layer]
    excepted = EXCEPTIONS.get(str(relative.with_suffix("")), set())
    found = []
    for line, name in imports(path):
        top, _, rest = name.partition(".")
        if top == OURS:
            target = rest.partition(".")[0]
            allowed = target in {layer, "_version", "__version__"} | LAYERS[layer]
        else:
            allowed = (
                top in sys.stdlib_module_names
                or foreign is None
                or top in foreign
                or top in excepted
            )
        if not allowed:
            found.append(f"{relative}:{line} imports {name}")
    assert not found, "\n".join(found)


def test_every_folder_of_the_package_is_a_known_layer() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders == set(LAYERS)


def test_the_package_itself_imports_neither_half_until_asked() -> None:
    statements = ast.parse((PACKAGE / "__init__.py").read_text()).body
    at_once = [
        alias.name if isinstance(node, ast.Import) else f"{'.' * node.level}{node.module}"
        for node in statements
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names[:1]
    ]
    assert at_once == ["__future__", "typing", "._version"]
