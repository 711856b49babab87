"""Templates: which there are, what they may say, and what is said of a wrong one."""

from pathlib import Path

import pytest

import evolve
from evolve.prompts import KINDS, PLACES, check, from_folder, list_bundled
from evolve.prompts.templates import PromptTemplate, find_template, parse_template, split_layout
from evolve.types import ConfigError


def test_the_engines_templates_are_those_that_there_may_be() -> None:
    """And each of them can be used."""
    check(list_bundled())
    assert set(PLACES) == set(list_bundled())


def test_the_templates_are_part_of_the_package() -> None:
    """Beside its modules, so that a wheel holds them."""
    folder = Path(evolve.__file__).parent / "prompts"
    assert {path.stem for path in folder.glob("*.md")} == set(list_bundled())


def test_what_is_filled_in_is_no_template() -> None:
    """A brief that speaks of placeholders keeps them."""
    assert parse_template("{{name}}: {{ brief }}!\n").fill({"name": "{{brief}}", "brief": "b"}) == "{{brief}}: b!"


def test_a_layout_is_sections_and_the_texts_between() -> None:
    """In their order, without empty lines around them."""
    parts = split_layout(parse_template("Before.\n\n{{lessons}}\n\n{{parent}}\n\nProgram {{number}}.\n"))
    assert parts == (
        PromptTemplate(("Before.",), ()),
        "lessons",
        "parent",
        PromptTemplate(("Program ", "."), ("number",)),
    )


def test_a_campaigns_template_comes_before_the_engines() -> None:
    """By its name."""
    assert find_template("repair", {"repair": "Again: {{reason}}"}).fill({"reason": "no"}) == "Again: no"
    assert find_template("repair", {}) == parse_template(list_bundled()["repair"])


@pytest.mark.parametrize(
    ("templates", "message"),
    [
        ({"lineag": "{{items}}"}, "no prompt template is called 'lineag'. Did you mean 'lineage'? Try: "),
        (
            {"lineage": "{{itms}}"},
            "'lineage' has the placeholder '{{itms}}', which nothing fills. Did you mean 'items'?",
        ),
        ({"lineage": "Steps"}, "'lineage' has no '{{items}}', which a model must read. Try: "),
        ({"parent": "{{number}} {{status}}"}, "'parent' has no '{{program}}'"),
        ({"diff": "{{parent}}"}, "'diff' has no '{{feedback}}'"),
        ({"diff": "See: {{parent}}\n{{feedback}}"}, "'diff' has a section among other words: 'See: {{parent}}'"),
        ({"diff": "{{parent}}\n{{feedback}}\n{{}}"}, "the placeholder '{{}}', which nothing fills"),
    ],
)
def test_a_wrong_template_is_one_clear_error(templates: dict[str, str], message: str) -> None:
    """What, got, do this."""
    with pytest.raises(ConfigError) as caught:
        check(templates)
    assert message in str(caught.value)


def test_a_prompt_that_there_is_not() -> None:
    """Named with those that there are."""
    with pytest.raises(
        ConfigError, match=f"no prompt is called 'dif'. Did you mean 'diff'\\? Try: name one of {', '.join(KINDS)}"
    ):
        find_template("dif", {})


def test_a_folder_holds_templates_by_the_names_of_their_files(tmp_path: Path) -> None:
    """Beside a README, which is none."""
    (tmp_path / "lineage.md").write_text("## Story\n\n{{items}}")
    (tmp_path / "README.md").write_text("mine")
    assert from_folder(tmp_path) == {"lineage": "## Story\n\n{{items}}"}


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    """Missing, empty, not text, with a file of another name: each with its path and a remedy."""
    with pytest.raises(ConfigError, match=r"cannot be read: No such file or directory. Try: check the path"):
        from_folder(tmp_path / "none")
    with pytest.raises(ConfigError, match=r"there is no prompt template\. Try: write one"):
        from_folder(tmp_path)
    (tmp_path / "diff.md").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="is no text in UTF-8"):
        from_folder(tmp_path)
    (tmp_path / "diff.md").write_text("{{parent}}")
    with pytest.raises(ConfigError, match=f"{tmp_path}: the prompt template 'diff' has no"):
        from_folder(tmp_path)
