"""A folder as a model: prompts become files, replies are files that appear beside them."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evolve.models.mailbox import DONE, LONGEST_REPLY, Mailbox
from evolve.types import Message, ModelError, ModelGone, Prompt, Section, Usage

pytestmark = pytest.mark.integration

LOOK = 0.03


def prompt(text: str = "Find the number.", **how: object) -> Prompt:
    rules = Message("system", (Section("rules", "You write programs."),))
    return Prompt((rules, Message("user", (Section("task", text), Section("end", "Now.")))), **how)


def name(asked: Prompt, sample: int = 0) -> str:
    return f"{asked.request[:16]}-{sample}"


def answer(folder: Path, about: str, text: str) -> None:
    """As the prompt asks for it: written elsewhere, and renamed."""
    (folder / f"{about}.part").write_text(text, "utf-8")
    (folder / f"{about}.part").rename(folder / f"{about}.reply.md")


def appears(path: Path) -> None:
    until = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < until, f"{path} never came"
        time.sleep(0.005)


class Asking:
    """A call in a thread of its own."""

    def __init__(self, mailbox: Mailbox, asked: Prompt, samples: tuple[int, ...] = (0,)) -> None:
        self.cancelled = threading.Event()
        self._pool = ThreadPoolExecutor(1)
        self._call = self._pool.submit(
            mailbox.complete, asked, samples=samples, deadline=time.monotonic(), cancelled=self.cancelled
        )
        self._pool.shutdown(wait=False)

    def replies(self):
        return self._call.result(timeout=20)

    @property
    def is_over(self) -> bool:
        return self._call.done()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "mail"


def test_a_prompt_is_a_file_and_its_reply_another(folder):
    """The deadline, which was past when it was asked, hurries nobody; tokens are estimated; the pair is put away."""
    asked = prompt(max_tokens=1000)
    asking = Asking(Mailbox(folder, LOOK), asked)
    letter = folder / f"{name(asked)}.md"
    appears(letter)
    mark = f"==== {name(asked)}:"
    assert letter.read_text() == (
        f"# {name(asked)}\n\n"
        f"Answer in a new file beside this one, `{name(asked)}.reply.md`. It may have 1,000 tokens at most (about 4,000 characters). "
        f"Write it under another name and rename it when it is whole. The answer `skip` alone refuses to answer.\n\n"
        "Everything below is the prompt. A line of `====` says who speaks: `system` gives the rules, `user` asks, `assistant` is an earlier answer.\n\n"
        f"{mark} system ====\n\nYou write programs.\n\n{mark} user ====\n\nFind the number.\n\nNow.\n"
    )
    answer(folder, name(asked), "x = 3\n")
    (reply,) = asking.replies()
    assert (reply.text, reply.finish, reply.usage) == ("x = 3\n", "stop", Usage(11, 2))
    assert sorted(path.name for path in folder.iterdir()) == [DONE]
    assert sorted(path.name for path in (folder / DONE).iterdir()) == [f"{name(asked)}.md", f"{name(asked)}.reply.md"]


def test_twenty_calls_are_in_flight_and_a_restart_asks_for_nothing_twice(folder):
    """Of those that the first engine left open some are answered while nobody waits; each prompt gets its own answer."""
    asked = [prompt(f"Find number {number}.") for number in range(20)]
    first = Mailbox(folder, LOOK)
    asking = [Asking(first, one) for one in asked]
    for one in asked:
        appears(folder / f"{name(one)}.md")
    for number in range(5):
        answer(folder, name(asked[number]), f"x = {number}")
    assert [asking[number].replies()[0].text for number in range(5)] == [f"x = {number}" for number in range(5)]
    for call in asking[5:]:
        call.cancelled.set()
    for call in asking[5:]:
        with pytest.raises(ModelError, match="stays in the mailbox"):
            call.replies()
    assert len(list(folder.glob("*.md"))) == 15
    for number in range(5, 12):
        answer(folder, name(asked[number]), f"x = {number}")

    written = {path: path.stat().st_mtime_ns for path in folder.glob("*.md")}
    second = Mailbox(folder, LOOK)
    again = [Asking(second, one) for one in asked]
    assert [again[number].replies()[0].text for number in range(12)] == [f"x = {number}" for number in range(12)]
    still = {path: path.stat().st_mtime_ns for path in folder.glob("*.md")}
    assert still == {path: when for path, when in written.items() if path in still}
    assert len(still) == 8
    for number in range(12, 20):
        answer(folder, name(asked[number]), f"x = {number}")
    assert [call.replies()[0].text for call in again] == [f"x = {number}" for number in range(20)]
    assert [path.name for path in folder.iterdir()] == [DONE]


def test_equal_prompts_that_wait_at_once_are_asked_once(folder):
    """Their answer is for all of them; the next one is asked anew."""
    asked, mailbox = prompt(), Mailbox(folder, LOOK)
    first = Asking(mailbox, asked, (0,))
    appears(folder / f"{name(asked, 0)}.md")
    others = [Asking(mailbox, asked, (sample,)) for sample in (1, 2)]
    until = time.monotonic() + 20
    while len(mailbox._questions) < 3:
        assert time.monotonic() < until
        time.sleep(0.005)
    assert [path.name for path in folder.glob("*.md")] == [f"{name(asked, 0)}.md"]
    answer(folder, name(asked, 0), "x = 3")
    assert [call.replies()[0].text for call in (first, *others)] == ["x = 3"] * 3
    later = Asking(mailbox, asked, (3,))
    appears(folder / f"{name(asked, 3)}.md")
    later.cancelled.set()
    with pytest.raises(ModelError):
        later.replies()


def test_all_samples_of_a_prompt_lie_there_together(folder):
    """Each has a file of its own, and the order is that of the samples."""
    asked = prompt()
    asking = Asking(Mailbox(folder, LOOK), asked, (3, 4))
    for sample in (4, 3):
        appears(folder / f"{name(asked, sample)}.md")
    for sample in (4, 3):
        answer(folder, name(asked, sample), f"sample {sample}")
    assert [reply.text for reply in asking.replies()] == ["sample 3", "sample 4"]


def test_a_reply_that_is_still_being_written_is_waited_for(folder):
    """An empty file is none, and one that has changed since the last look is looked at again."""
    mailbox, asked = Mailbox(folder, 0.4), prompt()
    reply = folder / f"{name(asked)}.reply.md"
    asking = Asking(mailbox, asked)
    appears(folder / f"{name(asked)}.md")
    reply.write_text("")
    for part in range(20):
        time.sleep(0.04)
        assert not asking.is_over
        reply.write_text("part " * (part + 1))
    reply.write_text("the whole")
    assert asking.replies()[0].text == "the whole"


def test_a_prompt_can_be_skipped(folder):
    """That is a refusal, and put away like an answer."""
    asked = prompt()
    asking = Asking(Mailbox(folder, LOOK), asked)
    appears(folder / f"{name(asked)}.md")
    answer(folder, name(asked), " Skip\n")
    (reply,) = asking.replies()
    assert (reply.text, reply.finish) == ("", "refused")
    assert [path.name for path in folder.iterdir()] == [DONE]
    assert (
        Mailbox(folder, LOOK).complete(asked, samples=[0], deadline=0, cancelled=threading.Event())[0].finish
        == "refused"
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"caf\xe9", "no text in UTF-8"), (b"x" * (LONGEST_REPLY + 1), "has more than 4,194,304 bytes")],
)
def test_an_answer_that_cannot_be_used_is_a_call_that_failed(folder, data, message):
    """It says why, and others go on."""
    asked = prompt()
    folder.mkdir()
    (folder / f"{name(asked)}.reply.md").write_bytes(data)
    with pytest.raises(ModelError, match=message):
        Asking(Mailbox(folder, LOOK), asked).replies()
    assert [path.name for path in folder.iterdir()] == [DONE]


def test_a_reply_that_cannot_be_read_fails_its_call_alone(folder):
    """Such as a folder in its place; the error names it, and the mailbox is used as before."""
    asked, other = prompt(), prompt("Another one.")
    (folder / f"{name(asked)}.reply.md").mkdir(parents=True)
    (folder / f"{name(asked)}.reply.md" / "note").write_text("see here")
    answer(folder, name(other), "here")
    mailbox = Mailbox(folder, LOOK)
    with pytest.raises(
        ModelError, match=rf"{name(asked)}.reply.md cannot be read: Is a directory. Try: answer"
    ) as raised:
        Asking(mailbox, asked).replies()
    assert (type(raised.value), raised.value.seconds > 0) == (ModelError, True)
    assert Asking(mailbox, other).replies()[0].text == "here"


def test_a_prompt_that_was_removed_comes_back(folder):
    """So that no call waits for what nobody can see."""
    asked = prompt()
    asking = Asking(Mailbox(folder, LOOK), asked)
    appears(folder / f"{name(asked)}.md")
    (folder / f"{name(asked)}.md").unlink()
    appears(folder / f"{name(asked)}.md")
    answer(folder, name(asked), "here")
    assert asking.replies()[0].text == "here"


def test_two_engines_with_one_question_share_the_answer(folder):
    """Whoever finds it first puts it away, and the other finds it there."""
    asked = prompt()
    asking = [Asking(Mailbox(folder, LOOK), asked) for _ in range(2)]
    appears(folder / f"{name(asked)}.md")
    answer(folder, name(asked), "shared")
    assert [call.replies()[0].text for call in asking] == ["shared", "shared"]


def test_what_an_answer_thinks_aloud_is_parted_from_it(folder):
    """Somebody may paste what a model said."""
    asked = prompt()
    folder.mkdir()
    answer(folder, name(asked), "<think>so</think>\nx = 1")
    (reply,) = Asking(Mailbox(folder, LOOK), asked).replies()
    assert (reply.text, reply.thinking) == ("x = 1", "so")


def test_a_byte_order_mark_is_no_part_of_an_answer(folder):
    """Some editors write one."""
    asked = prompt()
    folder.mkdir()
    (folder / f"{name(asked)}.reply.md").write_bytes(b"\xef\xbb\xbfx = 1")
    assert Asking(Mailbox(folder, LOOK), asked).replies()[0].text == "x = 1"


def test_half_a_surrogate_in_a_prompt_is_written(folder):
    """A program may hold one."""
    asked = prompt("half \ud800")
    folder.mkdir()
    answer(folder, name(asked), "whole")
    assert Asking(Mailbox(folder, LOOK), asked).replies()[0].text == "whole"


def test_a_folder_that_cannot_be_used_is_one_clear_error(tmp_path):
    """At the check, and at a call."""
    (tmp_path / "file").write_text("")
    mailbox = Mailbox(tmp_path / "file")
    with pytest.raises(
        ModelGone, match=r"the mailbox '.*file' cannot be used: .*\. Try: name a folder that you may read"
    ):
        mailbox.check(0.0, threading.Event())
    with pytest.raises(ModelGone, match="cannot be used"):
        mailbox.complete(prompt(), samples=[0], deadline=0.0, cancelled=threading.Event())


def test_a_check_makes_the_folder_and_costs_nothing(folder):
    """Nothing else is left in it."""
    assert Mailbox(folder).check(0.0, threading.Event()) == Usage()
    assert [path.name for path in folder.iterdir()] == [DONE]
