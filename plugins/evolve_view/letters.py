"""Prompts that wait in the mailboxes of a campaign, and the page on which a person answers one.

A folder is one that the campaign's settings name, and a prompt is one that lies in it now: no word of a request becomes part of a path."""

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from evolve.campaign import Campaign
from evolve.models.mailbox import LONGEST_REPLY, MailboxSettings, answer_prompt, list_prompts, read_prompt
from evolve.types import ConfigError, ModelError, estimate_tokens
from evolve_view.requests import parse_number, render_page, root

_KIND = "mailbox"
_LONGEST_BODY = 3 * LONGEST_REPLY + 1_000
"""Bytes of a form: each of a reply may be written as three."""
_REFUSAL = "skip"


@dataclass(frozen=True, slots=True)
class MemberPrompt:
    """A prompt that waits in the mailbox of the campaign's model at place `member`, since a time in seconds since 1970."""

    member: int
    model: str
    name: str
    at: float


@dataclass(frozen=True, slots=True)
class LetterPart:
    """A message of a prompt, by whoever says it; the head that says how to answer has no role."""

    role: str
    text: str

    @property
    def tokens(self) -> int:
        """Tokens of the message, estimated."""
        return estimate_tokens(self.text)


def list_letters(campaign: Campaign) -> tuple[MemberPrompt, ...]:
    """Returns the prompts that wait in the mailboxes which a campaign's settings name; each folder is looked at once."""
    folders: dict[Path, int] = {}
    for place, member in enumerate(campaign.settings.models.members):
        if member.kind == _KIND:
            folders.setdefault(MailboxSettings(**member.settings).folder, place)
    members = campaign.settings.models.members
    return tuple(
        MemberPrompt(place, members[place].name, prompt.name, prompt.at)
        for folder, place in folders.items()
        for prompt in list_prompts(folder)
    )


def _find_folder(campaign: Campaign, member: int) -> tuple[str, Path]:
    """Returns the name and the folder of a mailbox; raises `ConfigError`."""
    members = campaign.settings.models.members
    if member >= len(members) or members[member].kind != _KIND:
        raise ConfigError(f"campaign {campaign.name!r} has no mailbox {member}. Try: go to the list of calls")
    return members[member].name, MailboxSettings(**members[member].settings).folder


def split_letter(text: str, name: str) -> tuple[LetterPart, ...]:
    """Returns the messages of a prompt in a mailbox, without the head that tells how to write the file of an answer."""
    _, *parts = re.split(rf"^==== {re.escape(name)}: (\w+) ====$", text, flags=re.MULTILINE)
    return tuple(LetterPart(role, said.strip("\n")) for role, said in zip(parts[::2], parts[1::2], strict=True))


def show_letter(request: Request) -> Response:
    """Answers with a prompt that waits, and a form for the reply."""
    return _render(request)


async def answer_letter(request: Request) -> Response:
    """Puts the reply into the mailbox, and goes to the list; what was written is not lost where it cannot be put there."""
    form = await _read_form(request)
    return await run_in_threadpool(_answer, request, form)


def _answer(request: Request, form: dict[str, str]) -> Response:
    # A browser sends the end of a line as two signs, whatever somebody typed.
    text = form.get("reply", "").replace("\r\n", "\n")
    name, prompt, member = _read_place(request)
    with request.app.state.campaigns.campaign(name) as campaign:
        _, folder = _find_folder(campaign, member)
    try:
        answer_prompt(folder, prompt, _REFUSAL if "refuse" in form else text)
    except ModelError as error:
        return _render(request, 409, told=str(error), draft=text)
    return RedirectResponse(f"{root(name)}/calls", 303)


def _read_place(request: Request) -> tuple[str, str, int]:
    values = request.path_params
    return values["name"], values["prompt"], parse_number(values["member"], "a mailbox")


def _render(request: Request, status: int = 200, told: str = "", draft: str = "") -> Response:
    name, prompt, member = _read_place(request)
    with request.app.state.campaigns.campaign(name) as campaign:
        model, folder = _find_folder(campaign, member)
        try:
            parts = split_letter(read_prompt(folder, prompt), prompt)
        except ModelError as error:
            parts, told, status = (), told or str(error), 409 if draft else 404
        most = campaign.settings.models.members[member].max_tokens
        return render_page(
            request,
            "letter.html",
            status,
            prompt=prompt,
            model=model,
            parts=parts,
            tokens=sum(part.tokens for part in parts),
            most=most,
            told=told,
            draft=draft,
            waiting=len(list_letters(campaign)),
        )


async def _read_form(request: Request) -> dict[str, str]:
    """Returns the fields of a form; raises `HTTPException` for one that is too long, before all of it is read."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST_BODY:
            raise HTTPException(413, f"a reply has at most {LONGEST_REPLY:,} bytes")
    fields = parse_qs(body.decode("latin-1"), keep_blank_values=True, errors="replace", max_num_fields=10)
    return {key: values[0] for key, values in fields.items()}


_ADDRESS = "/c/{name}/calls/waiting/{member}/{prompt}"
ROUTES = (
    Route(_ADDRESS, show_letter, methods=["GET"]),
    Route(_ADDRESS, answer_letter, methods=["POST"]),
)
