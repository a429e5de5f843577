import { once } from "node:events";
import {
  createServer,
  IncomingMessage,
  ServerResponse,
  type Server,
} from "node:http";
import { Socket, type AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ClientAddresses } from "../../../src/server/http/client-address.ts";
import { renderDocument } from "../../../src/server/http/document-response.ts";
import { MetadataCaps } from "../../../src/server/access/metadata-caps.ts";
import type {
  FindDocument,
  RequestContext,
  SentDocument,
} from "../../../src/server/http/request-context.ts";
import { beginRequest } from "../../../src/server/requests/begin-request.ts";
import { RequestLog } from "../../../src/server/requests/request-log.ts";
import {
  WarmDocuments,
  type WarmDocumentParts,
} from "../../../src/server/warm/documents.ts";
import { repliesOf } from "../../../src/server/warm/replies.ts";
import { makeLog } from "../../../src/telemetry/logger.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import {
  fetchFrom,
  type Answer,
  type GetOptions,
} from "../../running-mirror.ts";

const path = "/providers/registry.terraform.io/acme/demo/index.json";
const document = renderDocument({ versions: { "1.0.0": {} } });
const hit = { value: {}, outcome: "hit", age: 0, originTime: 0 } as const;
const toApplication = 299;

const metrics = new Metrics(new Date());
const authentication = { isOn: false };
let generation = { rules: {}, changes: 0 };
let now = 0;
let server: Server;
let warm: WarmDocuments;

function start(parts: Partial<WarmDocumentParts> = {}): void {
  warm = new WarmDocuments({
    authentication,
    clients: new ClientAddresses([]),
    metadataCaps: new MetadataCaps(0),
    requestLog: new RequestLog(
      makeLog({ level: "fatal", format: "json" }),
      metrics,
    ),
    longestUrl: 2_048,
    generation: () => generation,
    freshFor: ({ age }) => 60_000 - age,
    now: () => now,
    ...parts,
  });
}

