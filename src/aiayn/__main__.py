"""python -m aiayn is the command aiayn."""

from aiayn.commands import main

main()
