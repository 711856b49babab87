"""A patch against a person's own repository, made and applied by real git."""

import hashlib
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from evolve.publish.patch import Patch, write_patch
from evolve.types import ConfigError, Fitness, Origin, Program
from tests.written import Written, number_task

SEED = """\
# Mine.
import math

# EVOLVE-BLOCK-START
def value():
    a = 1
    b = 2
    return a + b
# EVOLVE-BLOCK-END
"""
BETTER = SEED.replace("    b = 2\n", "    b = 7  # é\n")
Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Runs git in an empty repository, with settings of nobody."""
    for key in [key for key in os.environ if key.startswith("GIT_")]:
        monkeypatch.delenv(key)
    settings = {
        "user.name": "A <B>",
        "user.email": "a@example.org",
        "init.defaultBranch": "main",
        "commit.gpgsign": "false",
    }
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_COUNT", str(len(settings)))
    for number, (key, value) in enumerate(settings.items()):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)
    place = tmp_path / "repository"
    place.mkdir()

    def run(*words: str, given: bytes = b"") -> str:
        found = subprocess.run(("git", *words), cwd=place, input=given, capture_output=True, timeout=60, check=False)
        assert found.returncode == 0, found.stderr.decode()
        return found.stdout.decode()

    run("init", "-q")
    return run


@pytest.fixture
def top(git: Git, tmp_path: Path) -> Path:
    """The repository's folder."""
    return tmp_path / "repository"


def commit(git: Git, top: Path, files: Mapping[str, str | bytes]) -> None:
    """Files, committed."""
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    git("add", "-A")
    git("commit", "-q", "-m", "begun")


def patched(home: Path, place: Path, new: Mapping[str, str] | None = None, **fields: object) -> Patch:
    """The patch of a campaign's second record, which has the files `new`."""
    seed = Program({"seed.py": SEED})
    task = number_task(**{"seed": seed, **fields})
    written = Written(home, task)
    with written.campaign:
        written._settle(Origin("seed", 0), task.seed, written._ok(5.0))
        origin = Origin("proposal", 2, operator="diff", parents=(1,))
        written._settle(origin, Program(dict(new or {"seed.py": BETTER})), written._ok(9.0))
        return write_patch(written.campaign, 2, place)


def state_of(top: Path) -> dict[str, str]:
    """Every file of a repository with its own, by what is in it and when it was written."""
    files = sorted(path for path in top.rglob("*") if path.is_file())
    return {str(path): f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}" for path in files}


def test_a_patch_replaces_the_block_and_nothing_else(git: Git, top: Path, tmp_path: Path) -> None:
    """What stands around it may be another text than the seed's."""
    mine = f"# Mine, and more.\nimport os\n{SEED.partition('# Mine.')[2]}\nprint(value())\n"
    commit(git, top, {"src/seed.py": mine})
    patch = patched(tmp_path, top / "src")
    assert (patch.files, patch.repository, patch.notes) == (("src/seed.py",), str(top), ())
    git("apply", "--check", "-", given=patch.text)
    git("apply", "-", given=patch.text)
    assert (top / "src/seed.py").read_text("utf-8") == mine.replace("    b = 2\n", "    b = 7  # é\n")


def test_a_patch_is_a_commit_for_git_am(git: Git, top: Path, tmp_path: Path) -> None:
    """By whoever commits there; its message is what was measured."""
    commit(git, top, {"seed.py": SEED})
    git("am", "-q", given=patched(tmp_path, top).text)
    assert git("log", "-1", "--format=%an|%ae|%s").strip() == "A B|a@example.org|seed.py: nearness 5 to 9"
    assert git("show", "HEAD:seed.py") == BETTER
    body = git("log", "-1", "--format=%b")
    assert body.startswith("What a search has found, and how it was measured:\n\n")
    rows = [line.split() for line in body.splitlines()]
    assert ["before", "after"] in rows
    assert ["nearness", "(larger", "is", "better)", "5", "9"] in rows
    assert ["isolation", "reduced"] in rows
    assert ["evolve", "program", "export", "number/2", "-o", "FOLDER"] in rows
    assert git("status", "--porcelain") == ""


