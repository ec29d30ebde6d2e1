"""What the source tree must hold before anything is built from it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from jupyter_server.extension.application import ExtensionApp

from jupyter_schedule import __version__

ROOT = Path(__file__).parents[2]
FOR_TESTS = {"clock_class"}
LOCK_FILES = ["labextension/package-lock.json"]


@pytest.mark.parametrize("name", LOCK_FILES)
def test_no_lock_file_names_a_registry(name: str) -> None:
    text = (ROOT / name).read_text()
    assert not re.findall(r'"resolved"\s*:\s*"[a-z+]+:[^"]*"', text)
    assert not re.findall(r"https?://[^\"/]*(?:registry|npm|proxy)[^\"/]*/", text)


def test_every_lock_file_is_looked_at() -> None:
    found = {
        str(path.relative_to(ROOT))
        for folder in (ROOT, ROOT / "labextension", ROOT / "notebooks")
        for path in (*folder.glob("*lock*"), *folder.glob("npm-shrinkwrap.json"))
    }
    assert found == set(LOCK_FILES)


def test_the_front_end_carries_the_version_of_the_package() -> None:
    for name in ("package.json", "package-lock.json"):
        package = json.loads((ROOT / "labextension" / name).read_text())
        assert package["version"] == __version__, f"labextension/{name} follows _version.py"


def test_the_changelog_names_the_version() -> None:
    assert f"[{__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_every_target_the_readme_names_exists() -> None:
    named = set(re.findall(r"\bmake ([a-z-]+)", (ROOT / "README.md").read_text()))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"demo", "test"} <= named <= targets


def test_every_relative_link_of_the_documentation_leads_somewhere() -> None:
    broken = []
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if "://" not in link and not (page.parent / link).exists():
                broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert not broken


def test_the_setup_page_lists_every_trait_and_no_other() -> None:
    from jupyter_schedule.server.app import JupyterSchedule

    listed = set(
        re.findall(r"^\| `([a-z_]+)` \|", (ROOT / "docs/setup.md").read_text(), re.MULTILINE)
    )
    inherited = set(ExtensionApp.class_trait_names(config=True))
    own = set(JupyterSchedule.class_own_traits(config=True)) - inherited
    assert listed == own - FOR_TESTS
