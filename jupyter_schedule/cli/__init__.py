"""The command line: `jupyter schedule`.

A reader of logs, a doctor for set-ups and a demonstration. It never writes a log.
"""
