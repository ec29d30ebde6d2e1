"""The version: this line is its one source; the build, the front end's package and the docs follow it."""

__version__ = "0.1.0"
