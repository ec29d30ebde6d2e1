"""What a person may set for the agent of a kernel, in IPython's configuration or by ``%config``."""

from __future__ import annotations

from traitlets import Float, Int, Unicode
from traitlets.config import Configurable


class ScheduleAgent(Configurable):
    """The agent of this kernel: ``c.ScheduleAgent.… = …`` in ``ipython_kernel_config.py``."""

    model = Unicode(
        "presenter",
        help="The model that answers until `%agent model` chooses another. Default 'presenter', "
        "which only shows what is due.",
    ).tag(config=True)
    max_steps = Int(
        30,
        min=1,
        help="Most model steps in one turn; the turn then ends as 'limit'. Default 30.",
    ).tag(config=True)
    max_seconds = Float(
        1800.0,
        min=0.01,
        help="Longest turn in seconds; it then ends as 'limit'. Default 1800.",
    ).tag(config=True)
    max_answer_bytes = Int(
        512 * 1024,
        min=1024,
        help="Longest text of one model step, in UTF-8 bytes; the turn then ends as 'limit'. "
        "Default 524288.",
    ).tag(config=True)
