import json

import pytest

from evolve.models.answer import Nonsense
from evolve.models.embedding import Embedding, embedding
from evolve.types import Usage


def test_a_vector_is_read_with_its_usage():
    body = {"data": [{"embedding": [1, -0.5]}], "usage": {"prompt_tokens": 3, "total_tokens": 3}}
    assert embedding(json.dumps(body).encode()) == Embedding((1.0, -0.5), Usage(3, exact=True))


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"data": []},
        {"data": [{"embedding": []}]},
        {"data": [{"embedding": [0, 0]}]},
        {"data": [{"embedding": ["1"]}]},
        {"data": [{"embedding": [True]}]},
        {"data": [{"embedding": [float("nan")]}]},
        {"data": [{"embedding": "AAAA"}]},
        {"data": "x"},
        {"error": {"message": "no"}},
    ],
)
def test_what_is_no_vector_is_nonsense(body: object):
    with pytest.raises(Nonsense):
        embedding(json.dumps(body).encode())
