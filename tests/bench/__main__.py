"""``python -m tests.bench [NAME …] [--json FILE]``: run the benches and print a table.

Every module of this folder with a function ``run() -> list[Row]`` is a bench; its name is the
module's. JSON goes to FILE, or below the table.
"""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import platform
import sys
import time
import traceback
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from .row import Row

NOT_BENCHES = {"__main__", "row"}


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; 1 when a bench breaks, else 0, aims missed or not."""
    names = bench_names()
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(names) or '-'}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the JSON goes")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(names)
    if unknown:
        parser.error(f"no such bench: {', '.join(sorted(unknown))}")

    results: dict[str, list[Row]] = {}
    broken: list[str] = []
    for name in options.names or names:
        started = time.monotonic()
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            results[name] = import_module(f"{__package__}.{name}").run()
        except Exception:  # noqa: BLE001  one broken bench must not cost the others' numbers
            traceback.print_exc()
            broken.append(name)
        print(f"{name}: {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)

    print(table(results))
    text = json.dumps({"machine": machine(), "benches": as_json(results), "broken": broken})
    if options.json is None:
        print(text)
    else:
        options.json.write_text(text + "\n")
    return 1 if broken else 0


def bench_names() -> list[str]:
    """The benches of this folder."""
    folder = str(Path(__file__).parent)
    found = {module.name for module in pkgutil.iter_modules([folder])}
    return sorted(found - NOT_BENCHES)


def as_json(results: dict[str, list[Row]]) -> dict[str, list[dict[str, object]]]:
    """The rows with their verdict."""
    return {
        name: [asdict(row) | {"met": row.met} for row in rows] for name, rows in results.items()
    }


def machine() -> dict[str, object]:
    """What the numbers belong to."""
    return {
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "cores": os.cpu_count(),
    }


def table(results: dict[str, list[Row]]) -> str:
    """The rows as aligned text."""
    lines = [("bench", "what", "value", "unit", "aim", "")]
    for name, rows in results.items():
        for row in rows:
            sign = "≤" if row.better == "lower" else "≥"
            aim = "" if row.aim is None else f"{sign} {number(row.aim)}"
            verdict = {None: "", True: "met", False: "MISSED"}[row.met]
            beside = "; ".join(f"{what} {number(n)}" for what, n in (row.beside or {}).items())
            remark = "  ".join(part for part in (verdict, beside, row.note) if part)
            lines.append((name, row.name, number(row.value), row.unit, aim, remark))
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    return "\n".join(
        f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d:<{widths[3]}}  {e:<{widths[4]}}  {f}".rstrip()
        for a, b, c, d, e, f in lines
    )


def number(value: float) -> str:
    """Three significant digits, thousands apart."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


if __name__ == "__main__":
    sys.exit(main())
