"""The exit codes of a joined worker's process, for whoever started it; see also `worker.app.DEVICE_LOST`."""

LOAD_FAILED = 3
"""Its model could not be loaded. It has told the gateway why."""
NOT_LET_IN = 4
"""The gateway does not let it in until a person changes something. Its log has the sentence."""
RESTART = 5
"""An admin of a gateway wants it started again."""
DISMISSED = 6
"""An admin of a gateway removed it, and it is not to come back by itself."""
HANGS = 7
"""What it ran did not end when it was cancelled: its engine hangs in a call that nothing can stop."""
