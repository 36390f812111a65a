"""A connector in Python with one action, `say`: it posts a text to a platform that takes JSON over HTTP.

The host calls the classes, whose names are those of the exported interfaces; what it supplies is in `wit_world.imports`. Cases
of variants are classes (`Blob_Text`), enums are enums, a missing option is None. A result is returned, or its error raised as
`Err`, by an import and by an export alike. Anything else that is raised here ends the call as a trap.

The toolchain makes `wit_world` from the contract; for an editor, `componentize-py … bindings FOLDER` writes it down.
"""

import json
import re

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports import action, connector
from wit_world.imports import connection, contacts, http, log, state, types

PLATFORM = "https://echo.test"
# The platform's token. Only its name is known here: the host fills it in, for the origins that the operator allows.
TOKEN = "canary"
# Bytes of durable state. It holds one number; every connection has its own.
STATE_BYTES = 65_536
# Milliseconds. The request ends well before the action does, so that its fate can still be told.
ACTION_TIMEOUT = 10_000
REQUEST_TIMEOUT = 4_000

CONFIG = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"name": {"type": "string", "description": "Who speaks."}},
}

INPUT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text"],
    "properties": {
        "text": {"type": "string", "minLength": 1},
        "url": {"type": "string", "description": "Where to, if not to the platform's usual address."},
        "to": {"type": "string", "minLength": 1, "description": "For whom: an email, an external id or a platform id."},
    },
}

OUTPUT = {
    "type": "object",
    "required": ["status", "body"],
    "properties": {"status": {"type": "integer"}, "body": {"type": ["string", "null"]}},
}


class Connector(exports.Connector):
    def describe(self) -> connector.Descriptor:
        token = connector.SecretAsk(name=TOKEN, help="The platform's token.", required=True, to=[PLATFORM])
        return connector.Descriptor(
            id="say-py",
            version="0.1.0",
            title="Say (Python)",
            summary="Posts texts.",
            transports=[],
            config_schema=json.dumps(CONFIG),
            asks=[
                connector.Ask_Http(PLATFORM),
                connector.Ask_Secret(token),
                connector.Ask_State(STATE_BYTES),
                connector.Ask_Contacts(),
            ],
            exclusive=connector.Exclusive(secrets=[], config=[]),
            start_budget=None,
            writes_checkpoint=0,
            reads_checkpoints=[],
            annotations="{}",
        )


class Action(exports.Action):
    def describe(self) -> list[action.ActionSpec]:
        return [
            action.ActionSpec(
                name="say",
                summary="Posts a text, and says what the platform answered.",
                input_schema=json.dumps(INPUT),
                output_schema=json.dumps(OUTPUT),
                semantics=action.Semantics(
                    effect=action.EffectClass.SEND,
                    scope=action.MutationScope.EXTERNAL_DELIVERY,
                    destructive=action.DestructiveClass.IRREVERSIBLE_SEND,
                    idempotency=action.IdempotencyKind.NOT_IDEMPOTENT,
                    retry=action.RetrySafety.RETRY_BEFORE_PROVIDER_CALL,
                ),
                timeout=ACTION_TIMEOUT,
                implements=[],
                required_scopes=[],
                annotations="{}",
            )
        ]

    def run(self, call: action.Call) -> action.Outcome:
        try:
            # The host calls with the names of `describe`, and with arguments that fit their schema.
            return say(**json.loads(call.args))
        except Err as error:
            raise Err(action_fault(error.value)) from None


def say(text: str, url: str = f"{PLATFORM}/say", to: str | None = None) -> action.Outcome:
    message = {"text": text}
    config = json.loads(connection.config())
    if "name" in config:
        message["from"] = config["name"]
    if to is not None:
        message["to"] = contact_id(to)
    message["number"] = next_number()
    response = http.send(
        types.HttpRequest(
            method=types.HttpMethod.POST,
            url=url,
            headers=[
                ("authorization", f"Bearer {{{{secret:{TOKEN}}}}}"),
                ("content-type", "application/json"),
            ],
            body=types.Blob_Text(json.dumps(message)),
            # In the header alone: a `{{secret:…}}` in somebody's text stays text.
            secrets=[types.SecretUse(secret=TOKEN, place=types.Place.HEADER)],
            timeout=REQUEST_TIMEOUT,
        )
    )
    log.write(
        log.Level.INFO,
        "said",
        [("number", str(message["number"])), ("status", str(response.status))],
    )
    return outcome(response)


def contact_id(reference: str) -> str:
    match contacts.resolve(contacts.Reference_Text(reference)):
        case contacts.Resolution_Found(contact):
            return contact.id
        case contacts.Resolution_Ambiguous(candidates):
            raise Err(rejected(f"`to`: it may be any of the contacts {', '.join(candidates)}"))
        case _:
            raise Err(rejected("`to`: there is no such contact"))


def next_number() -> int:
    """How many were said, this one included. Written when `run` returns, and not at all when it raises."""
    stored = state.get("count")
    number = int(stored.value if stored else 0) + 1
    state.set("count", types.Blob_Text(str(number)))
    return number


def outcome(response: types.HttpResponse) -> action.Outcome:
    """What the answer means. Whether it happened is the first thing that a caller has to know."""
    status = response.status
    if 200 <= status < 300:
        text = response.body.value if isinstance(response.body, types.Blob_Text) else None
        output = json.dumps({"status": status, "body": text})
        return action.Outcome(output=output, provider_ids=ids(text), effects=[])
    if status == 401:
        raise Err(action.ActionFault_Unauthorized("the platform does not accept the token"))
    if status == 429:
        raise Err(retry(retry_after(response.headers)))
    if status >= 500:
        raise Err(action.ActionFault_Unknown(f"the platform answered {status}"))
    raise Err(rejected(f"the platform answered {status}"))


def ids(text: str | None) -> list[str]:
    """What the platform calls the new message. An id is a string: as a number it loses digits in most languages."""
    try:
        answer = json.loads(text or "")
    except ValueError:
        return []
    match answer:
        # Half a surrogate pair can stand in JSON, and not in a string of the contract.
        case {"id": str(identifier)} if not re.search(r"[\ud800-\udfff]", identifier):
            return [identifier]
        case _:
            return []


def retry_after(headers: list[tuple[str, str]]) -> int | None:
    """Milliseconds; None where the platform does not say it in seconds."""
    seconds = dict(headers).get("retry-after", "")
    return int(seconds) * 1000 if re.fullmatch(r"[0-9]{1,6}", seconds) else None


def action_fault(fault: types.Fault | action.ActionFault) -> action.ActionFault:
    """What the host did not do, or may have done, in the words of an action."""
    match fault:
        case types.Fault_Unavailable(after):
            return retry(after)
        case types.Fault_Exhausted() | types.Fault_Cancelled():
            return retry(None)
        case types.Fault_Unknown(why):
            return action.ActionFault_Unknown(why)
        case types.Fault_Invalid(why) | types.Fault_Denied(why):
            return rejected(why)
        case _:
            return fault


def rejected(why: str) -> action.ActionFault:
    return action.ActionFault_Rejected(why)


def retry(after: int | None) -> action.ActionFault:
    return action.ActionFault_Retry(action.Pause(after=after, bucket=None))
