"""Prompts of a mailbox, answered on a page."""

import re

import pytest

from evolve.models.mailbox import LONGEST_REPLY
from evolve_view import letters
from tests.plugins.evolve_view.conftest import ADDRESS
from tests.plugins.evolve_view.hostile import EVIL, text_of, wrong_in
from tests.written import Written

PROMPT = "0123456789abcdef-0"
OURS = {"origin": f"http://{ADDRESS}"}
PAGE = f"/c/number/calls/waiting/1/{PROMPT}"


def put_prompt(folder, name, text="Find the number."):
    folder.mkdir(exist_ok=True)
    head = f"# {name}\n\nAnswer in a new file.\n\n"
    said = f"==== {name}: system ====\n\nBe brief.\n\n==== {name}: user ====\n\n{text}\n"
    (folder / f"{name}.md").write_text(head + said, "utf-8")


@pytest.fixture
def mail(tmp_path):
    """A campaign whose second model is a mailbox in which one prompt waits."""
    folder = tmp_path / "mail"
    members = [
        {"name": "other", "kind": "cassette"},
        {"name": "by hand", "kind": "mailbox", "settings": {"folder": str(folder)}},
    ]
    written = Written(tmp_path, models={"members": members})
    written.seed(5.0)
    written.campaign.close()
    put_prompt(folder, PROMPT)
    return folder


@pytest.fixture
def client(browse, mail):
    return browse(mail.parent)


def test_prompts_that_wait_are_listed_and_lead_to_their_pages(client):
    page = client.get("/c/number/calls")
    assert "1 prompt waiting for an answer" in text_of(page.text)
    assert f'href="{PAGE}"' in page.text
    assert "1 prompt waiting for an answer" in text_of(client.get("/c/number").text)


def test_a_prompt_is_shown_by_its_messages_without_the_head_for_files(client):
    page = " ".join(text_of(client.get(PAGE).text).split())
    assert "system ~3 tokens Be brief." in page
    assert "user ~4 tokens Find the number." in page
    assert "Answer in a new file" not in page


def test_an_answer_becomes_the_reply_beside_the_prompt(client, mail):
    answer = client.post(PAGE, data={"reply": "return 6\r\nand é"}, headers=OURS)
    assert (answer.status_code, answer.headers["location"]) == (303, "/c/number/calls")
    assert (mail / f"{PROMPT}.reply.md").read_bytes() == "return 6\nand é".encode()
    assert sorted(path.name for path in mail.iterdir()) == [f"{PROMPT}.md", f"{PROMPT}.reply.md"]
    assert "waiting for an answer" not in client.get("/c/number/calls").text


def test_to_refuse_is_the_answer_skip(client, mail):
    assert client.post(PAGE, data={"reply": "half of", "refuse": "1"}, headers=OURS).status_code == 303
    assert (mail / f"{PROMPT}.reply.md").read_text() == "skip"


@pytest.mark.parametrize("reply", ["", " \r\n "])
def test_an_empty_answer_is_not_sent(client, mail, reply):
    answer = client.post(PAGE, data={"reply": reply}, headers=OURS)
    assert answer.status_code == 409
    assert "the reply is empty" in text_of(answer.text)
    assert not (mail / f"{PROMPT}.reply.md").exists()


def test_who_answers_second_replaces_nothing_and_keeps_what_he_wrote(client, mail):
    (mail / f"{PROMPT}.reply.md").write_text("the first")
    answer = client.post(PAGE, data={"reply": "the second"}, headers=OURS)
    assert answer.status_code == 409
    assert "it was answered" in text_of(answer.text)
    assert "the second" in answer.text
    assert (mail / f"{PROMPT}.reply.md").read_text() == "the first"


@pytest.mark.parametrize("prompt", ["..%2f..%2fhome", "%2e%2e", "done", "fedcba9876543210-0", "secret", ".hidden-0"])
def test_only_a_prompt_that_lies_in_the_mailbox_can_be_read_or_answered(client, mail, prompt):
    for name in ("secret", ".hidden-0"):
        (mail / f"{name}.md").write_text("not for you")
    address = f"/c/number/calls/waiting/1/{prompt}"
    before = sorted([*mail.rglob("*"), *mail.parent.glob("*")])
    shown, answered = client.get(address), client.post(address, data={"reply": "x"}, headers=OURS)
    assert (shown.status_code, answered.status_code // 100) == (404, 4)
    assert "not for you" not in shown.text + answered.text
    assert sorted([*mail.rglob("*"), *mail.parent.glob("*")]) == before


@pytest.mark.parametrize("member", ["0", "2", "99", "x", "-1"])
def test_only_a_mailbox_that_the_settings_name_is_looked_into(client, member):
    address = f"/c/number/calls/waiting/{member}/{PROMPT}"
    assert client.get(address).status_code == 404
    assert client.post(address, data={"reply": "x"}, headers=OURS).status_code == 404


def test_a_link_in_a_mailbox_leads_nowhere(client, mail):
    (mail.parent / "secret.txt").write_text("not for you")
    (mail / "aa-0.md").symlink_to(mail.parent / "secret.txt")
    assert "not for you" not in client.get("/c/number/calls/waiting/1/aa-0").text


def test_a_form_that_is_too_long_is_not_read_to_its_end(client, mail, monkeypatch):
    monkeypatch.setattr(letters, "_LONGEST_BODY", 100)
    assert client.post(PAGE, data={"reply": "x" * 200}, headers=OURS).status_code == 413
    assert not (mail / f"{PROMPT}.reply.md").exists()
    assert letters._LONGEST_BODY < LONGEST_REPLY


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": f"https://{ADDRESS}"},
        {"origin": "null", "sec-fetch-site": "same-site"},
        {"origin": f"http://{ADDRESS}", "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "none"},
    ],
)
def test_a_page_of_another_server_answers_nothing(client, mail, headers):
    assert client.post(PAGE, data={"reply": "evil"}, headers=headers).status_code == 403
    assert not (mail / f"{PROMPT}.reply.md").exists()


def test_a_browser_that_hides_where_a_form_was_may_answer_when_it_says_same_origin(client, mail):
    """A page that sends no referrer has the origin null in its forms."""
    headers = {"origin": "null", "sec-fetch-site": "same-origin"}
    assert client.post(PAGE, data={"reply": "6"}, headers=headers).status_code == 303
    assert (mail / f"{PROMPT}.reply.md").read_text() == "6"


def test_without_the_token_nothing_is_answered(browse, mail):
    answer = browse(mail.parent, known=False).post(PAGE, data={"reply": "6"}, headers=OURS)
    assert answer.status_code == 403
    assert not (mail / f"{PROMPT}.reply.md").exists()


def test_what_a_prompt_says_is_text(client, mail):
    put_prompt(mail, PROMPT, EVIL)
    assert wrong_in(client.get(PAGE).text) == []
    answer = client.post(PAGE, data={"reply": EVIL, "x": EVIL}, headers=OURS)
    (mail / f"{PROMPT}.reply.md").unlink()
    assert answer.status_code == 303
    put_prompt(mail, PROMPT, EVIL)
    (mail / f"{PROMPT}.reply.md").touch()
    refused = client.post(PAGE, data={"reply": f"</textarea>{EVIL}"}, headers=OURS)
    assert (refused.status_code, wrong_in(refused.text)) == (409, [])
    assert len(re.findall("</textarea>", refused.text)) == 1
