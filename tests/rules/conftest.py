"""The same examples every time; `make crash` runs the long forms."""

from hypothesis import settings

# No deadline: a busy machine is no fault of an example.
settings.register_profile("rules", deadline=None, derandomize=True, database=None)
settings.load_profile("rules")
