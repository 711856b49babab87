"""Prompts that are answered, dots that are opened, and changes side by side, in a real browser."""

import pytest

from tests.plugins.evolve_view.test_view_letters import PROMPT, put_prompt
from tests.written import Written

pytestmark = pytest.mark.browser


@pytest.fixture
def mail(server, tmp_path):
    """The mailbox of the campaign `by-hand`, in which a prompt waits."""
    folder = tmp_path / "mail"
    members = [{"name": "by hand", "kind": "mailbox", "settings": {"folder": str(folder)}}]
    written = Written(server.home, name="by-hand", models={"members": members})
    written.seed(5.0)
    written.campaign.close()
    put_prompt(folder, PROMPT)
    yield folder
    written.campaign.log.path.unlink()


def test_a_prompt_of_a_mailbox_is_answered_with_a_form(look, mail):
    """A real browser tells no origin with the form, and says by itself that it comes from the same server."""
    page = look()
    page.open("/c/by-hand/calls")
    page.click(f"a:has-text('{PROMPT}')")
    page.fill("#reply", "return 6\nand no more")
    with page.expect_navigation():
        page.click("button:has-text('answer') >> nth=0")
    assert page.url.endswith("/c/by-hand/calls")
    assert (mail / f"{PROMPT}.reply.md").read_text() == "return 6\nand no more"
    assert page.locator("text=waiting for an answer").count() == 0


@pytest.mark.parametrize("width", [1280, 400])
def test_a_dot_opens_its_program(look, width):
    page = look(width)
    page.open("/c/real")
    page.wait_for_selector("#dots .dots")
    page.locator("#dots").scroll_into_view_if_needed()
    hit = page.locator("#dots a .hit").last
    address = hit.evaluate("one => one.parentElement.getAttribute('href')")
    place = "one => { const at = one.getPointAtLength(0).matrixTransform(one.getScreenCTM()); return [at.x, at.y]; }"
    page.mouse.click(*hit.evaluate(place))
    page.until(lambda: page.url.endswith(address))


def test_what_is_chosen_of_the_dots_stands_in_the_address(look):
    page = look()
    page.open("/c/real")
    page.click("#dots .switch a:has-text('seconds')")
    page.until(lambda: "time=seconds" in page.url)
    page.open(page.url.removeprefix(page.server.address))
    page.wait_for_selector("#dots .dots")
    assert page.inner_text("#dots .switch a[aria-current] >> nth=0") == "seconds"


@pytest.mark.parametrize("width", [1280, 400])
def test_a_change_side_by_side_is_no_wider_than_the_window(look, width):
    page = look(width)
    page.open("/c/large/programs/best?against=1&diff=side")
    assert page.locator("table.sides").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
