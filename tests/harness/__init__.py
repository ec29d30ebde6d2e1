"""What tests run against: a real Jupyter server, a real kernel, a real browser.

Nothing here knows jupyter_schedule's insides; tests say in its words what a person would notice.
"""
