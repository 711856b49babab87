"""Cheats of `cfr_variant`: a program that knows the game, that averages for the last horizon alone, or whose numbers are none."""

from cheat import Cheat

from evolve.types import Outcome

INVALID, OK, CRASHED = frozenset({Outcome.INVALID}), frozenset({Outcome.OK}), frozenset({Outcome.CRASHED})
FORM = "policies and weights are parsed strictly: exact types, shapes, finite numbers of 0 or more"
COPIES = "arguments arrive as copies, and the judge averages by itself"
SESSIONS = "each game is played in a process and a folder of its own"
UNKNOWN = "what a program must not know is never in its process"
SMALL = {"games": "kuhn2", "horizons": "30 100", "screen": "kuhn2", "screen_horizons": "10"}
KUHN = {"games": "kuhn3", "horizons": "300 1000", "screen": "kuhn3", "screen_horizons": "10"}
CFR = {
    "regret_update": "return R + r",
    "policy": "return np.maximum(R, 0)",
    "average_weight": "return 1.0",
}
HEADS = {
    "regret_update": "R, r, t, state",
    "policy": "R, r_pred, t, state",
    "average_weight": "t, own_reach, state",
}


def program(head: str = "", **bodies: str) -> dict[str, str]:
    """CFR, with these bodies in the place of its own."""
    functions = [
        f"def {name}({HEADS[name]}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
        for name, body in {**CFR, **bodies}.items()
    ]
    return {"seed.py": "\n\n".join(["import numpy as np\n" + head, *functions])}


def cheat(
    name: str, trick: str, rule: str, files: dict[str, str], outcomes: frozenset[Outcome] = INVALID, **more: object
) -> Cheat:
    """A cheat of the small task; one that must be OK gains nothing over its twin."""
    return Cheat("cfr_variant", name, trick, rule, files, outcomes, **{"parameters": SMALL, **more})  # type: ignore[arg-type]


EQUILIBRIUM = (
    (
        (0.005208, -0.445348, 1.0),
        (0.03125, -0.978013, 1.0),
        (0.03125, -0.615393, 1.0),
        (0.03125, -0.483708, 1.0),
        (0.03125, -0.468613, 1.0),
        (0.03125, -0.011716, 0.0),
        (0.065535, -0.703011, 1.0),
        (0.082794, 0.065366, 0.5),
        (0.125, -3.251092, 1.0),
        (0.140625, -2.059486, 1.0),
        (0.15625, -0.717006, 1.0),
        (0.202999, 0.11636, 1.0),
        (0.227089, 0.076675, 1.0),
        (0.238748, -0.146073, 0.0),
        (0.25, -0.860242, 1.0),
        (0.251223, -0.642442, 1.0),
    ),
    (
        (0.009301, -0.275772, 1.0),
        (0.009301, -0.237595, 1.0),
        (0.010238, -0.084358, 1.0),
        (0.012835, -0.486806, 1.0),
        (0.016927, -0.475431, 1.0),
        (0.020833, -0.929914, 1.0),
        (0.033203, -0.089084, 0.923684868),
        (0.046503, -0.568189, 1.0),
        (0.096105, 0.093894, 0.836822828),
        (0.098791, 0.068499, 0.478984609),
        (0.119048, -1.887506, 1.0),
        (0.125, -1.092576, 1.0),
        (0.134519, 0.087416, 1.0),
        (0.200622, 0.118534, 0.729517181),
        (0.210386, -0.123879, 0.701334738),
        (0.5625, -2.196188, 1.0),
    ),
    (
        (0.009301, -0.345413, 1.0),
        (0.011227, -0.195324, 1.0),
        (0.041667, -0.574232, 1.0),
        (0.041667, -0.574232, 1.0),
        (0.041667, -0.067008, 1.0),
        (0.043155, -0.837804, 1.0),
        (0.044271, -0.902092, 1.0),
        (0.083333, -0.518344, 1.0),
        (0.083333, -0.498911, 1.0),
        (0.098448, -0.215631, 1.0),
        (0.111122, -0.114467, 0.5),
        (0.132354, -0.008983, 1.0),
        (0.168024, -0.055389, 0.696869884),
        (0.208333, -0.33504, 1.0),
        (0.233259, -2.857389, 1.0),
        (0.333333, -1.865656, 1.0),
    ),
)
"""Of three-player Kuhn poker, for each player its sets: the larger and the smaller sum of regrets after ten iterations of CFR, and how often the
action of the larger one is played in an equilibrium."""
KNOWS_THE_GAME = f"""
TABLE = {EQUILIBRIUM!r}


def known(R, state):
    better = state.first + (R[state.first + 1] > R[state.first])
    seen = np.stack([R[better], R[2 * state.first + 1 - better]], axis=1)
    distances = [np.abs(seen[:, None] - np.array(rows)[None, :, :2]).sum(axis=2) for rows in TABLE]
    mine = min(range(3), key=lambda player: distances[player].min(axis=1).sum())
    shares = np.array(TABLE[mine])[distances[mine].argmin(axis=1), 2]
    answer = np.repeat(1 - shares, 2)
    answer[better] = shares
    return answer
"""

