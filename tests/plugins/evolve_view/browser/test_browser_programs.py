"""Pages of programs, lineage and failures in a real browser."""

import re

import pytest

from tests.written import Written

pytestmark = pytest.mark.browser

PAGES = (
    "/c/{name}/programs",
    "/c/{name}/programs?sort=id&start=50",
    "/c/{name}/programs/1",
    "/c/{name}/programs/best",
    "/c/{name}/programs/40?blame=1",
    "/c/{name}/lineage",
    "/c/{name}/failures?screened=1",
)
WIDE, NARROW = 1280, 400


@pytest.mark.parametrize("name", ["real", "large"])
@pytest.mark.parametrize(("width", "dark"), [(WIDE, False), (NARROW, True)])
def test_every_page_of_programs_is_quiet_and_no_wider_than_the_window(look, name, width, dark):
    page = look(width, dark=dark)
    for path in PAGES:
        page.open(path.format(name=name))
        assert page.locator("h1").count() == 1, path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_the_table_is_filtered_and_sorted_without_a_reload_and_the_address_says_so(look):
    page = look()
    page.open("/c/large/programs")
    page.evaluate("window.kept = true")
    page.select_option("select[name=outcome]", "ok")
    page.wait_for_url("**/programs?outcome=ok")
    page.click("th a:has-text('record')")
    page.wait_for_url("**/programs?outcome=ok&sort=id")
    first = int(page.locator("a[data-line]").first.inner_text())
    page.click("a[rel=next] >> nth=0")
    page.wait_for_url("**/programs?outcome=ok&sort=id&start=50")
    page.until(lambda: int(page.locator("a[data-line]").first.inner_text()) < first)
    assert page.evaluate("window.kept") is True
    address = page.url
    other = look()
    other.open(address.removeprefix(page.server.address))
    assert other.locator("a[data-line]").first.inner_text() == page.locator("a[data-line]").first.inner_text()
    assert other.input_value("select[name=outcome]") == "ok"


def test_the_search_in_code_is_reached_by_a_key(look):
    page = look()
    page.open("/c/real")
    page.keyboard.press("/")
    page.keyboard.type("centres")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert "text=centres" in page.url
    assert page.locator("a[data-line]").count() > 1


def test_the_picture_of_a_result_comes_after_its_page(look):
    page = look()
    page.open("/c/real/programs/1")
    page.wait_for_selector(".picture img")
    page.until(lambda: page.locator(".picture img").evaluate("image => image.naturalWidth") > 0)


def test_arrows_lead_along_the_lineage(look):
    page = look()
    page.open("/c/real/programs/1")
    with page.expect_navigation():
        page.keyboard.press("ArrowRight")
    child = page.url
    assert child != f"{page.server.address}/c/real/programs/1"
    with page.expect_navigation():
        page.keyboard.press("ArrowLeft")
    assert page.url == f"{page.server.address}/c/real/programs/1"
    page.focus(".code >> nth=0")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(300)
    assert page.url == f"{page.server.address}/c/real/programs/1"


def test_pages_of_a_campaign_that_runs_grow_and_what_a_person_does_there_stays(look, running):
    page = look()

    def has_children() -> bool:
        page.open(f"/c/{running}/programs/1")
        return bool(page.locator("#children tr").count())

    page.until(has_children)
    assert all("404" in said for said in page.wrong)
    page.wrong.clear()
    page.evaluate("window.kept = true")
    page.locator("details > summary").first.click()
    opened = page.locator("details[open]").count()
    page.fill("input[name=against]", "12")
    page.mouse.wheel(0, 200)
    page.wait_for_timeout(300)
    scrolled = page.evaluate("scrollY")
    said = page.inner_text("#children p >> nth=0")
    page.until(lambda: page.inner_text("#children p >> nth=0") != said)
    assert (page.input_value("input[name=against]"), page.locator("details[open]").count()) == ("12", opened)
    assert page.evaluate("[scrollY, window.kept]") == [scrolled, True]
    page.locator("#children h2").select_text()
    said = page.inner_text("#children p >> nth=0")
    page.wait_for_timeout(7_000)
    assert page.inner_text("#children p >> nth=0") == said
    assert page.evaluate("String(getSelection()).trim()") == "Children"


def test_the_tree_of_a_campaign_that_runs_grows_where_it_was_zoomed_to(look, running):
    page = look()

    def has_nodes() -> bool:
        page.open(f"/c/{running}/lineage")
        return page.locator(".tree svg").count() == 1

    page.until(has_nodes)
    assert all("404" in said for said in page.wrong)
    page.wrong.clear()
    page.click("[data-zoom='+']")
    box = page.locator(".tree svg").get_attribute("viewBox")
    said = page.inner_text("#counted")
    page.until(lambda: page.inner_text("#counted") != said)
    assert page.locator(".tree svg").get_attribute("viewBox") == box
    assert page.locator("#drawn .dot").count() == int(page.inner_text("#counted").split()[0].replace(",", ""))


def test_a_tree_that_comes_after_the_page_can_be_zoomed(look, workspace):
    written = Written(workspace)
    try:
        page = look()
        page.open("/c/number/lineage")
        assert page.locator(".tree svg").count() == 0
        written.seed(5.0)
        written.proposal(6.0)
        page.until(lambda: page.locator(".tree svg").count() == 1)
        box = page.locator(".tree svg").get_attribute("viewBox")
        page.click("[data-zoom='+']")
        assert page.locator(".tree svg").get_attribute("viewBox") != box
    finally:
        written.campaign.close()


def test_a_line_of_the_code_has_an_address_that_is_marked(look):
    page = look()
    page.open("/c/real/programs/1#L4")
    colours = "id => getComputedStyle(document.querySelector(`#${id} .text`)).backgroundColor"
    assert page.evaluate(colours, "L4") != page.evaluate(colours, "L5")


def test_the_tree_is_moved_and_zoomed_and_a_click_opens_a_program(look):
    page = look()
    page.open("/c/large/lineage")
    box = "document.querySelector('.tree svg').getAttribute('viewBox')"
    whole = page.evaluate(box)
    page.click("[data-zoom='+']")
    near = page.evaluate(box)
    assert float(near.split()[2]) < float(whole.split()[2])
    svg = page.locator(".tree svg").bounding_box()
    x, y = svg["x"] + svg["width"] / 2, svg["y"] + svg["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 80, y - 40, steps=4)
    page.mouse.up()
    assert page.evaluate(box) not in (near, whole)
    assert page.url.endswith("/c/large/lineage")
    page.focus(".tree svg")
    page.keyboard.press("0")
    assert page.evaluate(box).split() == whole.split()
    best = page.locator(".dot.best")
    spot = best.evaluate(
        "dot => { const at = dot.getScreenCTM(); const point = dot.getPointAtLength(0).matrixTransform(at); return [point.x, point.y]; }"
    )
    with page.expect_navigation():
        page.mouse.click(*spot)
    assert re.search(r"/c/large/programs/\d+$", page.url)
