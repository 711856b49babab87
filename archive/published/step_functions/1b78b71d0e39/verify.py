"""Verifies the export that this file lies in: python verify.py [options of `evolve program verify`]"""

import sys

HERE = __file__.rpartition("/")[0] or "."
sys.path[:] = [place for place in sys.path if place not in ("", ".", HERE)]
sys.dont_write_bytecode = True

from pathlib import Path  # noqa: E402

sys.path[:] = [place for place in sys.path if Path(place).resolve() != Path(HERE).resolve()]

try:
    from evolve.cli import main
except ImportError:
    sys.exit(
        "verify.py: the package `evolve` is not installed for this Python, and nothing was verified. "
        "Try: install it, and run this again; MANIFEST.json has the SHA-256 of every file"
    )

if __name__ == "__main__":
    sys.argv = ["evolve", "program", "verify", str(Path(HERE).resolve()), *sys.argv[1:]]
    main()
