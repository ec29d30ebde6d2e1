"""The durable session log: one file beside each notebook, the only truth (contract 4)."""
