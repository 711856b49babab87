"""`evolve sql`."""

import json

import pytest


def test_a_table_for_people(call, short):
    """With its headings."""
    result = call("sql", "number", "select id, outcome, fitness from records where id < 3 or id = 5")
    assert result.output.splitlines() == [
        "id  outcome   fitness",
        "1   ok        5.0",
        "2   ok        6.0",
        "5   screened",
    ]


def test_json_and_csv(call, short):
    """One object a row; bytes are hexadecimal digits, infinity is none."""
    words = "select 1 as a, x'00ff' as b, 9e999 as c, null as d, 'x,y' as e"
    assert [json.loads(line) for line in call("sql", "number", words, "--json").output.splitlines()] == [
        {"a": 1, "b": "00ff", "c": None, "d": None, "e": "x,y"}
    ]
    assert call("sql", "number", words, "--csv").output == 'a,b,c,d,e\n1,00ff,inf,,"x,y"\n'


def test_no_text_of_a_program_is_a_formula_of_a_spreadsheet(call, short):
    """JSON has it as it is; numbers below 0 stay numbers."""
    words = "select '=1+1' as '@a', '-x' as b, -1.5 as c, 'a=b' as d"
    assert call("sql", "number", words, "--csv").output == "'@a,b,c,d\n'=1+1,'-x,-1.5,a=b\n"
    assert json.loads(call("sql", "number", words, "--json").output) == {"@a": "=1+1", "b": "-x", "c": -1.5, "d": "a=b"}


def test_rows_are_limited_and_more_are_told(call, short):
    """0 means all."""
    words = ("sql", "number", "select id from records")
    limited = call(*words, "--limit", 2)
    assert limited.stdout.splitlines() == ["id", "1", "2"]
    assert limited.stderr == "(the first 2 rows; --limit 0 shows all)\n"
    assert len(call(*words, "--limit", 0).stdout.splitlines()) == 7
    assert len(call(*words, "--limit", 3, "--json").stdout.splitlines()) == 3


@pytest.mark.parametrize("words", ["delete from events", "selec"])
def test_what_does_not_read_is_an_error_in_one_line(call, short, words):
    """And nothing on stdout."""
    result = call("sql", "number", words)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith("evolve: error: the statement ")


def test_words_of_a_log_do_not_reach_the_terminal(call, short):
    """As in every table."""
    result = call("sql", "number", "select char(27) || '[31mred' as x")
    assert result.output == "x\nred\n"


def test_two_forms_exclude_each_other(call, short):
    """A usage error."""
    assert call("sql", "number", "select 1", "--csv", "--json").exit_code == 2
