"""The command `jupyter schedule`: what it understands, and how it ends.

Exit codes: 0 all is well, 1 something is wrong and was named, 2 the command was not understood,
130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from jupyter_schedule._version import __version__

Command = Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. The entry point of `jupyter-schedule`."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character of a prompt shows its escape.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(arguments)
    command: Command = options.command
    try:
        return _run(command, options)
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read the output has enough. Python would complain once more as it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(command: Command, options: argparse.Namespace) -> int:
    from jupyter_schedule.cli.target import CommandError
    from jupyter_schedule.rules.errors import ScheduleError

    try:
        code = command(options)
        sys.stdout.flush()
    except ScheduleError as error:
        print(f"{error.code}: {error.message}", file=sys.stderr)
        return 1
    except CommandError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        print(error, file=sys.stderr)
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="jupyter schedule",
        description="Reminders that come back as follow-up cells: see what waits in notebooks, "
        "read their logs, and find out why something does not work. Nothing here writes a log; "
        "reminders are set and steered in the notebook itself.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    listing = commands.add_parser(
        "list",
        help="what waits in a notebook or in a folder",
        description="Show the reminders of a notebook, or of those notebooks of a folder (not of "
        "the folders in it) in which some wait. Attaches nothing and changes nothing.",
    )
    listing.add_argument(
        "path", metavar="PATH", nargs="?", default=Path(), type=Path, help="default: this folder"
    )
    listing.set_defaults(command=_list)

    log = commands.add_parser(
        "log",
        help="a session's turns and events, readable",
        description="Show what happened in a notebook's session, oldest first. Prompts and answers "
        "are shown as plain text, control characters as escapes.",
    )
    log.add_argument("path", metavar="NOTEBOOK", type=Path, help="a notebook, or a log itself")
    log.set_defaults(command=_log)

    verify = commands.add_parser(
        "verify",
        help="check a log: its lines, signature and place",
        description="Check that every line of a log is what a valid history holds, that the log "
        "was signed with your key, and that it lies where it says. Each fault is named with file "
        "and line; the exit code is then 1.",
    )
    verify.add_argument("path", metavar="NOTEBOOK|LOG", type=Path, help="a notebook, or a log")
    verify.set_defaults(command=_verify)

    doctor = commands.add_parser(
        "doctor",
        help="check the set-up, and say how to mend it",
        description="Check the server extension, the front end, the kernels, the zone data and "
        "what lies in Jupyter's runtime folder. Each finding comes with the command that mends "
        "it; the exit code is 1 if something does not work.",
    )
    doctor.set_defaults(command=_doctor)

    demo = commands.add_parser(
        "demo",
        help="one reminder, from its creation to its answer",
        description="Start a private server on a copy of the first example notebook, run it, and "
        "show how a reminder of five seconds becomes a cell: when what happened, the cell, and "
        "the log. Needs no network and no browser, takes half a minute, leaves nothing behind.",
    )
    demo.set_defaults(command=_demo)
    return parser


def _list(options: argparse.Namespace) -> int:
    from jupyter_schedule.cli.listing import run

    return run(options.path)


def _log(options: argparse.Namespace) -> int:
    from jupyter_schedule.cli.transcript import run

    return run(options.path)


def _verify(options: argparse.Namespace) -> int:
    from jupyter_schedule.cli.verification import run

    return run(options.path)


def _doctor(_options: argparse.Namespace) -> int:
    from jupyter_schedule.cli.doctor import run

    return run()


def _demo(_options: argparse.Namespace) -> int:
    from jupyter_schedule.cli.demo import run

    return run()
