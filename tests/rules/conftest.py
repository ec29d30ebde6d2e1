"""The same examples every time; `make crash` runs the long forms."""

import pytest
from hypothesis import settings

# No deadline: a busy machine is no fault of an example.
settings.register_profile("rules", deadline=None, derandomize=True, database=None)
settings.load_profile("rules")

# What compares the vectors says as much about a failure as a test does.
pytest.register_assert_rewrite("tests.rules.vectors_of_calls", "tests.rules.vectors_of_logs")