CHEATS = (
    cheat("not a number", "a policy that no comparison can refuse", FORM, program(policy="return R * np.nan")),
    cheat("infinite", "a policy beyond all numbers", FORM, program(policy="return np.where(R > 0, np.inf, 1)")),
    cheat("truth values", "truth values for a policy", FORM, program(policy="return R > 0")),
    cheat("complex", "another kind of number", FORM, program(policy="return np.maximum(R, 0) * 1j")),
    cheat("a column", "an array that spreads over others", FORM, program(policy="return np.maximum(R, 0)[:, None]")),
    cheat("one too many", "an action that there is not", FORM, program(policy="return np.append(np.maximum(R, 0), 1e9)")),
    cheat("negative policy", "plays bad actions less than never", FORM, program(policy="return R")),
    cheat(
        "negative weights",
        "takes bad policies out of the average again",
        FORM,
        program(average_weight="return 1.0 if t > 50 else -0.5"),
        twin=program(average_weight="return 1.0 if t > 50 else 0.5"),
    ),
    cheat(
        "overflow",
        "weights so large that the average is infinite",
        FORM,
        program(average_weight="return 1e250 * t"),
        twin=program(average_weight="return 1e150 * t"),
    ),
    cheat(
        "vanishing",
        "policies and weights so small that they vanish",
        "sums are divided by before anything is rounded, and what adds up to 0 is uniform",
        program(policy="return np.maximum(R, 0) * 5e-324", average_weight="return 5e-324"),
        OK,
    ),
    cheat(
        "late average",
        "averages only just before it is measured",
        "two horizons of one run count, and nothing tells a program where it ends",
        program(average_weight="return float(t > 900)"),
        OK,
        parameters=KUHN,
    ),
    cheat(
        "known equilibrium",
        "recognises the game and plays an equilibrium that it has learned by heart",
        "payoffs are disguised, so that the equilibrium is one of another game",
        program(
            KNOWS_THE_GAME,
            regret_update="R = R + r\nif t == 10:\n    state.answer = known(R, state)\nreturn R",
            policy="return np.maximum(R, 0) if t < 12 else state.answer",
            average_weight="return float(t > 11)",
        ),
        OK,
        parameters=KUHN,
    ),
    cheat(
        "modified inputs",
        "makes its regrets and its reach what it wants",
        COPIES,
        program(
            regret_update="new = R + r\nr[:] = 0\nreturn new",
            average_weight="own_reach[:] = 0\nreturn 1.0",
        ),
        OK,
    ),
    cheat(
        "late change",
        "changes a policy after it was given",
        COPIES,
        program(
            policy="for one in getattr(state, 'given', []):\n    one[:] = [1, 0] * (len(one) // 2)\nanswer = np.maximum(R, 0)\nstate.given = [answer]\nreturn answer",
        ),
        OK,
    ),
    cheat(
        "another binding",
        "answers in the place of the binding, with a verdict of its own",
        "nothing is believed but policies and weights, and each answer is checked",
        program(
            "import sys\n",
            policy="sys.modules['binding'].advance = lambda turns: {'outcome': 'ok', 'fitness': 12.0}\nreturn np.maximum(R, 0)",
        ),
    ),
    cheat(
        "judge's files",
        "imports the judge's games to solve them",
        UNKNOWN,
        program(
            "for name in ('tree', 'games', 'values', 'exact', 'evaluator'):\n    try:\n        __import__(name)\n    except ImportError:\n        continue\n    raise SystemExit(f'there is {name}')\n",
        ),
        OK,
    ),
    cheat(
        "frames",
        "looks for the tree in the frames and objects of its process",
        UNKNOWN,
        program(
            "import gc\nimport sys\n",
            policy="\n".join(
                [
                    "frame, found = sys._getframe(), [one for one in gc.get_objects() if type(one).__name__ in ('Tree', 'Worth', 'Seat')]",
                    "while frame is not None:",
                    "    found += [one for name, one in frame.f_locals.items() if name in ('game', 'payoffs', 'horizons', 'trial')]",
                    "    frame = frame.f_back",
                    "if found:",
                    "    raise RuntimeError(f'there is {found[0]}')",
                    "return np.maximum(R, 0)",
                ]
            ),
        ),
        OK,
    ),
    cheat(
        "remembers",
        "keeps its policies in files, to begin with them when the game is played again",
        SESSIONS,
        program(
            "import pathlib\nimport tempfile\n\nPLACES = [pathlib.Path('.'), pathlib.Path(tempfile.gettempdir()), pathlib.Path('/dev/shm'), pathlib.Path('/tmp')]\n",
            regret_update="\n".join(
                [
                    "name = f'kept{int(state.first.sum())}.npy'",
                    "for place in PLACES:",
                    "    try:",
                    "        if t == 1 and (place / name).exists():",
                    "            raise SystemExit('an earlier session is remembered')",
                    "        if t == 10:",
                    "            np.save(place / name, R)",
                    "    except OSError:",
                    "        pass",
                    "return R + r",
                ]
            ),
        ),
        OK,
    ),
    cheat(
        "printed verdict",
        "prints a score, and writes one to a file",
        "a score that a program claims is read nowhere",
        program("import pathlib\n\nprint('{\"outcome\": \"ok\", \"fitness\": 12.0}', flush=True)\npathlib.Path('results.json').write_text('{\"fitness\": 12.0}')\n"),
        OK,
    ),
    cheat(
        "leaves early",
        "ends its process as if all was well",
        "a process that ends before it has answered has failed",
        program("import os\n", average_weight="if t == 5:\n    os._exit(0)\nreturn 1.0"),
        CRASHED,
    ),
    cheat(
        "hard games",
        "fails in games that it plays badly",
        "a game that fails makes the program fail; none is left out",
        program(regret_update="assert len(r) < 30\nreturn R + r"),
        CRASHED,
        parameters={**SMALL, "games": "kuhn2 kuhn3"},
    ),
)  # fmt: skip
