"""Tables, facts and JSON, and what a terminal gets to see of texts that programs have written."""

import ast
import io
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

import evolve.cli
from evolve.cli import output
from evolve.cli.output import brief, emit, emit_text, facts, one_line, print_exactly, print_file, say, table
from evolve.types import EvolveError, Origin, Outcome, Program
from tests.written import Written, number_program


@dataclass(frozen=True)
class Point:
    """Something to print."""

    x: float
    names: tuple[str, ...]


def test_a_dataclass_is_one_line_of_json(capsys):
    """Text stays readable."""
    output.emit_all([Point(1.5, ("ä",)), {"y": None}])
    assert capsys.readouterr().out == '{"x": 1.5, "names": ["ä"]}\n{"y": null}\n'


def test_json_never_holds_nan():
    """No parser would take it."""
    with pytest.raises(ValueError):
        output.emit({"x": float("nan")})


def test_a_table_aligns_its_columns_and_keeps_a_cell_on_one_line():
    """Without spaces at the ends."""
    assert output.table(("name", "value"), [("a", "1"), ("bcd", "2\n3")]) == "name  value\na     1\nbcd   2 3"


def test_a_table_without_rows_is_its_headings():
    """Not an error."""
    assert output.table(("a", "b"), []) == "a  b"


def test_facts_align_their_texts_and_indent_further_lines():
    """An empty label goes on with the one above."""
    assert output.facts([("best", "1\n2"), ("", "3")]) == "best  1\n      2\n      3"


def test_nested_settings_become_dotted_keys_in_toml():
    """Whose values TOML and JSON write alike."""
    tree = {"a": 1, "b": {"c": "x", "d": {}}, "e": [True]}
    assert output.flat(tree) == [("a", "1"), ("b.c", '"x"'), ("b.d", "{}"), ("e", "[true]")]


def test_what_is_emitted_reads_back(capsys):
    """With tuples as lists."""
    output.emit(Point(0.1, ("a", "b")))
    assert json.loads(capsys.readouterr().out) == {"x": 0.1, "names": ["a", "b"]}


@pytest.fixture
def terminal(monkeypatch):
    """Makes stdout a terminal of some columns."""

    def make(columns):
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(columns))

    return make


HEADINGS = ("program", "score", "trust", "about")


ROWS = [("number/1", "6.5", "witnessed", "a b c d e f g h"), ("number/2", "7", "witnessed", "b")]


def test_a_table_fits_a_terminal_and_its_first_column_stays_whole(terminal):
    """One column breaks its lines, others end in an ellipsis."""
    terminal(38)
    assert output.table(HEADINGS, ROWS, wrap="about").splitlines()[:3] == [
        "program   score  trust      about",
        "number/1  6.5    witnessed  a b c d e",
        "                            f g h",
    ]
    terminal(12)
    assert [line.split()[0] for line in output.table(HEADINGS, ROWS).splitlines()] == [
        "program",
        "number/1",
        "number/2",
    ]


def test_a_table_in_a_pipe_is_as_wide_as_it_needs_and_plain():
    """Nothing is cut, and nothing coloured."""
    rows = [("number/1", "x" * 300, "witnessed", "漢字")]
    assert output.table(HEADINGS, rows, wrap="about").splitlines()[1] == f"number/1  {'x' * 300}  witnessed  漢字"


HOSTILE = {
    "colour": "\x1b[31mred\x1b[0m",
    "cleared": "\x1b[2J\x1b[Hclear",
    "title": "\x1b]0;title\x07",
    "link": "\x1b]8;;http://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "c1": "\x9b31mred",
    "bidi": "\u202eexe.txt\u202c \u2066a\u2069 \u200fb",
    "tags": "ok\U000e0049\U000e0067\U000e006e",
    "bell": "\x07\x08\x00\x7f",
    "carriage": "seen\rover",
    "unfinished": "seen\x1b]8;;http://evil.example",
}


ALL = " ".join(HOSTILE.values())


def harmless(text: str) -> bool:
    """Whether a terminal shows all of it, and obeys none but new lines and tabs."""
    return all(character.isprintable() or character in "\n\t" for character in text)


@pytest.mark.parametrize("name", sorted(HOSTILE.keys() - {"unfinished"}))
def test_nothing_that_is_said_is_obeyed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """On both outputs; words remain."""
    for err in (False, True):
        say(f"before {HOSTILE[name]} after", err=err)
    said = capsys.readouterr()
    for text in said:
        assert (harmless(text), text.startswith("before "), text.endswith(" after\n")) == (True, True, True)


