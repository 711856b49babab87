"""The folder of a paper: what lies in it, and that it appears whole or not at all."""

import errno
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from evolve import report
from evolve.publish.paper import figure, write_paper
from evolve.types import ConfigError, Outcome, Program, Task
from tests.pages.told import held_out_campaign
from tests.publish.paper_campaigns import KEY, VERIFIER, hostile_campaign, proven_campaign, task_folder
from tests.written import Written, number_task


def drawn(task: Task, points: Sequence[report.Point], kind: str) -> bytes:
    """A figure that needs no library."""
    return f"{kind} of {task.name} with {len(points)} points".encode()


DRAWN = figure.Drawing(drawn, lambda picture: b"pdf")


def failing(task: Task, points: Sequence[report.Point], kind: str) -> bytes:
    """A library that fails."""
    raise ConfigError("no figure")


def test_a_proven_value_comes_with_what_proves_it(tmp_path: Path) -> None:
    """The folder's own script has run before the folder is there."""
    with proven_campaign(tmp_path, folder=str(task_folder(tmp_path))).campaign as campaign:
        written = write_paper(campaign, 2, tmp_path / "paper", drawing=DRAWN)
    assert written.program == "number/2"
    assert written.files == tuple(
        sorted(
            [
                "README.md",
                "SHA256SUMS",
                "construction.json",
                "curve.pdf",
                "curve.svg",
                "program/seed.py",
                "references.bib",
                "statement.md",
                "table.tex",
                "verify.py",
            ]
        )
    )
    assert "value      nearness 7.0" in written.verified
    assert (tmp_path / "paper/curve.svg").read_text("utf-8") == "svg of number with 3 points"
    run = subprocess.run(
        [sys.executable, "-I", "-S", "verify.py"], cwd=tmp_path / "paper", capture_output=True, text=True, check=True
    )
    assert run.stdout == written.verified
    assert written.verified in (tmp_path / "paper/README.md").read_text("utf-8")


def test_a_measurement_is_named_for_what_it_measures(tmp_path: Path) -> None:
    """Its certificate is the program's."""
    with proven_campaign(tmp_path).campaign as campaign:
        assert write_paper(campaign, 3, tmp_path / "paper", drawing=DRAWN).program == "number/2"


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum is not installed")
def test_check_sums_are_those_of_sha256sum(tmp_path: Path) -> None:
    """Of every file but the list; one that was changed is found."""
    with proven_campaign(tmp_path).campaign as campaign:
        written = write_paper(campaign, 2, tmp_path / "paper", drawing=DRAWN)
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    run = subprocess.run(command, cwd=tmp_path / "paper", capture_output=True, text=True, check=True)
    assert len(run.stdout.splitlines()) == len(written.files) - 1
    (tmp_path / "paper/table.tex").write_text("other", "utf-8")
    assert subprocess.run(command, cwd=tmp_path / "paper", capture_output=True, check=False).returncode == 1


def test_equal_campaigns_give_equal_bytes(tmp_path: Path) -> None:
    """Nothing but the log decides what is written."""
    with proven_campaign(tmp_path).campaign as campaign:
        for name in ("one", "other"):
            write_paper(campaign, 2, tmp_path / name, drawing=DRAWN)
    assert (tmp_path / "one/SHA256SUMS").read_bytes() == (tmp_path / "other/SHA256SUMS").read_bytes()


def test_a_measured_value_has_no_verifier_and_says_so(tmp_path: Path) -> None:
    """Nothing that is called verify.py pretends to prove what was measured."""
    written = Written(tmp_path, number_task(verifier=VERIFIER))
    written.seed(5.0)
    with written.campaign as campaign:
        found = write_paper(campaign, 1, tmp_path / "paper", drawing=DRAWN)
    assert (found.verified, {"verify.py", "construction.json"} & set(found.files)) == ("", set())
    page = (tmp_path / "paper/README.md").read_text("utf-8")
    assert "The value is measured, and not proven. The judge computed it from what it saw the program do." in page
    assert "`verify.py`: " not in page


def test_the_first_page_tells_of_held_out_cases(tmp_path: Path) -> None:
    """A program that is not promoted there is not praised before."""
    with held_out_campaign(tmp_path, 2.0, -1.0) as campaign:
        write_paper(campaign, 2, tmp_path / "paper", drawing=DRAWN)
    told = (tmp_path / "paper/README.md").read_text("utf-8")
    assert (
        "nearness 7, measured; equal programs get equal scores. Promoted: no. On held-out cases it is worse than the seed, or not known to be as good, on 1 of 2: case 1"
        in told
    )


def test_a_claimed_value_is_called_that(tmp_path: Path) -> None:
    """On every page that tells it."""
    written = Written(tmp_path)
    written.seed(5.0, trust="claimed")
    with written.campaign as campaign:
        write_paper(campaign, 1, tmp_path / "paper", drawing=DRAWN)
    for name in ("README.md", "statement.md", "table.tex"):
        text = (tmp_path / "paper" / name).read_text("utf-8")
        assert "claimed" in text or "nobody has checked it" in text, name


def test_a_certificate_without_a_verifier_is_kept_and_not_called_verifiable(tmp_path: Path) -> None:
    """It was proven when it was searched for."""
    written = proven_campaign(tmp_path)
    object.__setattr__(written.campaign.state.task, "verifier", "")
    with written.campaign as campaign:
        found = write_paper(campaign, 2, tmp_path / "paper", drawing=DRAWN)
    assert ("construction.json" in found.files, "verify.py" in found.files) == (True, False)
    assert "It brings no verifier that runs without it" in (tmp_path / "paper/README.md").read_text("utf-8")


