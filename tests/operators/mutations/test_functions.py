"""Edits of whole functions."""

from mutation_fakes import results

from evolve.operators.mutations import functions

TEXT = '@cached\ndef f(x, n=1):  # mine\n    """Why."""\n    return x\n'


def test_a_function_gets_the_body_of_its_namesake_with_what_that_calls() -> None:
    """Head and decorators stay."""
    donor = "def g(x):\n    return h(x)\n\n\ndef h(x):\n    return -x\n\n\ndef f(x, n=1):\n  # theirs\n  y = g(x)\n  return y\n"
    brought = "def h(x):\n    return -x\n\n\ndef g(x):\n    return h(x)\n\n\n"
    head = "@cached\ndef f(x, n=1):  # mine\n"
    assert results(functions.another_body, TEXT, donor) == {f"{brought}{head}    y = g(x)\n    return y\n"}


def test_other_parameters_another_name_or_an_equal_body_give_nothing() -> None:
    """Nor does a body that needs what cannot come along."""
    donors = [
        "def f(x, n=2):\n    return -x\n",
        "def g(x, n=1):\n    return -x\n",
        'def f(x, n=1):\n    """Why."""\n    return x\n',
        "SIZE = 3\ndef f(x, n=1):\n    return SIZE\n",
    ]
    assert [results(functions.another_body, TEXT, donor) for donor in donors] == [set()] * 4
