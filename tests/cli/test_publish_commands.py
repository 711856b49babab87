"""Facts about `evolve program export`, `verify` and `publish`."""

import json
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from evolve.cli import evolve
from evolve_publish.archive import check_index, write_index

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]


def run(*words):
    return CliRunner().invoke(evolve, [str(word) for word in words], prog_name="evolve")


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A workspace with a real campaign of few programs."""
    home = tmp_path_factory.mktemp("searched")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVOLVE_HOME", str(home))
        ended = run("run", "circle_packing", "--budget", "2programs", "--workers", 1, "--name", "found")
    assert ended.exit_code == 0, ended.output
    return home


@pytest.fixture
def there(searched, tmp_path, monkeypatch):
    """The current folder is another one."""
    monkeypatch.setenv("EVOLVE_HOME", str(searched))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_program_is_exported_and_verified_from_nothing_else(there, monkeypatch):
    """By a workspace that has never heard of its campaign: the task ships with the package, so its evaluator is known."""
    assert run("program", "export", "found/1", "-o", "one").exit_code == 0
    monkeypatch.setenv("EVOLVE_HOME", str(there / "empty"))
    ended = run("program", "verify", "one", "--json")
    assert ended.exit_code == 0, ended.output
    found = json.loads(ended.stdout)
    assert (found["event"], found["verdict"], found["name"]) == ("verified", "agrees", "found/1")
    assert {check["what"]: check["found"] for check in found["checks"]}["certificate"] == "2.541421356237308"


def test_two_exports_are_equal_and_say_where_they_are(there):
    ended = run("program", "export", "found/1", "--json")
    assert json.loads(ended.stdout)["folder"] == "found-1"
    assert run("program", "export", "found/1", "-o", "other").exit_code == 0
    names = [path.relative_to("other") for path in Path("other").rglob("*") if path.is_file()]
    assert [(Path("found-1") / name).read_bytes() for name in names] == [
        (Path("other") / name).read_bytes() for name in names
    ]
    again = run("program", "export", "found/1")
    assert (again.exit_code, "Try: name another place with -o, or replace it with --force" in again.stderr) == (1, True)
    assert run("program", "export", "found/1", "--force").exit_code == 0


def test_a_changed_export_fails_with_the_reason_and_runs_nothing(there):
    run("program", "export", "found/1", "-o", "one")
    (there / "one" / "program" / "seed.py").write_text("def centres():\n    return []\n")
    ended = run("program", "verify", "one")
    assert ended.exit_code == 1
    assert "program/seed.py was changed: its hash is not the one in the manifest" in ended.stdout
    assert "no program was run" in ended.stdout


def test_a_strangers_evaluator_waits_for_trust(there):
    """The parts that need no evaluator are told, and the exit code is one of its own."""
    task = there / "mine"
    run("task", "copy", "circle_packing", task)
    (task / "evaluator.py").write_text((task / "evaluator.py").read_text() + "\n# mine\n")
    assert run("run", task, "--budget", "1programs", "--workers", 1, "--name", "own").exit_code == 0
    assert run("program", "export", "own/1", "-o", "one").exit_code == 0
    ended = run("program", "verify", "one")
    assert (ended.exit_code, "add --trust" in ended.stdout) == (3, True)
    assert run("program", "verify", "one", "--trust", "--quick").exit_code == 0
    assert run("program", "verify", "own/1", "--trust", "--quick").exit_code == 0


def test_a_strangers_log_makes_no_evaluator_known(there):
    """A log that is named by its path may have come with the evaluator; nor does the name of a task that ships with the package."""
    task = there / "gift" / "circle_packing"
    run("task", "copy", "circle_packing", task)
    marker = there / "it_ran"
    evaluator = task / "evaluator.py"
    evaluator.write_text(f"from pathlib import Path\n\nPath({str(marker)!r}).touch()\n" + evaluator.read_text())
    assert run("run", task, "--budget", "1programs", "--workers", 1, "--name", "gift").exit_code == 0
    log = Path(os.environ["EVOLVE_HOME"]) / "archive" / "campaigns" / "gift.db"
    shutil.copy(log, "gift.db")
    marker.unlink()
    ended = run("program", "verify", "gift.db/1")
    assert (ended.exit_code, "add --trust" in ended.stdout, marker.exists()) == (3, True, False)


def test_the_seed_is_not_published(there):
    ended = run("program", "publish", "found/1", "--archive", "archive")
    assert ended.exit_code == 1
    assert "found/1 is the task's seed, so nothing was found that could be published" in ended.stderr
    assert not (there / "archive").exists()


def test_a_program_whose_task_is_gone_tells_where_to_say_it(short, call):
    ended = call("program", "export", "number/2")
    assert (ended.exit_code, "the folder of task 'number' is gone" in ended.stderr) == (1, True)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("verify",), "say --published"),
        (("verify", "nothing"), "there is no export 'nothing'"),
        (("verify", "--published"), "nothing is published in"),
        (("publish",), "name a program, or say --index"),
        (("publish", "a/1", "--index"), "name a program, or say --index"),
        (("export", "nobody/1"), "there is no campaign 'nobody'"),
    ],
)
def test_a_wrong_wish_is_one_line_that_tells_what_to_do(home, call, words, why):
    ended = call("program", *words)
    assert ended.exit_code == 1
    assert why in ended.stderr


def test_what_is_published_in_the_repository_is_in_its_index():
    """And every hash is as it was."""
    archive = ROOT / "archive"
    check_index(archive)
    size = sum(path.stat().st_size for path in (archive / "published").rglob("*") if path.is_file())
    assert size < 1_000_000


def test_what_is_published_in_the_repository_is_certified_again(home, call):
    """Files, hashes and certificates; no program runs. The evaluators are the repository's own, of today or of an earlier day."""
    ended = call("program", "verify", "--published", "--trust", "--quick", "--archive", ROOT / "archive")
    assert ended.exit_code == 0, ended.output
    assert {line.split()[0] for line in ended.stdout.splitlines()} == {"agrees"}


def test_what_is_published_and_was_edited_differs_and_the_rest_is_verified(home, call, tmp_path):
    """A program in another one's place, a folder that is no export, and then an index that says something else."""
    archive = tmp_path / "copy"
    shutil.copytree(ROOT / "archive" / "published" / "sine_in_c", archive / "published" / "sine_in_c")
    program = next((archive / "published" / "sine_in_c").iterdir())
    write_index(archive)
    words = ("program", "verify", "--published", "--trust", "--quick", "--archive", archive)
    assert call(*words).exit_code == 0
    index = archive / "INDEX.md"
    index.write_text(index.read_text() + "and more\n")
    assert "is not what the folders say" in call(*words).stderr
    shutil.copytree(program, archive / "published" / "other" / "0123456789ab")
    (archive / "published" / "other" / "nothing").mkdir()
    ended = call(*words)
    told = [line.split()[:3] for line in ended.stdout.splitlines()]
    assert told == [
        ["differs", "other", "0123456789ab"],
        ["differs", "other", "nothing"],
        ["agrees", "sine_in_c", program.name],
    ]
    assert ended.exit_code == 1


def test_what_is_published_in_the_repository_is_found_again(home, call):
    """Each program is evaluated again, on its held-out cases, too. On another machine noise may leave some open."""
    ended = call("program", "verify", "--published", "--trust", "--archive", ROOT / "archive")
    assert ended.exit_code in (0, 3), ended.output
    assert "differs" not in ended.stdout