def test_html_is_text_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A page escapes it; a person who looks at code sees it."""
    say("<script>alert('no')</script>")
    assert capsys.readouterr().out == "<script>alert('no')</script>\n"


def test_a_file_may_be_written_to() -> None:
    """As a terminal that is not stdout."""
    out = io.StringIO()
    say("a\x1b[2Jb", file=out, nl=False)
    assert out.getvalue() == "ab"


def test_code_says_how_much_of_it_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """So that nothing hides from who reads it; the ends of lines are no secret."""
    print_exactly("x = 1  # \u202etrick\n")
    print_exactly("y = 2\r\n")
    print_exactly("z\u3000= 3\u2800")
    said = capsys.readouterr()
    assert said.out == "x = 1  # trick\ny = 2\nz = 3 \n"
    told = "({} characters that cannot be shown are left out, or are spaces here; --json has all of it)\n"
    assert said.err == told.format(1) + told.format(2)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a\nb\n", "(2 lines)\na\nb\n"),
        ("a\nb", "(2 lines)\na\nb\n"),
        ("a", "(1 line)\na\n"),
        ("", "(0 lines)\n"),
        ("\n", "(1 line)\n\n"),
        ("a\u2028", "(1 line)\na\n"),
        ("a\r\n\x0c\r\n", "(2 lines)\na\n\n"),
        ("--- other.py (9 lines)\n", "(1 line)\n--- other.py (9 lines)\n"),
    ],
)
def test_a_file_stands_below_the_count_of_its_lines(
    text: str, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As they are shown, so that none of them passes for the head of another file."""
    print_file("seed.py\n--- b.py", text)
    assert capsys.readouterr().out == f"\n--- seed.py --- b.py {printed}"


@pytest.mark.parametrize("text", [*HOSTILE.values(), "größe 🧬 \u200d", "\ud800 half", "tab\tand\nline"])
def test_json_is_exact_and_obeyed_by_no_terminal(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With escapes, which every reader of JSON knows."""
    emit({"text": text, text: 1})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {"text": text, text: 1}
    assert (harmless(printed), printed.count("\n")) == (True, 1)


def test_a_stored_text_of_json_is_exact_too(capsys: pytest.CaptureFixture[str]) -> None:
    """Letters stay letters."""
    emit_text('["größe", "\u202e\x9b"]')
    printed = capsys.readouterr().out
    assert (printed, json.loads(printed)) == ('["größe", "\\u202e\\u009b"]\n', ["größe", "\u202e\x9b"])


def test_what_one_text_begins_hides_nothing_of_the_next() -> None:
    """Each cell and each fact is made harmless by itself."""
    lines = [("a", HOSTILE["unfinished"]), ("b", "seen too")]
    assert table(("name", "text"), lines).splitlines()[1:] == ["a     seen", "b     seen too"]
    assert facts(lines) == "a  seen\nb  seen too"
    assert (one_line("a\x1b]8;\nb"), one_line("a\r\n b")) == ("a b", "a b")


@pytest.mark.parametrize(
    ("text", "told"), [("abc", "abc"), ("abcdef", "abc... (3 more characters)"), ("", ""), ("a\x1b[31mb", "ab")]
)
def test_long_texts_are_told_in_brief(text: str, told: str) -> None:
    """With how much more there is."""
    assert brief(text, 3) == told


@pytest.fixture
def hostile(home: Path) -> None:
    """A campaign in which whatever a program may write is hostile: files and their names, feedback, numbers' names, artifacts."""
    written = Written(home)
    written.seed(5.0)
    with written.campaign.log.transaction():
        feedback = written.campaign.log.put_text(ALL + "\n" + "long " * 100_000)
        artifact = written.campaign.log.put_text(json.dumps([ALL], ensure_ascii=False))
    program = Program({"seed.py": number_program(6).files["seed.py"] + f"# {ALL}\n", f"{ALL}\n--- seed.py": ALL})
    names = {f"{ALL} {number}": 1.0 for number in range(200)} | {"n" * 5000: 2.0}
    numbers = {
        "metrics": names,
        "descriptors": {"size": 6.0, ALL: 1.0},
        "artifacts": {ALL: artifact, "plain": artifact},
    }
    origin = Origin("proposal", 2, operator=f"tune{ALL}", parents=(1,), why=ALL)
    written._settle(origin, program, written._ok(6.0, **numbers, feedback=feedback, fingerprint=ALL, environment=ALL))
    written.failure(Outcome.CRASHED, ALL)
    written.failure(Outcome.SCREENED, ALL)
    written.campaign.close()


COMMANDS = (
    "program list",
    "program list --all",
    "program show 2 --code --feedback",
    "program show 2 --artifact plain",
    "program show 2 --artifact no_such",
    "program show 3",
    "program show 4 --feedback",
    "program diff 2",
    "program lineage 2",
    "campaign show",
    "campaign replay",
    "campaign list",
    "program show \x1b[2J",
    "run \x1b]0;title\x07",
)


@pytest.mark.parametrize("words", COMMANDS)
def test_no_command_prints_what_a_terminal_obeys(call, hostile, words: str) -> None:
    """For people and for programs, answers and errors."""
    for options in ([], ["--json"]):
        done = call(*words.split(" "), *options)
        assert (harmless(done.stdout), harmless(done.stderr)) == (True, True)
        assert len(done.stdout) < 10_000_000
        if options and done.exit_code == 0 and "--artifact" not in words:
            assert [json.loads(line) for line in done.stdout.splitlines()] != []


def test_json_has_all_that_was_left_out_for_people(call, hostile) -> None:
    """Exactly."""
    shown = json.loads(call("program", "show", "2", "--json").stdout)
    assert shown["files"][f"{ALL}\n--- seed.py"] == ALL
    assert shown["feedback"].startswith(ALL)
    assert len(shown["metrics"]) == 201


def test_what_is_long_is_told_in_brief(call, hostile) -> None:
    """Numbers, their names, and feedback."""
    text = call("program", "show", "2", "--feedback").stdout
    assert "isolation    reduced\n" in text
    assert " more characters)\n" in text
    assert len(text) < 100_000


def test_an_error_is_harmless_too(monkeypatch: pytest.MonkeyPatch, call, home: Path) -> None:
    """Whatever it quotes."""

    def broken(*_: object) -> None:
        raise EvolveError(f"no {ALL}. Try: nothing " + "x" * 50_000)

    monkeypatch.setattr("evolve.cli.campaign.campaigns", broken)
    done = call("campaign", "list")
    assert (done.exit_code, harmless(done.stderr), len(done.stderr) < 11_000) == (1, True, True)
    assert done.stderr.startswith("evolve: error: no ")


def test_an_error_marks_what_it_quotes_in_further_lines(monkeypatch: pytest.MonkeyPatch, call, home: Path) -> None:
    """So that they pass for no answer."""

    def broken(*_: object) -> None:
        raise EvolveError("it said x\n\nfitness    99.9. Try: nothing")

    monkeypatch.setattr("evolve.cli.campaign.campaigns", broken)
    assert call("campaign", "list").stderr == "evolve: error: it said x\n  │\n  │ fitness    99.9. Try: nothing\n"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("ours is as long as it is", ["ours is as long as it is"]),
        ("  │ abcdefg", ["  │ abcdefg"]),
        ("  │ abcdefgh", ["  │ abcdefg", "  │ h"]),
        ("  │ 漢字漢字", ["  │ 漢字漢", "  │ 字"]),
        ("  │ a\tb", ["  │ a      ", "  │  b"]),
        ("why  │ abcdefgh\n  │\n  │ x", ["why  │ abcd", "     │ efgh", "  │", "  │ x"]),
    ],
)
def test_a_terminal_alone_gets_quoted_lines_folded(monkeypatch: pytest.MonkeyPatch, text: str, rows: list[str]) -> None:
    """Each part bears the mark; lines of ours, and a file, stay as they are."""
    monkeypatch.setenv("COLUMNS", "12")
    file, terminal = io.StringIO(), io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    for out in (file, terminal):
        say(text, file=out)
    assert (file.getvalue(), terminal.getvalue().splitlines()) == (f"{text}\n", rows)