def test_the_repository_stays_as_it_is(git: Git, top: Path, tmp_path: Path) -> None:
    """Files, index and objects, to the byte and the time."""
    commit(git, top, {"seed.py": SEED, "other.py": "x = 1\n"})
    (top / "other.py").write_text("x = 2\n", "utf-8")
    os.utime(top / "seed.py", ns=(1, 1))
    before = state_of(top)
    patched(tmp_path, top)
    assert state_of(top) == before


def test_equal_campaigns_give_equal_patches(git: Git, top: Path, tmp_path: Path) -> None:
    """But for the time of the campaign's last event."""
    commit(git, top, {"seed.py": SEED})
    one, other = (patched(tmp_path / name, top).text.splitlines() for name in ("one", "other"))
    assert [line for line in one if not line.startswith(b"Date:")] == [
        line for line in other if not line.startswith(b"Date:")
    ]


def test_the_task_s_folder_is_found_by_itself(git: Git, top: Path, tmp_path: Path) -> None:
    """Any folder of its repository may be named."""
    commit(git, top, {"tasks/number/seed.py": SEED, "docs/page.md": "Hello.\n"})
    assert patched(tmp_path, top / "docs", folder=str(top / "tasks/number")).files == ("tasks/number/seed.py",)


def test_a_file_of_another_name_may_be_named(git: Git, top: Path, tmp_path: Path) -> None:
    """Where the program has only one."""
    commit(git, top, {"lib/solver.py": SEED})
    patch = patched(tmp_path, top / "lib/solver.py")
    git("am", "-q", given=patch.text)
    assert git("show", "HEAD:lib/solver.py") == BETTER


def test_the_block_of_a_task_in_one_file_is_replaced_there(git: Git, top: Path, tmp_path: Path) -> None:
    """The evaluator below it stays."""
    program = SEED[SEED.index("# EVOLVE") :]
    whole = f'"""Brief."""\n\n{program}\n\ndef judge():\n    pass\n'
    commit(git, top, {"problem.py": whole})
    better = program.replace("b = 2", "b = 7")
    fields = {"seed": Program({"seed.py": program}), "folder": str(top), "one_file": "problem.py"}
    git("am", "-q", given=patched(tmp_path, top, {"seed.py": better}, **fields).text)
    assert git("show", "HEAD:problem.py") == whole.replace("b = 2", "b = 7")


def test_several_files_and_a_new_one(git: Git, top: Path, tmp_path: Path) -> None:
    """In one patch; a file that stays is not in it."""
    seed = {"seed.py": "def value():\n    return 1\n", "lib/a.py": "A = 1\n", "lib/b.py": "B = 1\n"}
    new = {**seed, "seed.py": "def value():\n    return 2\n", "lib/a.py": "A = 2\n", "lib/new.py": "C = 1\n"}
    commit(git, top, seed)
    patch = patched(tmp_path, top, new, seed=Program(seed), new_files=("lib/*.py",))
    assert patch.files == ("lib/a.py", "lib/new.py", "seed.py")
    git("am", "-q", given=patch.text)
    assert {name: git("show", f"HEAD:{name}") for name in new} == new
    assert "lib/a.py and 2 more: nearness 5 to 9" in git("log", "-1", "--format=%s")


def test_lines_that_end_as_on_windows_stay_so(git: Git, top: Path, tmp_path: Path) -> None:
    """New ones end as the others do."""
    commit(git, top, {"seed.py": SEED.replace("\n", "\r\n")})
    patch = patched(tmp_path, top)
    assert patch.notes == ("seed.py has lines that end as on Windows: apply with git apply, or git am --keep-cr",)
    git("apply", "--check", "-", given=patch.text)
    git("am", "-q", "--keep-cr", given=patch.text)
    assert (top / "seed.py").read_bytes() == BETTER.replace("\n", "\r\n").encode()


def test_mixed_line_ends_outside_of_the_change_stay(git: Git, top: Path, tmp_path: Path) -> None:
    """Line by line."""
    commit(git, top, {"seed.py": SEED.replace("a = 1\n", "a = 1\r\n")})
    git("apply", "-", given=patched(tmp_path, top).text)
    assert (top / "seed.py").read_bytes() == BETTER.replace("a = 1\n", "a = 1\r\n").encode()


