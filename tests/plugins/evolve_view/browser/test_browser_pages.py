"""Every page in a real browser: nothing on the console, no other host, no sideways scrolling, light and dark, alive while a campaign runs."""

import pytest

pytestmark = pytest.mark.browser

PAGES = (
    "/",
    "/c/{name}",
    "/c/{name}/archive",
    "/c/{name}/operators",
    "/c/{name}/calls",
    "/c/{name}/lessons",
    "/c/{name}/settings",
)
WIDE, NARROW = 1280, 400


# The large one at the end: its log is being opened meanwhile.
@pytest.mark.parametrize("name", ["real", "hostile", "large"])
@pytest.mark.parametrize(("width", "dark"), [(WIDE, False), (NARROW, True)])
def test_every_page_is_quiet_and_no_wider_than_the_window(look, name, width, dark):
    page = look(width, dark=dark)
    for path in PAGES:
        page.open(path.format(name=name))
        assert page.locator("h1").count() == 1, path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_a_dark_window_has_dark_paper(look):
    found = {}
    for dark in (False, True):
        page = look(dark=dark)
        page.open("/c/real")
        found[dark] = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert found == {False: "rgb(255, 255, 255)", True: "rgb(16, 18, 21)"}


@pytest.mark.parametrize("name", ["real", "large"])
def test_the_curve_is_drawn_against_what_is_chosen(look, name):
    page = look()
    page.open(f"/c/{name}")
    page.click(".switch a:has-text('seconds')")
    page.until(lambda: "x=seconds" in page.url)
    assert "against seconds" in (page.get_attribute("svg.chart", "aria-label") or "")


def test_a_campaign_that_runs_is_followed_without_a_reload(look, running):
    page = look()

    def is_listed() -> bool:
        page.open("/")
        return bool(page.locator(f"a[data-line]:has-text('{running}')").count())

    page.until(is_listed)
    page.open(f"/c/{running}")
    page.evaluate("window.kept = true")
    tile = page.locator(".tile:has-text('programs evaluated') .big")
    before = tile.inner_text()
    page.until(lambda: tile.inner_text() != before)
    page.wait_for_selector("svg.chart")
    assert page.evaluate("window.kept") is True
    assert int(tile.inner_text().replace(",", "")) > int(before.replace(",", ""))


def test_keys_lead_through_lists_pages_and_the_heat_map(look):
    page = look()
    page.open("/")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.hasAttribute('data-line')")
    page.open("/c/real")
    page.keyboard.press("?")
    assert page.locator("#keys").get_attribute("open") is not None
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    with page.expect_navigation():
        page.keyboard.press("a")
    assert page.url.endswith("/c/real/archive")
    cells = page.locator("svg [data-x]")
    cells.first.focus()
    first = page.evaluate("document.activeElement.id")
    for key in ("ArrowRight", "ArrowUp", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.id") != first
    assert page.evaluate("document.activeElement.id").startswith("cell-")


def test_an_axis_that_is_chosen_is_shown_at_once(look):
    page = look()
    page.open("/c/large/archive")
    with page.expect_navigation():
        page.select_option("#choose-x", "branches")
    assert "x=branches" in page.url
    assert page.input_value("#choose-x") == "branches"