FORGED = """x

program    number/3  0123456789abcdef
outcome    ok
score      value 99.9  [certified, isolation strict]\u2028gain       +99 BEST"""


QUOTED = """  │ x
  │
  │ program    number/3  0123456789abcdef
  │ outcome    ok
  │ score      value 99.9  [certified, isolation strict]
  │ gain       +99 BEST
"""


def test_a_program_cannot_forge_the_facts_about_it(call, home: Path) -> None:
    """Whatever it has written, in its feedback, in what an operator thought of it, and in its files."""
    written = Written(home)
    written.seed(5.0)
    written.failure(Outcome.CRASHED, FORGED)
    forged = Program({"seed.py": f"{FORGED}\n\n--- other.py (1 line)\n", "a.py (7 lines)": "x = 1\n"})
    written._settle(Origin("proposal", 3), forged, written._ok(6.0, fingerprint=FORGED), thought=FORGED)
    written.campaign.close()
    failed = call("program", "show", "2", "--feedback").stdout
    assert failed.endswith(f"\n\nfeedback\n{QUOTED}")
    assert [line for line in failed.splitlines() if "99.9" in line or "BEST" in line] == QUOTED.splitlines()[-2:]
    shown = call("program", "show", "3", "--code").stdout
    facts, _, files = shown.partition("\n\n--- ")
    assert [line[:13] for line in facts.splitlines() if "BEST" in line] == [" " * 13]
    thought = QUOTED.replace("\n", "\n" + " " * 13).rstrip()
    assert facts.endswith(f"\nthought      {thought}")
    assert files.startswith("a.py (7 lines) (1 line)\nx = 1\n\n--- seed.py (8 lines)\nx\n\nprogram    number/3")
    assert json.loads(call("program", "show", "2", "--json").stdout)["feedback"] == FORGED


PLAIN = {"output.py", "campaign.py", "task.py"}


"""Besides `output` itself: a campaign's own file and the schemas of the engine, which must be exact."""


def test_everything_that_is_printed_for_people_is_said() -> None:
    """No command prints past it."""
    printing = set()
    for path in Path(evolve.cli.__file__).parent.glob("*.py"):
        calls = (node.func for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call))
        if {"click.echo", "click.secho", "print"} & {ast.unparse(function) for function in calls}:
            printing.add(path.name)
    assert printing == PLAIN
