"""The notebooks run on kernels of a real server: `pytest --nbval notebooks` (see the module)."""

from tests.harness.nbval_kernels import *  # noqa: F403 - pytest's hooks, under the names it looks for
