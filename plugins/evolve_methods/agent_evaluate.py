"""Evaluates the program in this folder as it is now, and prints what was found."""

import os
import sys
import urllib.error
import urllib.request

try:
    with urllib.request.urlopen(f"{os.environ['EVOLVE_URL']}/evaluate", b"") as answer:
        sys.stdout.write(f"{answer.read().decode()}\n")
except urllib.error.HTTPError as error:
    raise SystemExit(error.read().decode()) from None
