// The other side of P3: what the Discord connector's `transform` does with a message, as Node.js would do it in the thread that
// received the frame. It parses once, keeps ids as strings and checks them, replaces what no database takes, and says what the
// host then stores. What it answers must equal what the component answers; the benchmark compares the two before it measures.
//
// stdin: first a JSON array of { payload, context, receivedAt }, then one number of messages a line.
// stdout: first the events of that array, then for every number the microseconds of processor time that it took.

import { createInterface } from "node:readline";

const WRITTEN_TYPES = new Set([0, 19, 20, 23]);
const THREAD_TYPES = new Set([10, 11, 12]);
const DIGITS = /^(?:0|[1-9][0-9]*)$/;

function id(value) {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string" || value.length > 20 || !DIGITS.test(value)) throw new Error("an id that is not digits");
  return value;
}

function text(value, about) {
  if (value === undefined || value === null) return undefined;
  if (value.isWellFormed() && !value.includes("\0")) return value;
  about.sanitized = true;
  return value.toWellFormed().replaceAll("\0", "\ufffd");
}

function subject(message, about) {
  const author = message.author;
  if (!author) return undefined;
  const username = text(author.username, about);
  const name = text(message.member?.nick, about) ?? text(author.global_name, about) ?? username;
  let sender = author.system ? "system" : author.bot ? "bot" : "person";
  let isSelf = false;
  if (message.webhook_id !== undefined) {
    sender = "webhook";
    isSelf = message.application_id !== undefined && message.application_id === about.app;
  } else if (message.type !== undefined && !WRITTEN_TYPES.has(message.type)) {
    sender = "system";
  }
  return {
    ids: [id(author.id)],
    sender,
    is_self: isSelf,
    email_verified: false,
    display_name: name,
    may_create: sender === "person",
    properties: JSON.stringify({ username }),
  };
}

function location(message) {
  const guild = id(message.guild_id);
  const channel = id(message.channel_id);
  if (guild === undefined) return { peer: channel };
  const thread = THREAD_TYPES.has(message.channel_type) ? channel : undefined;
  return { account: guild, room: channel, thread };
}

const isEmpty = (list) => list === undefined || list === null || list.length === 0;

function isWithheld(message, about) {
  const empty =
    message.content === "" && isEmpty(message.attachments) && isEmpty(message.embeds) && isEmpty(message.components) &&
    isEmpty(message.sticker_items) && isEmpty(message.message_snapshots) && !message.poll;
  return (
    empty && message.guild_id !== undefined && (message.type === undefined || message.type === 0 || message.type === 19) &&
    !message.mentions?.some((user) => user.id === about.self) && message.author?.id !== about.self
  );
}

function properties(message, about) {
  const withheld = isWithheld(message, about);
  const attachments = (message.attachments ?? []).map((file) => ({
    id: id(file.id),
    filename: text(file.filename, about),
    content_type: text(file.content_type, about),
    size: file.size,
    url: text(file.url, about),
  }));
  const users = (message.mentions ?? []).map((user) => id(user.id));
  const content = text(message.content, about);
  return JSON.stringify({
    text: withheld ? undefined : content,
    content_withheld: withheld || undefined,
    attachments,
    mentions: {
      users,
      roles: (message.mention_roles ?? []).map(id),
      everyone: message.mention_everyone ?? false,
      bot_mentioned: users.includes(about.self),
    },
    message_type: message.type || undefined,
    sanitized: about.sanitized || undefined,
  });
}

function transform({ payload, context, receivedAt }) {
  const message = JSON.parse(payload.toString("utf8")).d;
  const about = JSON.parse(context);
  if (message.webhook_id === undefined && message.author?.id === about.self) return undefined;
  const at = Date.parse(message.timestamp);
  const reference = message.type === 19 ? message.message_reference : undefined;
  return {
    name: "message.created",
    occurred_at: Number.isNaN(at) ? receivedAt : at,
    key: `${id(message.channel_id)}:${id(message.id)}`,
    recurrence: "once",
    refers_to: reference?.message_id && `${id(reference.channel_id ?? message.channel_id)}:${id(reference.message_id)}`,
    subject: subject(message, about),
    location: location(message),
    properties: properties(message, about),
  };
}

let received;
// Kept where the compiler can't see that nobody reads it.
globalThis.last = undefined;

for await (const line of createInterface({ input: process.stdin })) {
  if (received === undefined) {
    // A frame arrives as bytes.
    received = JSON.parse(line).map((item) => ({ ...item, payload: Buffer.from(item.payload, "utf8") }));
    process.stdout.write(JSON.stringify(received.map(transform)) + "\n");
    continue;
  }
  const count = Number(line);
  const begun = process.cpuUsage();
  for (let n = 0; n < count; n += 1) globalThis.last = transform(received[n % received.length]);
  const { user, system } = process.cpuUsage(begun);
  process.stdout.write(`${user + system}\n`);
}
