"""`duologue` and `python -m duologue`: the command line, or the small parent of `duologue serve`."""

import os
import sys

from duologue.supervisor import parent


def main() -> None:
    """The entry point of the program."""
    if parent.is_wanted(sys.argv[1:], os.environ):
        parent.run(sys.argv[1:])
    from duologue.cli.main import main as command_line

    command_line()


if __name__ == "__main__":
    main()
