"""How near the seeds of the kernels in Triton come to what the GPU can do, and how far a seed seems to be from itself.

Each seed is evaluated through real workers, as in a campaign. Says why there is nothing to measure where there is no GPU, or no torch; `--lacks` says that alone, and fails where something is missing."""

import importlib.util
import sys
from contextlib import closing

from evolve.devices.inventory import find_gpus
from evolve.evaluation import Job, LocalExecutor, decode_report, encode_job
from evolve.sandbox.machine.probe import probe
from evolve.sandbox.means import Means
from evolve.task import list_bundled, load
from evolve.types import Evaluation, Outcome, Parameters, Trial

_PATIENCE = 900.0


def main() -> int:
    """Prints one row for each kernel; 1 where one has no score."""
    lacking = lacks()
    if "--lacks" in sys.argv[1:]:
        if lacking:
            print(
                f"no device: {lacking}. With one, the tests marked `gpu` evaluate the {len(seeds())} seeds in Triton with and without walls, a kernel in CUDA, and cheats, "
                "start a vLLM server, and the seeds are measured",
                file=sys.stderr,
            )
        return bool(lacking)
    if lacking:
        print(f"kernels on a GPU: not measured, {lacking}")
        return 0
    means = probe().means
    print("| kernel | of the floor | ln(speed-up) against itself | registers | device |\n|---|---|---|---|---|")
    return max(told(name, evaluated(name, means)) for name in seeds())


def seeds() -> list[str]:
    """The tasks of kernels in Triton."""
    return [name for name in list_bundled() if name.endswith("/triton")]


def lacks() -> str:
    """What this machine has not; empty where it has all."""
    if not find_gpus():
        return "this machine has no GPU that can be seen"
    missing = [name for name in ("torch", "triton") if importlib.util.find_spec(name) is None]
    return f"this Python has no {' and no '.join(missing)} (pip install 'evolve[torch]')" if missing else ""


def evaluated(name: str, means: Means) -> Evaluation:
    """The seed of a task, once."""
    task = load(name)
    job = Job("seed", "evaluate", Trial(parameters=Parameters(task.parameters)), files=task.seed.files)
    with closing(LocalExecutor(task, 1, means=means)) as executor:
        return decode_report(executor.submit(job.id, encode_job(job)).result(timeout=_PATIENCE)).evaluation


def told(name: str, evaluation: Evaluation) -> int:
    """A row; 1 where there is no score to tell."""
    if evaluation.outcome is not Outcome.OK or evaluation.fitness is None:
        print(f"| {name} | {evaluation.outcome} {evaluation.tag} | - | - | - |")
        return 1
    facts = evaluation.descriptors
    print(
        f"| {name} | {facts['of_floor']:.2f} | {evaluation.fitness:+.3f} | {facts['registers']:.0f} | {evaluation.device} |"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
