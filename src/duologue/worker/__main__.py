"""`python -m duologue.worker`: how the gateway starts a worker, without the command line's imports."""

from duologue.worker.app import main

main()
