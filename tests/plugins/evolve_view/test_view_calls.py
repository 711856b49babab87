"""The pages of a campaign's calls of models."""

import re

import pytest

from evolve.types import Call, Outcome, Part, Replied
from evolve_view import calls
from tests.plugins.evolve_view.hostile import text_of, wrong_in
from tests.written import Written


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Steps 2, 3 and 4 called a model: one became better, one was refused, one failed; step 5 has no record yet, and was retried."""
    home = tmp_path_factory.mktemp("calls")
    written = Written(home)
    written.seed(5.0)
    with written.campaign.log.transaction():
        put = written.campaign.log.put_text
        prompt = (Part("system", "rules", put("Be brief.")), Part("user", "task", put("Find the number. " * 20)))
        reply = put("return 6")
    written.called(Call("small", prompt=prompt, reply=reply, prompt_tokens=1100, completion_tokens=7, seconds=2.0))
    written.proposal(6.0, operator="diff", model="small")
    written.called(Call("small", prompt=prompt, reply=reply))
    written.failure(Outcome.SCREENED, "duplicate of number/2")
    written.called(Call("small", error="the server is gone"), operator="rewrite")
    written.failure(Outcome.SCREENED, "no reply")
    written.called(Call("large", purpose="repair", retries={"429": 2}, attempts=3), operator="rewrite")
    written.campaign.close()
    return home


def words(answer):
    assert answer.status_code == 200
    return " ".join(text_of(answer.text).split())


def rows(page):
    return [" ".join(text_of(row).split()) for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL)[1:]]


def links(page):
    return re.findall(r'id="call-\d+" href="([^"]+)"', page)


def test_the_newest_call_comes_first_with_what_came_of_it(browse, home):
    newest, failed, refused, better = rows(browse(home).get("/c/number/calls").text)
    assert re.fullmatch(r"5 \S+ \S+ rewrite repair large ~0 ~0 – – 2 its step is not finished", newest)
    assert "failed: the server is gone" in failed
    assert refused.endswith("3 refused : duplicate of number/2")
    assert "diff propose small ~1,100 ~7" in better
    assert "2 6 new" in better


@pytest.mark.parametrize(
    ("query", "steps"),
    [
        ("operator=diff", ["3", "2"]),
        ("purpose=repair", ["5"]),
        ("ended=failed", ["4"]),
        ("ended=retried", ["5"]),
        ("operator=diff&ended=failed", []),
    ],
)
def test_calls_are_chosen_by_operator_purpose_and_how_they_ended(browse, home, query, steps):
    found = rows(browse(home).get(f"/c/number/calls?{query}").text)
    assert [row.split()[0] for row in found] == steps


def test_a_long_list_has_pages_that_keep_what_was_chosen(browse, home, monkeypatch):
    monkeypatch.setattr(calls, "LINES", 1)
    page = browse(home).get("/c/number/calls?operator=diff").text
    assert [row.split()[0] for row in rows(page)] == ["3"]
    assert 'href="/c/number/calls?operator=diff&amp;start=1" rel="next"' in page
    assert [row.split()[0] for row in rows(browse(home).get("/c/number/calls?operator=diff&start=1").text)] == ["2"]


def test_an_end_that_there_is_not_is_no_page(browse, home):
    assert browse(home).get("/c/number/calls?ended=well").status_code == 404


def test_a_call_shows_its_prompt_by_sections_with_their_tokens_its_reply_and_its_change(browse, home):
    client = browse(home)
    page = client.get(links(client.get("/c/number/calls").text)[-1])
    told = words(page)
    assert "2 sections, ~88 tokens" in told
    assert "system rules ~3 tokens" in told
    assert "user task ~85 tokens" in told
    assert "return 6" in told
    assert "What came of it 2 6 new its parent 1 5 (+1)" in told
    assert "Change of 2 against its parent 1 seed.py +1 −1" in told


def test_a_call_leads_to_the_one_before_and_the_one_after(browse, home):
    client = browse(home)
    newest, failed, refused, _ = links(client.get("/c/number/calls").text)
    page = client.get(failed).text
    assert f'href="{refused}" data-step="["' in page
    assert f'href="{newest}" data-step="]"' in page


def test_a_refused_reply_says_why_in_full(browse, home):
    client = browse(home)
    page = client.get(links(client.get("/c/number/calls").text)[2])
    assert "refused and never evaluated" in words(page)
    assert "duplicate of number/2" in words(page)


@pytest.mark.parametrize("number", ["1", "999999", "0", "x", "-1"])
def test_an_event_that_is_no_call_has_no_page(browse, home, number):
    assert browse(home).get(f"/c/number/calls/{number}").status_code == 404


def test_a_call_that_was_given_up_says_so(browse, tmp_path):
    written = Written(tmp_path)
    written.seed(5.0)
    with written.campaign.log.transaction():
        written.campaign.write(Replied(9, -1, Call("small", error="the run ended")))
    written.campaign.close()
    client = browse(tmp_path)
    assert "given up when the run ended" in words(client.get("/c/number/calls"))
    assert client.get("/c/number/calls?ended=failed").text.count('id="call-') == 0


def test_a_campaign_without_calls_says_so(browse, looked_at):
    assert "No model was called yet" in words(browse(looked_at).get("/c/number/calls"))


def test_what_models_and_persons_wrote_is_text(browse, hostile):
    client = browse(hostile)
    page = client.get("/c/hostile/calls").text
    assert len(links(page)) > 1
    for address in ("/c/hostile/calls", *links(page)):
        assert wrong_in(client.get(address).text) == []