@pytest.mark.parametrize(
    ("old", "new"), [("x = 1", "x = 2"), ("x = 1\n", "x = 2"), ("x = 1", "x = 2\n"), ("", "x = 2\n"), ("x = 1\n", "")]
)
def test_a_last_line_without_an_end_stays_one(git: Git, top: Path, tmp_path: Path, old: str, new: str) -> None:
    """Or becomes one, as the program has it."""
    commit(git, top, {"seed.py": old})
    git("am", "-q", given=patched(tmp_path, top, {"seed.py": new}, seed=Program({"seed.py": old})).text)
    assert git("show", "HEAD:seed.py") == new


def test_a_file_that_runs_keeps_its_mode(git: Git, top: Path, tmp_path: Path) -> None:
    """As it is committed."""
    (top / "seed.py").write_text(SEED, "utf-8")
    (top / "seed.py").chmod(0o755)
    commit(git, top, {})
    git("am", "-q", given=patched(tmp_path, top).text)
    assert git("ls-tree", "HEAD").startswith("100755 ")


def test_a_path_that_git_must_quote(git: Git, top: Path, tmp_path: Path) -> None:
    """A letter that is not ASCII, a space, a star and a quote."""
    folder = 'a "b" *é'
    commit(git, top, {f"{folder}/seed.py": SEED, "a/seed.py": SEED})
    patch = patched(tmp_path, top / folder)
    assert patch.files == (f"{folder}/seed.py",)
    git("am", "-q", given=patch.text)
    assert (top / folder / "seed.py").read_text("utf-8") == BETTER


def test_settings_and_attributes_of_the_repository_change_nothing(git: Git, top: Path, tmp_path: Path) -> None:
    """No prefix, colours, another order, a program for differences; a file that is called binary."""
    commit(git, top, {"seed.py": SEED, ".gitattributes": "*.py binary\n"})
    for key, value in {
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "color.ui": "always",
        "diff.external": "false",
        "core.quotePath": "false",
        "diff.context": "0",
        "diff.renames": "copies",
    }.items():
        git("config", key, value)
    text = patched(tmp_path, top).text
    assert b"\n--- a/seed.py\n+++ b/seed.py\n" in text
    git("am", "-q", given=text)
    assert git("show", "HEAD:seed.py") == BETTER


def test_a_dirty_tree_is_told(git: Git, top: Path, tmp_path: Path) -> None:
    """The patch is against the commit, so that it applies on a clean checkout."""
    commit(git, top, {"seed.py": SEED})
    (top / "seed.py").write_text(SEED + "# later\n", "utf-8")
    patch = patched(tmp_path, top)
    assert patch.notes == ("seed.py is not as it is committed: the patch is against the commit",)
    git("checkout", "-q", "--", "seed.py")
    git("apply", "--check", "-", given=patch.text)


def test_a_linked_work_tree_is_a_repository(git: Git, top: Path, tmp_path: Path) -> None:
    """Its objects lie elsewhere."""
    commit(git, top, {"seed.py": SEED})
    git("worktree", "add", "-q", str(tmp_path / "linked"))
    assert patched(tmp_path, tmp_path / "linked").files == ("seed.py",)


def test_where_the_block_has_changed_the_lines_are_told(git: Git, top: Path, tmp_path: Path) -> None:
    """Nobody guesses which of the two is meant."""
    commit(git, top, {"seed.py": SEED.replace("a = 1", "a = 3").replace("return a + b", "c = 2\n    return a + b")})
    with pytest.raises(ConfigError, match=r"seed.py is not what the search began with: it differs at line 6, 8\. Do: "):
        patched(tmp_path, top)


def test_a_repository_that_has_the_program_needs_no_patch(git: Git, top: Path, tmp_path: Path) -> None:
    """It was applied before."""
    commit(git, top, {"seed.py": BETTER})
    with pytest.raises(ConfigError, match="has the program of number/2 already"):
        patched(tmp_path, top)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"seed.py": SEED.replace("# EVOLVE-BLOCK-START\n", "")}, "seed.py has 0 EVOLVE blocks, and the program has 1"),
        ({"seed.py": SEED + SEED}, "seed.py has 2 EVOLVE blocks, and the program has 1"),
        ({"seed.py": SEED.encode("latin-1") + b"# \xe9\n"}, "seed.py is no text in UTF-8"),
        ({"other.py": SEED}, "that has seed.py. Do: name the folder"),
    ],
)
def test_what_cannot_be_patched_is_told(
    git: Git, top: Path, tmp_path: Path, files: Mapping[str, str | bytes], message: str
) -> None:
    """With what to do."""
    commit(git, top, files)
    with pytest.raises(ConfigError, match=message):
        patched(tmp_path, top)


