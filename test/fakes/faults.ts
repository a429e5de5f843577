import { setTimeout as delay } from "node:timers/promises";
import { reply as makeReply, type Reply, type Wait } from "./reply.ts";
import type { LoggedRequest } from "./request-log.ts";

/**
 * Fault of one answer: the good reply in, the bad one out. Tests may write
 * their own; `all` combines them.
 */
export type Fault = (reply: Reply, request: LoggedRequest) => Reply;

/** The good answer, to be put between faults in a list. */
export const normal: Fault = (reply) => reply;

/** Every fault, each applied to what the one before made. */
export function all(...faults: readonly Fault[]): Fault {
  return (reply, request) =>
    faults.reduce((bad, fault) => fault(bad, request), reply);
}

/** The fault for paths that match, the good answer for others. */
export function onlyFor(path: RegExp, fault: Fault): Fault {
  return (reply, request) =>
    path.test(request.path) ? fault(reply, request) : reply;
}

/** A status with a JSON error body as registries send it, or another body. */
export function status(
  code: number,
  {
    headers = {},
    body = JSON.stringify({ errors: [`Status ${code}`] }),
  }: {
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  } = {},
): Fault {
  return () => makeReply(code, "application/json", body, headers);
}

/** A page for people with status 200, as captive portals send it. */
export const html: Fault = () =>
  makeReply(200, "text/html; charset=utf-8", "<html><p>Please sign in</html>");

/** A document that is cut, with the right status and media type. */
export const notJson: Fault = (reply) => ({
  ...reply,
  body: Buffer.from('{"versions": ['),
});

/** The right body under another Content-Type. */
export function mediaType(type: string): Fault {
  return header("Content-Type", type);
}

export function header(name: string, value: string): Fault {
  return (reply) => ({
    ...reply,
    headers: { ...reply.headers, [name]: value },
  });
}

export function redirect(url: string, code = 302): Fault {
  return () => makeReply(code, "text/plain", "moved", { Location: url });
}

/** Other bytes, honestly announced. */
export function body(bytes: Uint8Array | string): Fault {
  return (reply) => ({ ...reply, body: Buffer.from(bytes) });
}

/** The JSON document that `edit` makes of the good one. */
export function json(
  edit: (document: Readonly<Record<string, unknown>>) => unknown,
): Fault {
  return (reply) => {
    const text = Buffer.from(reply.body).toString();
    const edited = edit(JSON.parse(text) as Record<string, unknown>);
    return { ...reply, body: Buffer.from(JSON.stringify(edited)) };
  };
}

/** The byte at `offset` (negative: from the end) is another one. */
export function alteredByte(offset = 0): Fault {
  return (reply) => {
    const bytes = Buffer.from(reply.body);
    const at = offset < 0 ? bytes.length + offset : offset;
    bytes[at] = (bytes[at] ?? 0) ^ 0xff;
    return { ...reply, body: bytes };
  };
}

/** `count` bytes more than Content-Length announces. */
export function excess(count: number): Fault {
  return all(
    (reply) => ({ ...reply, announced: reply.body.length }),
    grown(count),
  );
}

/** `count` bytes more than were published, honestly announced. */
export function grown(count: number): Fault {
  return (reply) => ({
    ...reply,
    body: Buffer.concat([reply.body, Buffer.alloc(count, "x")]),
  });
}

/** The connection ends without an answer. */
export const close: Fault = (reply) => ({ ...reply, cut: "before-headers" });

/** Headers never come, until the client goes or the registry stops. */
export const hang: Fault = waiting(
  "headers",
  () => new Promise(() => undefined),
);

/** The connection ends after `bytes` of the body that Content-Length announces. */
export function cut(bytes: number): Fault {
  return (reply) => ({ ...reply, cut: bytes });
}

/** The connection ends after `bytes` of a chunked body, without a last chunk. */
export function cutChunked(bytes: number): Fault {
  return (reply) => ({ ...reply, framing: "chunked", cut: bytes });
}

/** A body of unknown length ends after `bytes`: nothing tells that it was cut. */
export function cutUnannounced(bytes: number): Fault {
  return (reply) => ({ ...reply, framing: "close", cut: bytes });
}

/** The whole body without a Content-Length. */
export const chunked: Fault = (reply) => ({ ...reply, framing: "chunked" });

export function slow(bytesPerSecond: number): Fault {
  return (reply) => ({ ...reply, bytesPerSecond });
}

/** Headers come `milliseconds` later. */
export function delayed(milliseconds: number): Fault {
  return waiting("headers", (signal) =>
    delay(milliseconds, undefined, { signal }),
  );
}

/** What happens at one place of the answer, or of its body. */
export function waiting(at: Wait["at"], until: Wait["until"]): Fault {
  return (reply) => ({ ...reply, waits: [...reply.waits, { at, until }] });
}
