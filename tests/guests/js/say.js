// A connector in JavaScript with one action, `say`: it posts a text to a platform that takes JSON over HTTP.
//
// What is exported under an interface's name is what the host calls; what it supplies is imported by the interface's full name.
// Records are objects with camelCase keys, variants `{ tag, val }`, enums strings, a missing option is null. A result is
// returned, or its error thrown; an import that fails throws an `Error` whose `payload` is the contract's variant. Anything
// else that is thrown here ends the call as a trap.

import * as connection from "jackfield:connector/connection@0.1.0";
import * as contacts from "jackfield:connector/contacts@0.1.0";
import * as http from "jackfield:connector/http@0.1.0";
import * as log from "jackfield:connector/log@0.1.0";
import * as state from "jackfield:connector/state@0.1.0";

const PLATFORM = "https://echo.test";
// The platform's token. Only its name is known here: the host fills it in, for the origins that the operator allows.
const TOKEN = "canary";
// Bytes of durable state. It holds one number; every connection has its own.
const STATE_BYTES = 65_536;
// Milliseconds. The request ends well before the action does, so that its fate can still be told.
const ACTION_TIMEOUT = 10_000;
const REQUEST_TIMEOUT = 4_000;

const CONFIG = {
  type: "object",
  additionalProperties: false,
  properties: { name: { type: "string", description: "Who speaks." } },
};

const INPUT = {
  type: "object",
  additionalProperties: false,
  required: ["text"],
  properties: {
    text: { type: "string", minLength: 1 },
    url: { type: "string", description: "Where to, if not to the platform's usual address." },
    to: { type: "string", minLength: 1, description: "For whom: an email, an external id or a platform id." },
  },
};

const OUTPUT = {
  type: "object",
  required: ["status", "body"],
  properties: { status: { type: "integer" }, body: { type: ["string", "null"] } },
};

export const connector = {
  describe() {
    return {
      id: "say-js",
      version: "0.1.0",
      title: "Say (JavaScript)",
      summary: "Posts texts.",
      transports: [],
      configSchema: JSON.stringify(CONFIG),
      asks: [
        { tag: "http", val: PLATFORM },
        { tag: "secret", val: { name: TOKEN, help: "The platform's token.", required: true, to: [PLATFORM] } },
        { tag: "state", val: STATE_BYTES },
        { tag: "contacts" },
      ],
      exclusive: { secrets: [], config: [] },
      startBudget: null,
      writesCheckpoint: 0,
      readsCheckpoints: [],
      annotations: "{}",
    };
  },
};

export const action = {
  describe() {
    return [
      {
        name: "say",
        summary: "Posts a text, and says what the platform answered.",
        inputSchema: JSON.stringify(INPUT),
        outputSchema: JSON.stringify(OUTPUT),
        semantics: {
          effect: "send",
          scope: "external-delivery",
          destructive: "irreversible-send",
          idempotency: "not-idempotent",
          retry: "retry-before-provider-call",
        },
        timeout: ACTION_TIMEOUT,
        implements: [],
        requiredScopes: [],
        annotations: "{}",
      },
    ];
  },

  run(call) {
    try {
      // The host calls with the names of `describe`, and with arguments that fit their schema.
      return say(JSON.parse(call.args));
    } catch (error) {
      throw error instanceof Error && error.payload ? actionFault(error.payload) : error;
    }
  },
};

function say({ text, url = `${PLATFORM}/say`, to }) {
  const { name } = JSON.parse(connection.config());
  const message = { text, from: name, to: to && contactId(to), number: nextNumber() };
  const response = http.send({
    method: "post",
    url,
    headers: [
      ["authorization", `Bearer {{secret:${TOKEN}}}`],
      ["content-type", "application/json"],
    ],
    body: { tag: "text", val: JSON.stringify(message) },
    // In the header alone: a `{{secret:…}}` in somebody's text stays text.
    secrets: [{ secret: TOKEN, place: "header" }],
    timeout: REQUEST_TIMEOUT,
  });
  log.write("info", "said", [
    ["number", String(message.number)],
    ["status", String(response.status)],
  ]);
  return outcome(response);
}

function contactId(reference) {
  const resolution = contacts.resolve({ tag: "text", val: reference });
  switch (resolution.tag) {
    case "found":
      return resolution.val.id;
    case "none":
      throw rejected("`to`: there is no such contact");
    case "ambiguous":
      throw rejected(`\`to\`: it may be any of the contacts ${resolution.val.join(", ")}`);
  }
}

// How many were said, this one included. Written when `run` returns, and not at all when it throws.
function nextNumber() {
  const stored = state.get("count");
  const number = Number(stored?.val ?? 0) + 1;
  state.set("count", { tag: "text", val: String(number) });
  return number;
}

// What the answer means. Whether it happened is the first thing that a caller has to know.
function outcome({ status, headers, body }) {
  if (status >= 200 && status < 300) {
    const text = body.tag === "text" ? body.val : null;
    return { output: JSON.stringify({ status, body: text }), providerIds: ids(text), effects: [] };
  }
  if (status === 401) throw { tag: "unauthorized", val: "the platform does not accept the token" };
  if (status === 429) throw retry(retryAfter(headers));
  if (status >= 500) throw { tag: "unknown", val: `the platform answered ${status}` };
  throw rejected(`the platform answered ${status}`);
}

// What the platform calls the new message. An id is a string: a number would have lost digits by now. Half a surrogate pair can
// stand in JSON, and not in a string of the contract.
function ids(text) {
  try {
    const { id } = JSON.parse(text);
    return typeof id === "string" && id.isWellFormed() ? [id] : [];
  } catch {
    return [];
  }
}

// Milliseconds; null where the platform does not say it in seconds.
function retryAfter(headers) {
  const [, seconds] = headers.find(([name]) => name === "retry-after") ?? [];
  return /^[0-9]{1,6}$/.test(seconds ?? "") ? Number(seconds) * 1000 : null;
}

// What the host did not do, or may have done, in the words of an action.
function actionFault(fault) {
  switch (fault.tag) {
    case "unavailable":
      return retry(fault.val);
    case "exhausted":
    case "cancelled":
      return retry(null);
    case "unknown":
      return { tag: "unknown", val: fault.val };
    default: // `invalid` and `denied`
      return rejected(fault.val);
  }
}

function rejected(why) {
  return { tag: "rejected", val: why };
}

function retry(after) {
  return { tag: "retry", val: { after, bucket: null } };
}
