"""python -m aiayn is the command aiayn."""

from aiayn.command import main

main()
