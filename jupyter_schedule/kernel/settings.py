"""What a person may set for the agent of a kernel, in IPython's configuration or by ``%config``."""

from __future__ import annotations

import os

from traitlets import Float, Int, Unicode, default
from traitlets.config import Configurable

MODEL_VARIABLE = "JUPYTER_SCHEDULE_MODEL"


class ScheduleAgent(Configurable):
    """The agent of this kernel: ``c.ScheduleAgent.… = …`` in ``ipython_kernel_config.py``."""

    model = Unicode(
        help="The model that answers until `%agent model` chooses another, in the same words, for "
        "instance 'openai:gpt-5' or 'openai:llama3 --base-url http://127.0.0.1:11434/v1'. Default: "
        f"the environment's {MODEL_VARIABLE}, else 'presenter', which only shows what is due.",
    ).tag(config=True)
    instructions = Unicode(
        "",
        help="What the model is told in every turn, after our own instructions. Default none.",
    ).tag(config=True)
    max_steps = Int(
        30,
        min=1,
        help="Most model steps in one turn; the turn then ends as 'limit'. Default 30.",
    ).tag(config=True)
    max_tokens = Int(
        1_000_000,
        min=1,
        help="Most tokens, read and written, in one turn, as the provider counts them; no further "
        "step is begun then and the turn ends as 'limit'. Default 1000000.",
    ).tag(config=True)
    max_seconds = Float(
        1800.0,
        min=0.01,
        help="Longest turn in seconds, running code included; it then ends as 'limit'. Default 1800.",
    ).tag(config=True)
    max_silence_seconds = Float(
        300.0,
        min=0.01,
        help="Longest silence of a provider in seconds, its library's retries included; the turn "
        "then ends as 'error'. Default 300.",
    ).tag(config=True)
    max_answer_bytes = Int(
        512 * 1024,
        min=1024,
        help="Longest text of one model step, in UTF-8 bytes; the turn then ends as 'limit'. "
        "Default 524288.",
    ).tag(config=True)
    max_result_characters = Int(
        16 * 1024,
        min=200,
        help="Longest copy of what code or a function of yours shows or returns that the model "
        "gets, in characters; the middle is left out of a longer one. Default 16384.",
    ).tag(config=True)
    history_bytes = Int(
        128 * 1024,
        min=0,
        help="How much of the conversation before a turn the model gets: the latest whole turns "
        "whose records fit into so many bytes of JSON. Default 131072.",
    ).tag(config=True)
    history_followups = Int(
        10,
        min=0,
        help="At most so many of the turns that follow-ups began are part of that. Default 10.",
    ).tag(config=True)

    @default("model")
    def _model_of_the_environment(self) -> str:
        return os.environ.get(MODEL_VARIABLE, "").strip() or "presenter"
