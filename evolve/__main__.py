"""`python -m evolve`: the command line without its script."""

from evolve.cli import main

if __name__ == "__main__":
    main()
