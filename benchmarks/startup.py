"""How much processor time `evolve --help` takes: the median of several runs, user and system together."""

import argparse
import resource
import statistics
import subprocess
import sys

from figures import report

RUNS = 10
WANTED = {"help_cpu_ms": "< 150"}


def cpu_milliseconds(*arguments: str) -> float:
    """What one run of this Python costs; raises `CalledProcessError` where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    wants_json = parser.parse_args().json
    cpu_milliseconds("-m", "evolve", "--help")  # the first run compiles
    runs = [cpu_milliseconds("-m", "evolve", "--help") for _ in range(RUNS)]
    empty = [cpu_milliseconds("-c", "") for _ in range(RUNS)]
    figures = {
        "help_cpu_ms": statistics.median(runs),
        "help_cpu_ms_worst": max(runs),
        "python_cpu_ms": statistics.median(empty),
    }
    report("startup", figures, WANTED, wants_json)


if __name__ == "__main__":
    main()