beforeEach(async () => {
  generation = { rules: {}, changes: 0 };
  authentication.isOn = false;
  now = 0;
  start();
  server = createServer({ requireHostHeader: false }, (req, res) => {
    if (!warm.answer(req, res)) res.writeHead(toApplication).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterEach(() => server.close());

function ask(url = path, options: GetOptions = {}): Promise<Answer> {
  const { port } = server.address() as AddressInfo;
  const base = new URL(`http://127.0.0.1:${port}/`);
  return fetchFrom(base, undefined, options, url);
}

/** What the application does when it sends a document; `meanwhile` happens before it is done. */
async function keep(
  answer: SentDocument["answer"] = hit,
  url = path,
  meanwhile: () => unknown = () => undefined,
  sent = document,
): Promise<void> {
  const req = new IncomingMessage(new Socket());
  req.url = url;
  const state = beginRequest(req, { address: "a", counted: "a" });
  const res = new ServerResponse(req);
  const ctx = { req, res, state } as unknown as RequestContext;
  const find: FindDocument = () => {
    meanwhile();
    return Promise.resolve({ document: sent, answer });
  };
  await warm.answering(find)(ctx, () => Promise.resolve());
}

const isWarm = async (url = path) => (await ask(url)).status === 200;

describe("a warm document", () => {
  it("is answered with all that the application sends with it", async () => {
    await keep();
    const { status, headers, body } = await ask();
    expect([status, body.toString()]).toEqual([200, document.body]);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(body.length),
      etag: document.tag,
      "cache-control": "no-cache",
      "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    });
  });

  it("is described by HEAD and confirmed to who holds it", async () => {
    await keep();
    const head = await ask(path, { method: "HEAD" });
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(Number(head.headers["content-length"])).toBe(document.body.length);
    const held = await ask(path, {
      headers: { "if-none-match": document.tag },
    });
    expect([held.status, held.headers.etag]).toEqual([304, document.tag]);
    const other = await ask(path, { headers: { "if-none-match": '"x"' } });
    expect(other.status).toBe(200);
  });

  it("leaves no replies in memory once it is made anew", async () => {
    await keep();
    const before = warm.find(path);
    if (before === undefined) throw new Error("it is not warm");
    const replies = repliesOf(before, 200);
    expect(repliesOf(before, 200)).toBe(replies);
    await keep();
    expect(repliesOf(before, 200)).not.toBe(replies);
  });

  it("is counted as a hit", async () => {
    await keep();
    await ask();
    const { text } = await metrics.render();
    expect(text).toMatch(
      /provender_requests_total\{outcome="hit",status="200"\} [1-9]/,
    );
  });

  it.each<[string, () => void]>([
    ["the rules are others", () => (generation = { ...generation, rules: {} })],
    [
      "something stored changed",
      () => (generation = { ...generation, changes: 1 }),
    ],
    ["a quarter of a second has passed", () => (now = 250)],
    ["clients need tokens", () => (authentication.isOn = true)],
  ])(
    "is left to the application when %s, then and later",
    async (_, change) => {
      await keep();
      expect(await isWarm()).toBe(true);
      const before = { generation, now, isOn: authentication.isOn };
      change();
      expect(await isWarm()).toBe(false);
      ({ generation, now } = before);
      authentication.isOn = before.isOn;
      expect(await isWarm()).toBe(false);
    },
  );

  it.each<[string, Promise<void> | (() => Promise<void>)]>([
    ["it is stale", () => keep({ ...hit, outcome: "stale" })],
    ["it is no longer fresh", () => keep({ ...hit, age: 60_000 })],
    ["it was asked with a query", () => keep(hit, `${path}?x`)],
    [
      "the rules changed while it was made",
      () => keep(hit, path, () => (generation = { rules: {}, changes: 0 })),
    ],
    [
      "something stored changed while it was made",
      () => keep(hit, path, () => (generation = { ...generation, changes: 1 })),
    ],
    ["it took long to make", () => keep(hit, path, () => (now = 251))],
    [
      "clients need tokens",
      () => keep(hit, path, () => (authentication.isOn = true)),
    ],
  ])("is never kept when %s", async (_, keepIt) => {
    await (keepIt as () => Promise<void>)();
    authentication.isOn = false;
    expect(await isWarm()).toBe(false);
    expect(await isWarm(`${path}?x`)).toBe(false);
  });

  it("is kept no longer than it is fresh", async () => {
    await keep({ ...hit, age: 59_990 });
    now = 9;
    expect(await isWarm()).toBe(true);
    now = 10;
    expect(await isWarm()).toBe(false);
  });

  it.each<[string, string, GetOptions]>([
    ["another method", path, { method: "POST" }],
    ["a query", `${path}?a=1`, {}],
    ["another path", path.replace("index", "1.0.0"), {}],
    ["other letters", path.replace("acme", "Acme"), {}],
    ["escapes", path.replace("acme", "%61cme"), {}],
    ["an expectation", path, { headers: { expect: "a" } }],
    ["a body", path, { headers: { "content-length": "1" } }],
  ])("is no answer to a request with %s", async (_, url, options) => {
    await keep();
    const answer = await ask(url, options).catch(() => undefined);
    expect(answer?.status ?? toApplication).not.toBe(200);
  });

  it("is no answer to a client that has nothing left to ask for", async () => {
    const metadataCaps = new MetadataCaps(1);
    start({ metadataCaps });
    await keep();
    expect(await isWarm()).toBe(true);
    expect(await isWarm()).toBe(true);
    const one = { address: "127.0.0.1", counted: "127.0.0.1" };
    (metadataCaps.admit(one) as { left: number }).left = 0;
    expect(await isWarm()).toBe(false);
  });

  it("gives way to others, so that all together stay within their bytes", async () => {
    const large = renderDocument({ text: "x".repeat(10 * 1024 * 1024) });
    for (let at = 0; at < 4; at++)
      await keep(hit, `${path}${at}`, undefined, large);
    const kept = await Promise.all(
      [0, 1, 2, 3].map((at) => isWarm(`${path}${at}`)),
    );
    expect(kept).toEqual([false, true, true, true]);
    const enormous = renderDocument({ text: "x".repeat(40 * 1024 * 1024) });
    await keep(hit, `${path}4`, undefined, enormous);
    expect(await isWarm(`${path}4`)).toBe(false);
  });
});
