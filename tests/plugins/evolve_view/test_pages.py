"""Every page, opened: what must be true of all of them."""

import pytest

from tests.plugins.evolve_view.hostile import text_of, wrong_in

PAGES = (
    "/",
    "/compare",
    "/compare?campaign={name}",
    "/c/{name}",
    "/c/{name}/archive",
    "/c/{name}/archive?island=0",
    "/c/{name}/operators",
    "/c/{name}/operators?shows=judged",
    "/c/{name}?x=money",
    "/compare?campaign={name}&x=seconds",
    "/c/{name}/lessons",
    "/c/{name}/settings",
)


@pytest.mark.parametrize("name", ["number", "number-2"])
@pytest.mark.parametrize("path", PAGES)
def test_every_page_opens(browse, looked_at, path, name):
    answer = browse(looked_at).get(path.format(name=name))
    assert answer.status_code == 200, text_of(answer.text)


@pytest.mark.parametrize("editing", [False, True])
@pytest.mark.parametrize("path", PAGES)
def test_what_programs_and_persons_wrote_is_text_on_every_page(browse, hostile, path, editing):
    answer = browse(hostile, editing=editing).get(path.format(name="hostile"))
    assert answer.status_code == 200, text_of(answer.text)
    assert wrong_in(answer.text) == []
