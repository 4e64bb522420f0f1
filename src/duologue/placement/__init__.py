"""The process beside the gateway that places workers over a Ray cluster."""
