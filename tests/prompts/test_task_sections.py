"""Sections that are the same in every prompt of a campaign."""

from prompt_scenes import FROM_TWO_OPT, NEAREST, Scene, grown, hostile_task, tour_task, with_block

from evolve.prompts import build
from evolve.prompts.task_sections import describe_changeable, describe_places
from evolve.types import Axis, Case, Grants, Limits, Needs, Program, Prompt, Section, Selection, Stage

SEED = tour_task().seed


def test_blocks_are_named_by_their_lines() -> None:
    """Those of the program that is shown, and files that it has added."""
    assert describe_places(SEED, SEED) == "May change: lines 6 to 8 of `seed.py`."
    grown = Program({**with_block(NEAREST).files, "lib.py": "x"})
    assert describe_places(grown, SEED) == "May change: all of `lib.py`; lines 6 to 13 of `seed.py`."


def test_an_empty_block_is_between_two_lines() -> None:
    """Something may be written there."""
    empty = Program({"a.py": "# EVOLVE-BLOCK-START\n# EVOLVE-BLOCK-END\n"})
    assert describe_places(empty, empty) == "May change: lines between 1 and 2 of `a.py`."


def test_without_blocks_everything_may_change() -> None:
    """Of each file."""
    seed = hostile_task().seed
    assert (describe_changeable(seed), describe_places(seed, seed)) == (
        "All of `main.py` and `notes.txt` may change.",
        "All of it may change.",
    )


def test_a_file_beside_one_with_blocks_stays() -> None:
    """As `changes.refusal` has it."""
    assert describe_changeable(Program({**SEED.files, "data.py": "x = 1", "more.py": ""})) == (
        "Of `seed.py`, only the lines between `EVOLVE-BLOCK-START` and `EVOLVE-BLOCK-END` may change, "
        "and nothing of `data.py` and `more.py`."
    )


def system(prompt: Prompt) -> str:
    """The first message."""
    return prompt.messages[0].text


def rules(**changes: object) -> str:
    """The rules of a task, on its seed."""
    found = build("diff", Selection("diff", parents=(1,)), Scene(tour_task(**changes)).context(), tokens=24_000)
    return next(section.text for section in found.messages[0].sections if section.name == "rules")


def test_prompts_of_one_campaign_begin_alike() -> None:
    """Whatever is asked for, so that a server's cache of prefixes serves all of them."""
    context = grown().context()
    prompts = [
        build("diff", FROM_TWO_OPT, context, tokens=24_000),
        build("rewrite", Selection("rewrite", parents=(2,)), context, tokens=24_000),
        build("crossover", Selection("crossover", parents=(2, 3)), context, tokens=24_000),
        build("fix", Selection("fix", parents=(4,)), context, tokens=24_000),
        build("reflect", Selection("reflect"), context, tokens=24_000),
    ]
    assert len({system(prompt) for prompt in prompts}) == 1


def test_held_out_cases_are_never_told() -> None:
    """But that there are some."""
    found = build("diff", FROM_TWO_OPT, grown().context(), tokens=24_000)
    whole = "\n".join(message.text for message in found.messages)
    assert "4711" not in whole
    assert "The best programs are also evaluated on other parameters" in whole
    assert "evaluated on other parameters" not in rules(held_out=())


def test_the_cases_that_the_score_is_the_mean_of_are_told() -> None:
    """By what they change, and by their weights; a long list ends with a count."""
    cases = (Case("few", {"n": 5, "kind": "x"}), Case("many", {"n": 50, "kind": "x"}, weight=2.0))
    assert "It is the mean over 2 cases: “few” (n = 5), “many” (n = 50, weight 2)." in rules(
        parameters={"n": 10, "kind": "x"}, cases=cases
    )
    assert "“c11”, and 3 more." in rules(cases=tuple(Case(f"c{number}") for number in range(15)))


def test_grants_and_stages_are_told() -> None:
    """In the user's words and direction."""
    text = rules(
        stages=(Stage("a", 2.5, top=0.3, needs=Needs(cores=4)), Stage("b", 10.0)),
        limits=Limits(memory=512 << 20, scratch=1500, grants=Grants(gpu=1, execute=False, network="loopback")),
        axes=(Axis("walls", 0.0, 26.0, 13),),
        bound=3.5,
        carry=("circles",),
        entry="",
    )
    assert "stages: a (at most 2.5 seconds, passed by the best 30 %); b (at most 10 seconds)." in text
    assert (
        "The program runs in isolation, with 512 MiB of memory, 4 processor cores, 1.46484 KiB of files in its working folder, one GPU, "
        "a network of its own machine alone, no other programs to start." in text
    )
    assert "programs that differ in walls (0 to 26); these are no part of the score." in text
    assert "It is proven that no score can be better than 3.5." in text
    assert "The evaluator has what the parent left: circles." in text
    assert "The evaluator calls the module" not in text


def test_context_files_stand_whole_or_by_name() -> None:
    """As there is room."""
    scene = Scene(tour_task(context={"lib.h": "int x;\n" * 2000}))
    selection = Selection("diff", parents=(1,))
    assert "int x;\n" * 2000 in system(build("diff", selection, scene.context(), tokens=24_000))
    assert "`lib.h` (14,000 characters) does not fit in here." in system(
        build("diff", selection, scene.context(), tokens=3000)
    )


def test_what_plugins_say_follows_the_task() -> None:
    """As a section of its own."""
    scene = Scene()
    scene.sections = (Section("weather", "## Weather\n\nRain."),)
    found = build("diff", Selection("diff", parents=(1,)), scene.context(), tokens=24_000)
    assert found.messages[0].sections[-1] == Section("weather", "## Weather\n\nRain.")
