"""Pure decisions: times, zones, records, the fold, what is due, what a model reads and sends.

Nothing here does I/O (but for reading the zone data that come with the package `tzdata`), knows
Jupyter or has a clock: every function that needs the time is given it.
"""
