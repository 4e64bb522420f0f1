"""`python -m duologue.worker.joined`: a worker that joins the gateways which its environment names (`join_spec.py`)."""

from duologue.worker.joined.joined_worker import main

main()
