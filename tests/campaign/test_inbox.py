"""The folder where requests lie, and what is answered there."""

import json
import os
import stat
from pathlib import Path

import pytest

from evolve.campaign.inbox import FORGOTTEN_SECONDS, LARGEST, Add, Answer, Hint, Inbox, Request, Ruling, RunControl
from evolve.types import StoreError, canonical
from evolve.types.codec import encode

WISHES = [
    Ruling("quarantine", 3, True, "why"),
    Ruling("release", 3),
    Hint("words"),
    Add({"a.py": "x\udc80"}, "thought", 2),
    RunControl("stop", 17),
]


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    """That of a log that is not there."""
    return Inbox(tmp_path / "number.db")


def request(number: int, wish=None) -> Request:
    return Request(f"{number:08x}", wish or Hint(str(number)))


@pytest.mark.parametrize("wish", WISHES)
def test_a_request_is_read_as_it_was_put(inbox: Inbox, wish) -> None:
    """Every kind, and text that UTF-8 proper cannot hold."""
    inbox.put(request(1, wish), 5.0)
    assert [letter.request for letter in inbox.letters()] == [request(1, wish)]


def test_requests_come_in_the_order_in_which_they_were_put(inbox: Inbox) -> None:
    """Whatever their ids are."""
    for number, now in ((9, 1.0), (3, 2.0), (5, 10.0)):
        inbox.put(request(number), now)
    assert [letter.request.id for letter in inbox.letters()] == ["00000009", "00000003", "00000005"]


def test_nobody_else_may_read_what_lies_there(inbox: Inbox) -> None:
    """Folder and files are their owner's alone."""
    inbox.put(request(1), 5.0)
    (letter,) = inbox.letters()
    assert stat.S_IMODE(inbox.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(letter.path.stat().st_mode) == 0o600


def test_an_answer_takes_the_place_of_the_request_and_is_read_once(inbox: Inbox) -> None:
    """Then nothing lies there, and the folder goes."""
    inbox.put(request(1), 5.0)
    answer = Answer("00000001", accepted=True, told="done", records=(1, 2), best=3, fitness=0.5)
    assert inbox.take_answer("00000001") is None
    inbox.answer(inbox.letters()[0], answer)
    assert inbox.letters() == []
    assert (inbox.take_answer("00000001"), inbox.take_answer("00000001")) == (answer, None)
    inbox.tidy(6.0)
    assert not inbox.folder.exists()


def test_a_request_can_be_withdrawn(inbox: Inbox) -> None:
    """The others stay."""
    inbox.put(request(1), 5.0)
    inbox.put(request(2), 6.0)
    inbox.withdraw("00000001")
    assert [letter.request.id for letter in inbox.letters()] == ["00000002"]


def test_an_answer_that_nobody_came_for_is_removed(inbox: Inbox) -> None:
    """After an hour."""
    inbox.put(request(1), 5.0)
    inbox.answer(inbox.letters()[0], Answer("00000001", accepted=True, told="done"))
    written = (inbox.folder / "00000001.answer").stat().st_mtime
    inbox.tidy(written + FORGOTTEN_SECONDS / 2)
    assert inbox.folder.exists()
    inbox.tidy(written + FORGOTTEN_SECONDS + 1)
    assert not inbox.folder.exists()


def body(**fields: object) -> str:
    return canonical(encode(request(1)) | fields)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[]",
        '{"id": "00000001"}',
        body(more=1),
        body(id="../../etc"),
        body(wish={"type": "Dance"}),
        body(wish={"type": "Hint", "text": 5}),
        body(wish={"type": "Quarantine", "record": "1"}),
        "[" * 100_000,
    ],
)
def test_what_is_no_request_is_set_aside(inbox: Inbox, text: str, caplog: pytest.LogCaptureFixture) -> None:
    """With a warning, once; the requests beside it are taken."""
    inbox.put(request(2), 5.0)
    (inbox.folder / "0-1.json").write_text(text)
    assert [letter.request.id for letter in inbox.letters()] == ["00000002"]
    assert [letter.request.id for letter in inbox.letters()] == ["00000002"]
    assert (inbox.folder / "0-1.json.refused").read_text() == text
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_what_is_no_file_of_ours_is_set_aside(inbox: Inbox, tmp_path: Path) -> None:
    """A link, a folder, a pipe that nobody writes to, and a file that is too large."""
    inbox.put(request(2), 5.0)
    (tmp_path / "elsewhere").write_text(body())
    (inbox.folder / "link.json").symlink_to(tmp_path / "elsewhere")
    (inbox.folder / "folder.json").mkdir()
    os.mkfifo(inbox.folder / "pipe.json")
    with (inbox.folder / "large.json").open("wb") as file:
        file.truncate(LARGEST + 1)
    assert [letter.request.id for letter in inbox.letters()] == ["00000002"]
    refused = sorted(path.name for path in inbox.folder.glob("*.refused"))
    assert refused == ["folder.json.refused", "large.json.refused", "link.json.refused", "pipe.json.refused"]


def test_other_files_are_left_alone(inbox: Inbox) -> None:
    """They keep the folder, too."""
    inbox.put(request(1), 5.0)
    (inbox.folder / "notes.txt").write_text("mine")
    inbox.withdraw("00000001")
    inbox.tidy(5.0)
    assert (inbox.letters(), (inbox.folder / "notes.txt").read_text()) == ([], "mine")


def test_a_place_that_takes_no_request_is_an_error(tmp_path: Path) -> None:
    """With the folder's name."""
    (tmp_path / "number.inbox").write_text("a file")
    with pytest.raises(StoreError, match=r"number.inbox cannot take a request: .* Try: "):
        Inbox(tmp_path / "number.db").put(request(1), 5.0)


def test_an_answer_that_is_damaged_is_none(inbox: Inbox) -> None:
    """Nobody hangs on it."""
    inbox.put(request(1), 5.0)
    (inbox.folder / "00000001.answer").write_text(json.dumps({"accepted": True}))
    assert inbox.take_answer("00000001") is None
