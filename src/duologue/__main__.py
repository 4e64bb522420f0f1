"""`python -m duologue`."""

from duologue.cli.main import main

if __name__ == "__main__":
    main()