def test_code_that_is_in_the_log_alone_does_not_run(tmp_path: Path) -> None:
    """A log may come from anywhere; the script is written, with a note."""
    ran = tmp_path / "ran"
    verifier = f"{VERIFIER}\n\nopen({str(ran)!r}, 'w').close()\n"
    written = proven_campaign(tmp_path, folder=str(task_folder(tmp_path)))
    object.__setattr__(written.campaign.state.task, "verifier", verifier)
    with written.campaign as campaign:
        found = write_paper(campaign, 2, tmp_path / "paper", drawing=DRAWN)
    assert (ran.exists(), found.verified, "verify.py" in found.files) == (False, "", True)
    page = (tmp_path / "paper/README.md").read_text("utf-8")
    assert "`verify.py` did not run when this folder was written" in page
    assert "python3 -I -S verify.py" in page


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [((3, 3), "it proves 6.0, and 7.0 is claimed"), ((3, "4"), "not all are whole numbers"), (3, "TypeError")],
)
def test_a_certificate_that_does_not_hold_leaves_nothing(tmp_path: Path, numbers: object, reason: str) -> None:
    """Neither the folder nor anything beside it."""
    (tmp_path / "papers").mkdir()
    with (
        proven_campaign(tmp_path, numbers, folder=str(task_folder(tmp_path))).campaign as campaign,
        pytest.raises(
            ConfigError, match=f"the certificate of number/2 does not hold by the task's own verifier: .*{reason}"
        ),
    ):
        write_paper(campaign, 2, tmp_path / "papers/paper", drawing=DRAWN)
    assert list((tmp_path / "papers").iterdir()) == []


def test_an_error_while_it_is_written_leaves_nothing(tmp_path: Path) -> None:
    """Such as one of the library that draws."""
    (tmp_path / "papers").mkdir()
    with proven_campaign(tmp_path).campaign as campaign, pytest.raises(ConfigError, match="no figure"):
        write_paper(campaign, 2, tmp_path / "papers/paper", drawing=figure.Drawing(failing, lambda picture: None))
    assert list((tmp_path / "papers").iterdir()) == []


def test_a_disk_that_is_full_is_one_line(tmp_path: Path) -> None:
    def full(*_: object) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device")

    with (
        proven_campaign(tmp_path).campaign as campaign,
        pytest.raises(ConfigError, match="paper cannot be written: No space left on device"),
    ):
        write_paper(campaign, 2, tmp_path / "paper", drawing=figure.Drawing(full, lambda picture: None))
    assert not (tmp_path / "paper").exists()


def test_what_is_there_stays(tmp_path: Path) -> None:
    """A folder, and a link that leads nowhere."""
    (tmp_path / "paper").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with proven_campaign(tmp_path).campaign as campaign:
        for name in ("paper", "link"):
            with pytest.raises(ConfigError, match="is there already"):
                write_paper(campaign, 2, tmp_path / name, drawing=DRAWN)
        with pytest.raises(ConfigError, match="there is no folder"):
            write_paper(campaign, 2, tmp_path / "missing/paper", drawing=DRAWN)


def test_what_has_no_score_has_no_paper(tmp_path: Path) -> None:
    """A failure, a screened proposal, and what is quarantined."""
    written = proven_campaign(tmp_path)
    written.failure(Outcome.CRASHED, "it divided by zero")
    written.failure(Outcome.SCREENED, "duplicate")
    with written.campaign as campaign:
        for record, outcome in ((4, "crashed"), (5, "screened")):
            with pytest.raises(ConfigError, match=f"number/{record} has no score: it ended as {outcome}"):
                write_paper(campaign, record, tmp_path / "paper", drawing=DRAWN)


def test_somebody_else_s_words_stay_words(tmp_path: Path) -> None:
    """In every file; and no key is in any."""
    written = hostile_campaign(tmp_path)
    with written.campaign as campaign:
        found = write_paper(campaign, 2, tmp_path / "paper", drawing=DRAWN)
    assert "prompts/0001-step-2-propose.md" in found.files
    texts = {
        name: (tmp_path / "paper" / name).read_bytes().decode("utf-8") for name in found.files if "curve" not in name
    }
    assert not [name for name, text in texts.items() if KEY in text and not name.startswith("program/")]
    for name in ("README.md", "statement.md", "table.tex", "references.bib"):
        assert "<script>" not in texts[name]
        assert "\x1b" not in texts[name]
        assert "\u202e" not in texts[name]
    assert texts["program/seed.py"].endswith("\\ud800\n")


@pytest.mark.parametrize("path", ["../x.py", "/x.py", "a/../../x.py", "a\\x.py", "a\nb.py"])
def test_no_file_of_a_program_leaves_the_folder(tmp_path: Path, path: str) -> None:
    """What is no plain path becomes the hash of it."""
    written = Written(tmp_path)
    written.seed(5.0)
    origin = written.campaign.log.settled(1).record.origin
    written._settle(origin, Program({"seed.py": "x = 1\n", path: "y = 2\n"}), written._ok(6.0))
    (tmp_path / "papers").mkdir()
    with written.campaign as campaign:
        found = write_paper(campaign, 2, tmp_path / "papers/paper", drawing=DRAWN)
    programs = [name for name in found.files if name.startswith("program/")]
    assert sorted((tmp_path / "papers/paper" / name).read_text("utf-8") for name in programs) == ["x = 1\n", "y = 2\n"]
    assert [entry.name for entry in (tmp_path / "papers").iterdir()] == ["paper"]
