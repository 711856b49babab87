"""One campaign of the comparison of search power: an arm on a task with a seed and a number of calls of a model; writes `result.json`.

Every arm is judged by this checkout (`evolve program evaluate`), on the same instances: all workspaces have one secret."""

import argparse
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import evolve_arms
import openevolve_arm
from campaigns import EVOLVE, Call, Campaign, ask, version_of

import evolve.task
from evolve.types import Fitness, Task

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
SECRET = "5ec7e7" * 10 + "0f0a"
"""What the instances of all campaigns are drawn by. It is public: only the judge's box keeps it from a program, and no model is told."""
ARMS = (*evolve_arms.OPERATORS, "openevolve")


def find_task(name: str) -> Path:
    """Returns the folder of a task: of this benchmark, of the bundled ones, or a path. It is the same for all arms."""
    for folder in (HERE / "tasks" / name, CHECKOUT / "tasks" / name, Path(name).resolve()):
        if (folder / "task.toml").is_file():
            return folder
    raise SystemExit(
        f"run.py: there is no task {name!r}. Try: a folder with a task.toml, or the name of a bundled task"
    )


def judge(
    workspace: Path, task: Path, has_held_out: bool, files: Mapping[str, str]
) -> dict[str, dict[str, float | None]]:
    """Returns the scores of a program and of the seed by case, "" for the search's own; None for a failure."""
    folder = workspace / "best"
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    held_out = ["--held-out"] if has_held_out else []
    lines = ask(EVOLVE, workspace, "program", "evaluate", str(folder), "--task", str(task), *held_out)
    found: dict[str, dict[str, float | None]] = {}
    is_seed = lines[-1]["is_seed"]
    for line in lines[:-1]:
        sides = ("best", "seed") if is_seed else ("seed" if line["of"] == "seed" else "best",)
        found.setdefault(line["case"], {}).update(dict.fromkeys(sides, line["fitness"]))
    return found


def best_so_far(calls: Sequence[Call], seed: float, fitness: Fitness) -> list[float]:
    """Returns the best score after each call; the seed's, while nothing is better."""
    found, best = [], seed
    for call in calls:
        if call.score is not None and fitness.inside(call.score) > fitness.inside(best):
            best = call.score
        found.append(best)
    return found


def result_of(args: argparse.Namespace, place: Path, task: Task, folder: Path, campaign: Campaign) -> dict[str, Any]:
    """Returns what `result.json` holds. `judge` is this checkout; `search` and `held_out` are its scores of the best program and the seed."""
    judged = judge(place / "workspace", folder, bool(task.held_out), campaign.best)
    search = judged.pop("")
    seed = search["seed"]
    assert seed is not None, "a task's seed has a score"
    return {
        "task": task.name,
        "arm": args.label,
        "seed": args.seed,
        "direction": task.fitness.direction,
        "version": campaign.version,
        "judge": version_of(EVOLVE),
        "calls": [asdict(call) for call in campaign.calls],
        "best_so_far": best_so_far(campaign.calls, seed, task.fitness),
        "search": search,
        "held_out": judged,
        "prompt_tokens": sum(call.prompt_tokens for call in campaign.calls),
        "completion_tokens": sum(call.completion_tokens for call in campaign.calls),
        "best": dict(campaign.best),
    }


def parse() -> argparse.Namespace:
    """Returns the options, checked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", help="a bundled task, one of tasks/ in this folder, or a path")
    parser.add_argument("arm", choices=ARMS)
    parser.add_argument("seed", type=int)
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument(
        "--box", type=Path, help="the folder where prompts are answered; new and empty for each campaign"
    )
    parser.add_argument("--out", type=Path, required=True, help="results lie in OUT/TASK/ARM-SEED")
    parser.add_argument("--model", help="a model as `evolve run --model` takes it, in place of the box")
    parser.add_argument("--evolve", type=Path, help="the command of an older checkout, for default_before")
    parser.add_argument("--openevolve", type=Path, help="a Python with OpenEvolve, for openevolve")
    parser.add_argument("--deterministic", action="store_true", help="one step at a time")
    parser.add_argument("--set", dest="assignments", action="append", default=[], help="a setting, as of `evolve run`")
    parser.add_argument("--preset", help="a published method in the place of the default strategy, as of `evolve run`")
    parser.add_argument("--as", dest="label", help="what the arm is called with other settings")
    args = parser.parse_args()
    if (args.box is None) == (args.model is None):
        parser.error("answers come from --box or from --model, got both or none. Try: --box FOLDER")
    if (args.arm == "default_before") != (args.evolve is not None):
        parser.error("--evolve is for the arm default_before, which needs it. Try: --evolve OLD/.venv/bin/evolve")
    if (args.arm == "openevolve") != (args.openevolve is not None):
        parser.error("--openevolve is for the arm openevolve, which needs it. Try: --openevolve VENV/bin/python")
    if args.arm == "openevolve" and args.box is None:
        parser.error("the arm openevolve is answered through --box alone. Try: --box FOLDER")
    if bool(args.assignments) != (args.label is not None) or (args.assignments and args.arm == "openevolve"):
        parser.error("--set makes another arm of evolve, which wants a name. Try: --set KEY=VALUE --as without_it")
    if args.preset is not None and args.arm != "default":
        parser.error("--preset takes the place of the default's strategy. Try: default --preset NAME")
    args.label = args.label or args.preset or args.arm
    return replace_paths(args)


def replace_paths(args: argparse.Namespace) -> argparse.Namespace:
    """Makes the paths absolute, without following the links of a virtual environment."""
    args.evolve = EVOLVE if args.evolve is None else args.evolve.absolute()
    args.openevolve = None if args.openevolve is None else args.openevolve.absolute()
    args.box = None if args.box is None else args.box.absolute()
    return args


def check_box(box: Path, begun: bool) -> None:
    """Refuses a box that another campaign has used, for its answers would be taken again."""
    used = [path.name for path in box.glob("*")] if box.is_dir() else []
    if used and (not begun or "over" in used):
        raise SystemExit(
            f"run.py: {box} was used before, got {', '.join(sorted(used)[:3])} in it. Try: a new folder as --box"
        )


def main() -> None:
    """Runs the campaign, and writes its result."""
    args = parse()
    folder = find_task(args.task)
    task = evolve.task.load(str(folder))
    place = (args.out / task.name / f"{args.label}-{args.seed}").absolute()
    if (place / "result.json").exists():
        raise SystemExit(f"run.py: {place} has a result already. Try: another --out, or remove it")
    if args.box is not None:
        check_box(args.box, begun=place.exists())
    secret = place / "workspace" / "archive" / "secret"
    secret.parent.mkdir(parents=True, exist_ok=True)
    secret.write_text(f"{SECRET}\n")
    try:
        arm = openevolve_arm.run if args.arm == "openevolve" else evolve_arms.run
        campaign = arm(place, folder, args)
        result = result_of(args, place, task, folder, campaign)
    finally:
        if args.box is not None:
            # Whoever answers looks for this file, and ends.
            args.box.mkdir(parents=True, exist_ok=True)
            (args.box / "over").write_text("")
    (place / "result.json").write_text(json.dumps(result, indent=1) + "\n")
    print(
        f"{task.name} {args.arm} {args.seed}: {len(campaign.calls)} calls, search {result['search']}, held out {result['held_out']}"
    )


if __name__ == "__main__":
    main()
