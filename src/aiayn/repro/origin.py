"""What the process has done from which stages are forked: imported torch, and left the terminal.

In a session of its own it outlives a signal to everything that the terminal or `timeout` started,
and can still tell how the stages end that the signal lets save.
"""

import os

import torch  # noqa: F401

os.setsid()
