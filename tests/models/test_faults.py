import pytest

from evolve.models.faults import RULES, SYSTEM, Refusal, Treatment, diagnose, find_blamed_field, parse_retry_after


@pytest.mark.parametrize(
    ("refusal", "treatment"),
    [
        (Refusal(401, "Incorrect API key"), Treatment.GONE),
        (Refusal(403, "Country not supported"), Treatment.GONE),
        (Refusal(404, "model 'llama9' not found"), Treatment.GONE),
        (Refusal(404, "<html>"), Treatment.GONE),
        (Refusal(301, ""), Treatment.GONE),
        (Refusal(429, "Rate limit reached", "rate_limit_exceeded"), Treatment.RATE_LIMITED),
        (
            Refusal(429, "You exceeded your current quota, please retry in 12 s", "RESOURCE_EXHAUSTED"),
            Treatment.RATE_LIMITED,
        ),
        (Refusal(429, "You exceeded your current quota", "insufficient_quota"), Treatment.GONE),
        (Refusal(403, "Insufficient balance"), Treatment.GONE),
        (Refusal(400, "maximum context length is 8192 tokens", "context_length_exceeded"), Treatment.FAILED),
        (Refusal(400, "'max_tokens' is too large: 9. This model's maximum context length is 4"), Treatment.FAILED),
        (
            Refusal(400, "max_tokens is too large: 32768. This model supports at most 16384 completion tokens"),
            Treatment.FAILED,
        ),
        (Refusal(413, "EndpointRequest Entity Too Large"), Treatment.FAILED),
        (Refusal(400, "The response was filtered", "content_filter"), Treatment.FAILED),
        (Refusal(400, "messages: expected an array"), Treatment.FAILED),
        (Refusal(418, "I am a teapot"), Treatment.FAILED),
        (Refusal(501, "this server does not support embeddings"), Treatment.FAILED),
        (Refusal(408, ""), Treatment.DOWN),
        (Refusal(500, "CUDA error"), Treatment.DOWN),
        (Refusal(503, "Loading model"), Treatment.DOWN),
        (Refusal(529, "Overloaded"), Treatment.DOWN),
    ],
)
def test_each_refusal_has_its_treatment(refusal: Refusal, treatment: Treatment):
    assert diagnose(refusal).treatment is treatment


def test_every_status_means_something():
    assert [status for status in range(300, 600) if str(status) not in str(diagnose(Refusal(status, "words")))] == []


def test_a_servers_words_are_one_short_line_that_no_terminal_obeys():
    said = str(diagnose(Refusal(500, "a\x1b[2J\n\tb " + "c" * 1000)))
    assert said == f"it failed (status 500: a [2J b {'c' * 292}). Try: see what its log says, or try later"


def test_what_ends_a_run_names_a_remedy():
    assert [rule for rule in RULES if rule.treatment is Treatment.GONE and not rule.remedy] == []


@pytest.mark.parametrize(
    ("parameter", "message", "field"),
    [
        ("seed", "unsupported", "seed"),
        (
            "",
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            "max_tokens",
        ),
        ("", "Unsupported fields in the request: {'n', 'seed'}", "n"),
        ("", '[{"type": "extra_forbidden", "loc": ["body", "n"]}]', "n"),
        ("", "n must be 1", "n"),
        ("", "`n` > 1 is not supported", "n"),
        ("", "best_of and n=2 cannot be", "n"),
        ("", "unknown field: n", "n"),
        ("", "it isn't possible, and n\u2026 never was", ""),
        ("", "Unknown parameter: reasoning_effort", "reasoning_effort"),
        ("", "temperature_last is unknown", ""),
        ("", "System role not supported", SYSTEM),
        ("", "Conversation roles must alternate user/assistant", SYSTEM),
        ("top_k", "top_k is unknown", ""),
        ("", "", ""),
    ],
)
def test_a_field_is_find_blamed_field_where_an_error_names_it(parameter: str, message: str, field: str):
    sent = ("n", "temperature", "seed", "reasoning_effort", "max_tokens", SYSTEM)
    assert find_blamed_field(parameter, message, sent) == field
    fault = diagnose(Refusal(422, message or "no", "", parameter), sent)
    assert (fault.field, fault.treatment is Treatment.FIELD) == (field, bool(field))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "31536000"}, 31_536_000.0),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
    ],
)
def test_how_long_a_server_wants_to_be_left_alone(headers: dict[str, str], seconds: float | None):
    assert parse_retry_after(headers) == seconds
