"""The notebooks run on kernels of a real server: `pytest --nbval notebooks` (see the module)."""
# ruff: noqa: INP001 - people open this folder; it is no package

from tests.harness.nbval_kernels import *  # noqa: F403 - pytest's hooks, under the names it looks for
