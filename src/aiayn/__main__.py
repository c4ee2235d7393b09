"""`python -m aiayn` runs the command `aiayn`."""

from aiayn.commands import main

main()
