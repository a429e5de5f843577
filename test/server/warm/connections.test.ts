import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { renderDocument } from "../../../src/server/http/document-response.ts";
import { effort } from "../../effort.ts";
import { readToEnd } from "../../scenes/raw-connection.ts";
import {
  ask,
  askOn,
  constant,
  converse,
  document,
  other,
  path,
  startWarmFront,
  type WarmFront,
} from "../../scenes/warm-front.ts";

const here = { address: "127.0.0.1", counted: "127.0.0.1" };
const held = ask.replace("Host", `If-None-Match: ${document.tag}\r\nHost`);
const last = other.replace("Host", "Connection: close\r\nHost");
/** Requests that a connection may send among those that are known. */
const requests = [
  ...[ask, ask, ask, held, other],
  ask.replace("GET", "HEAD"),
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${ask.length}\r\n\r\n${ask}`,
  ask.replace("Host", "Content-Length: 0\r\nHost"),
  ask.replace("Host", "Transfer-Encoding: chunked\r\nHost") + "0\r\n\r\n",
  ask.replace("Host", "Connection: close\r\nHost"),
  ask.replace("Host: a", "Host:   a  "),
  ask.replace("Host: a", "Host: a\r\n b"),
  ask.replace("Host: a\r\n", ""),
  ask.replace("Host", "Host: b\r\nHost"),
  ask.replace("Host", `X-Long: ${"a".repeat(2_048)}\r\nHost`),
  ask.replace("1.1", "1.0"),
  ask.replaceAll("\r\n", "\n"),
  `\r\n${ask}`,
  "GET GET GET\r\n\r\n",
];

let front: WarmFront;

describe.each([
  ["over TLS", true],
  ["without TLS", false],
])("a connection that asks for warm documents, %s", (_, isSecure) => {
  let socket: Socket;

  beforeEach(async () => {
    front = await startWarmFront(isSecure);
    await front.keep();
    socket = await front.open();
    socket.on("error", () => undefined);
  });

  afterEach(async () => {
    socket.destroy();
    await front.listener.close(0);
  });

  it("gets the bytes that the HTTP server sends, without it", async () => {
    const answers = await askOn(socket, ask, held, ask);
    expect(front.read).toEqual([]);
    const [, ...served] = await askOn(
      await front.open(),
      ...[other, ask, held, ask],
    );
    expect(front.read).toEqual(["/other", path, path, path]);
    expect(answers.map(constant)).toEqual(served.map(constant));
    expect(answers.map((one) => one.slice(9, 12))).toEqual([
      "200",
      "304",
      "200",
    ]);
  });

  it("has a line and a count for each request, as others have", async () => {
    const [text = ""] = await askOn(socket, ask);
    const [, served = ""] = await askOn(await front.open(), other, ask);
    const [ours, theirs] = front.lines.filter(
      ({ outcome }) => outcome === "hit",
    );
    const id = (one: string) => /X-Request-Id: (\S+)/.exec(one)?.[1];
    expect(ours).toMatchObject({ requestId: id(text), bytes: text.length });
    expect(theirs).toMatchObject({ requestId: id(served) });
    const { requestId, time, ms, ...told } = ours ?? {};
    expect([requestId, time, ms]).not.toContain(undefined);
    expect(theirs).toMatchObject(told);
    expect(told).toMatchObject({ status: 200, complete: true, method: "GET" });
  });

  it("is answered as it would be by the HTTP server alone, whatever it sends", async () => {
    const alone = await startWarmFront(isSecure, { isAlone: true });
    await alone.keep();
    const pick = seeded(7);
    for (let round = 0; round < 150 * effort; round++) {
      const pieces = [...randomPieces(pick), last];
      const talk = async () => {
        const theirs = await converse(await alone.open(), pieces);
        const ours = await converse(await front.open(), pieces);
        return [constant(ours), constant(theirs)] as const;
      };
      let [ours, theirs] = await talk();
      // What is sent after the last request may cost a client the last answers (RFC 9112, 9.6).
      for (let again = 0; ours !== theirs && again < 3; again++)
        [ours, theirs] = await talk();
      expect([pieces, ours]).toEqual([pieces, theirs]);
    }
    expect(front.lines.filter((line) => "unexpected" in line)).toEqual([]);
    expect(front.read.length).toBeLessThan(alone.read.length);
    await alone.listener.close(0);
  });

  it("does not take the body of a request for another one", async () => {
    const post = `POST /other HTTP/1.1\r\nHost: a\r\nContent-Length: ${ask.length}\r\n\r\n`;
    await askOn(socket, ask);
    const text = await converse(socket, [post, ask, last]);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual([
      "HTTP/1.1 299",
      "HTTP/1.1 299",
    ]);
  });

  it("waits while a document is made anew, once for all", async () => {
    await askOn(socket, ask);
    front.now = 250;
    const sockets = await Promise.all(Array.from({ length: 9 }, front.open));
    const answers = await Promise.all(
      [socket, ...sockets].map((one) => askOn(one, ask)),
    );
    expect(new Set(answers.flat().map(constant)).size).toBe(1);
    expect([front.made, front.read]).toEqual([2, []]);
    for (const one of sockets) one.destroy();
  });

  it.each<[string, () => void]>([
    [
      "cannot be made anew",
      () => (front.meanwhile = () => Promise.reject(new Error("refused"))),
    ],
    [
      "is no longer open to everybody",
      () => (front.authentication.isOn = true),
    ],
    [
      "is more than the client may ask for",
      () => ((front.metadataCaps.admit(here) as { left: number }).left = 0),
    ],
  ])("is left to the HTTP server when the document %s", async (_, change) => {
    await askOn(socket, ask);
    front.now = 250;
    change();
    const [text] = await askOn(socket, ask);
    expect([text?.slice(0, 12), front.read]).toEqual(["HTTP/1.1 299", [path]]);
  });

  it("tells whom a document was fetched for from those who found it", async () => {
    front.outcome = "fetched";
    front.now = 250;
    for (let n = 0; n < 3; n++) await askOn(socket, ask);
    while (front.lines.length < 3) await once(front.log, "line");
    const outcomes = front.lines.map(({ outcome }) => outcome);
    expect(outcomes).toEqual(["fetched", "hit", "hit"]);
  });

  it("tells those as hits for whom it failed, and who found it made by another one", async () => {
    front.now = 250;
    front.meanwhile = async () => {
      front.meanwhile = () => undefined;
      await front.keep();
      throw new Error("refused");
    };
    await askOn(socket, ask);
    expect(front.lines).toMatchObject([{ status: 200, outcome: "hit" }]);
  });

  it("leaves it to the application to charge what fails", async () => {
    front.meanwhile = () => Promise.reject(new Error("refused"));
    front.now = 250;
    await askOn(socket, ask);
    const { left } = front.metadataCaps.admit(here);
    expect([left, front.read]).toEqual([60, [path]]);
  });

  it("learns a few requests, and leaves a client that writes each one otherwise", async () => {
    const unlike = (n: number) => ask.replace("Host", `X-Trace: ${n}\r\nHost`);
    const known = [1, 1, 2, 3, 4, 1].map(unlike);
    await askOn(socket, ...known);
    expect(front.read).toEqual([]);
    await askOn(socket, unlike(5), ask);
    expect(front.read).toEqual([path, path]);
  });

  it("ends with the listener at once, and after the answer that it waits for", async () => {
    const waiting = await front.open();
    await askOn(waiting, ask);
    await askOn(socket, ask);
    front.now = 250;
    const gate = Promise.withResolvers<undefined>();
    await new Promise<void>((asked) => {
      front.meanwhile = () => {
        asked();
        return gate.promise;
      };
      waiting.write(ask);
    });
    const closed = front.listener.close(10_000);
    await readToEnd(socket.resume());
    gate.resolve(undefined);
    expect(await readToEnd(waiting)).toMatch(/^HTTP\/1\.1 200 /);
    await closed;
  });
});

it.each([
  ["sends nothing", [], 300],
  ["sends a part of a request", [ask.slice(0, 30)], 300],
])("a connection that %s is cut in time", async (_, pieces, clientHeaders) => {
  front = await startWarmFront(true, { clientHeaders });
  await front.keep();
  const text = await converse(await front.open(), pieces);
  expect(text).toMatch(/^$|^HTTP\/1\.1 408 /);
  await front.listener.close(0);
});

it("a connection is cut when it takes nothing of its answers", async () => {
  const front = await startWarmFront(true);
  const socket = await front.open();
  socket.on("error", () => undefined);
  front.document = renderDocument({ versions: "x".repeat(100_000) });
  await front.keep();
  socket.pause();
  for (let n = 0; n < 200; n++) {
    socket.write(ask);
    await new Promise(setImmediate);
  }
  while (front.lines.at(-1)?.complete !== false) await once(front.log, "line");
  await readToEnd(socket.resume());
  await front.listener.close(0);
});

it("a connection is not cut while its first answer is made, however long that takes", async () => {
  const clientHeaders = 100;
  const front = await startWarmFront(true, { clientHeaders });
  await front.keep();
  front.now = 250;
  front.meanwhile = () => delay(3 * clientHeaders);
  const socket = await front.open();
  const [text] = await askOn(socket, ask);
  expect([text?.slice(0, 12), front.read]).toEqual(["HTTP/1.1 200", []]);
  socket.destroy();
  await front.listener.close(0);
});

/** A few requests, cut and joined anywhere. */
function randomPieces(pick: (below: number) => number): string[] {
  const pieces: string[] = [];
  for (let left = 1 + pick(5); left > 0; left--) {
    const request = requests[pick(requests.length)] ?? ask;
    const at = pick(3) === 0 ? pick(request.length) : request.length;
    const joined = pick(6) === 0 ? (pieces.pop() ?? "") : "";
    pieces.push(joined + request.slice(0, at), request.slice(at));
  }
  return pieces.filter((piece) => piece !== "");
}

/** The same numbers each time (a linear congruential generator). */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * below);
  };
}