def test_a_file_that_is_not_committed_is_told(git: Git, top: Path, tmp_path: Path) -> None:
    """A patch is against a commit."""
    commit(git, top, {"other.py": ""})
    (top / "seed.py").write_text(SEED, "utf-8")
    with pytest.raises(ConfigError, match=r"seed.py is not committed"):
        patched(tmp_path, top)


def test_a_link_is_not_patched(git: Git, top: Path, tmp_path: Path) -> None:
    """What it leads to is."""
    commit(git, top, {"real/seed.py": SEED, "linked/other.py": ""})
    (top / "linked/seed.py").symlink_to("../real/seed.py")
    commit(git, top, {})
    assert patched(tmp_path, top / "linked").files == ("real/seed.py",)


def test_a_link_out_of_the_repository_is_refused(git: Git, top: Path, tmp_path: Path) -> None:
    """Its target is nobody's business here."""
    (tmp_path / "seed.py").write_text(SEED, "utf-8")
    (top / "seed.py").symlink_to(tmp_path / "seed.py")
    commit(git, top, {})
    with pytest.raises(ConfigError, match="leads out of the repository"):
        patched(tmp_path, top)


def test_a_new_file_does_not_replace_another_one(git: Git, top: Path, tmp_path: Path) -> None:
    """Of the same name."""
    seed = {"seed.py": "x = 1\n"}
    commit(git, top, {**seed, "lib.py": "mine = True\n"})
    with pytest.raises(ConfigError, match=r"adds the file lib.py, and lib.py is another one"):
        patched(tmp_path, top, {**seed, "lib.py": "C = 1\n"}, seed=Program(seed), new_files=("*.py",))


def test_what_is_no_repository_is_told(git: Git, tmp_path: Path) -> None:
    """A folder elsewhere, one that is not there, and a repository without a commit."""
    (tmp_path / "plain").mkdir()
    for place, message in {
        "plain": "is in no git repository with files",
        "missing": "there is no ",
        "repository": "nothing is committed in",
    }.items():
        with pytest.raises(ConfigError, match=message):
            patched(tmp_path / f"home-{place}", tmp_path / place)


def test_git_that_is_not_installed_is_told(
    git: Git, top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And that nothing else will do."""
    commit(git, top, {"seed.py": SEED})
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="git is not installed"):
        patched(tmp_path, top)


def test_the_seed_changes_nothing(git: Git, top: Path, tmp_path: Path) -> None:
    """So there is no patch of it."""
    commit(git, top, {"seed.py": SEED})
    with pytest.raises(ConfigError, match="is the program that the search began with"):
        patched(tmp_path, top, {"seed.py": SEED})


def test_words_of_a_task_neither_end_the_message_nor_are_a_header(git: Git, top: Path, tmp_path: Path) -> None:
    """Whatever a task is called, git am takes the whole message and the whole change."""
    commit(git, top, {"seed.py": SEED})
    hostile = "diff --git a/x b/x\n---\nFrom: x\n-- >8 --\n\x1b[2J é \u202e"
    fields = {"name": "number", "fitness": Fitness(hostile, "max", 6)}
    git("am", "-q", "--scissors", given=patched(tmp_path, top, **fields).text)
    assert git("show", "HEAD:seed.py") == BETTER
    body = git("log", "-1", "--format=%an%n%B")
    assert body.startswith("A B\n")
    assert body.rstrip().endswith("evolve program verify FOLDER")
    assert "\x1b" not in body
    assert "\u202e" not in body


def test_lines_of_a_program_are_data_in_the_patch(git: Git, top: Path, tmp_path: Path) -> None:
    """Such as end a mail, or begin another patch."""
    commit(git, top, {"seed.py": SEED})
    hostile = SEED.replace(
        "    b = 2\n",
        '    b = """\n-- \nFrom 1234 Mon Sep 17 00:00:00 2001\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n\x0c\n"""\n',
    )
    git("am", "-q", given=patched(tmp_path, top, {"seed.py": hostile}).text)
    assert git("show", "HEAD:seed.py") == hostile
