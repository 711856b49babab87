"""Where the anchors were published, for BibTeX."""

from evolve.publish.paper.references import keys, references
from evolve.types import Anchor
from tests.written import number_task

ANCHORS = (
    Anchor(1.0, "A. Author", 2025, "arXiv:2506.13131, 50 steps"),
    Anchor(2.0, "A. Author", 2025, "doi:10.1038/s41586-023-06924-6, computed"),
    Anchor(3.0, "A. Author", 2025, "arXiv:2506.13131, 50 steps"),
    Anchor(4.0, "中", None, "a letter of 1912"),
    Anchor(5.0, "Nobody"),
)


def test_each_source_has_one_entry() -> None:
    """With what its text says, and nothing that it does not; an anchor without a source has none."""
    task = number_task(anchors=ANCHORS)
    assert list(keys(task).values()) == ["aauthor2025", "aauthor2025-2", "anchor"]
    assert references(task) == (
        "@misc{aauthor2025,\n"
        "  author = {{A. Author}},\n"
        "  note = {arXiv:2506.13131, 50 steps},\n"
        "  year = {2025},\n"
        "  eprint = {2506.13131},\n"
        "  archiveprefix = {arXiv},\n"
        "  url = {https://arxiv.org/abs/2506.13131},\n"
        "}\n"
        "\n"
        "@misc{aauthor2025-2,\n"
        "  author = {{A. Author}},\n"
        "  note = {doi:10.1038/s41586-023-06924-6, computed},\n"
        "  year = {2025},\n"
        "  doi = {10.1038/s41586-023-06924-6},\n"
        "  url = {https://doi.org/10.1038/s41586-023-06924-6},\n"
        "}\n"
        "\n"
        "@misc{anchor,\n"
        "  author = {{[U+4E2D]}},\n"
        "  note = {a letter of 1912},\n"
        "}\n"
    )


def test_without_sources_the_file_says_so() -> None:
    """It is there all the same, so that a paper may name it."""
    assert references(number_task(anchors=(Anchor(5.0, "Nobody"),))) == "% No anchor of the task has a source.\n"
