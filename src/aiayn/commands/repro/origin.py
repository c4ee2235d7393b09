"""What the process has done from which stages are forked: imported what most of them import and
takes long, and left the terminal.

torch takes two seconds; its compiler, which Adam imports and never uses, another two; the scorers
most of one. That is once for all stages, and for a single one too, whichever it is.

In a session of its own it outlives a signal to everything that the terminal or `timeout` started,
and can still tell how the stages end that the signal lets save.
"""

import os

import sacrebleu  # noqa: F401
import sacremoses  # noqa: F401
import torch
import torch._dynamo  # noqa: F401

os.setsid()
