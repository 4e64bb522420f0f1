"""`python -m duologue`."""

from duologue.cli import main

if __name__ == "__main__":
    main()
