import { once } from "node:events";
import { IncomingMessage, ServerResponse } from "node:http";
import { connect, Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { Writable } from "node:stream";
import { pino } from "pino";
import { expect } from "vitest";
import { ClientAddresses } from "../../src/server/http/client-address.ts";
import { ConnectionCaps } from "../../src/server/http/connection-caps.ts";
import { renderDocument } from "../../src/server/http/document-response.ts";
import { Listener } from "../../src/server/http/listener.ts";
import {
  noteAnswer,
  type FindDocument,
  type RenderedDocument,
  type RequestContext,
} from "../../src/server/http/request-context.ts";
import { MetadataCaps } from "../../src/server/access/metadata-caps.ts";
import { beginRequest } from "../../src/server/requests/begin-request.ts";
import { RequestLog } from "../../src/server/requests/request-log.ts";
import { WarmConnections } from "../../src/server/warm/connections.ts";
import { WarmDocuments } from "../../src/server/warm/documents.ts";
import { KnownRequests } from "../../src/server/warm/known-requests.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";
import { RepeatedLines } from "../../src/telemetry/repeated-lines.ts";
import { createAuthority } from "../fakes/authority.ts";
import { readToEnd } from "./raw-connection.ts";

export const path = "/providers/registry.terraform.io/acme/demo/index.json";
export const document = renderDocument({
  versions: { "1.0.0": {}, "2.0.0-ä": {} },
});
export const ask = `GET ${path} HTTP/1.1\r\nHost: a\r\nUser-Agent: Terraform/1.11.0\r\n\r\n`;
/** Whatever is not warm. */
export const other = ask.replace(path, "/other");
const limits = {
  requestHeaders: 16_384,
  clientHeaders: 5_000,
  rate: 1_000,
  rateWindow: 400,
};

/** One listener with warm documents in front of it. */
export interface WarmFront {
  readonly open: () => Promise<Socket>;
  /** Resolves when the document is kept. */
  readonly keep: () => Promise<void>;
  readonly metadataCaps: MetadataCaps;
  readonly authentication: { isOn: boolean };
  readonly listener: Listener;
  /** Of the log, which emits `line` with each one. */
  readonly lines: Record<string, unknown>[];
  readonly log: Writable;
  /** URLs that Node's HTTP server read. */
  readonly read: string[];
  /** Milliseconds on the clock of what is warm. */
  now: number;
  /** How often the document was made. */
  made: number;
  document: RenderedDocument;
  /** How the mirror comes by it. */
  outcome: "hit" | "fetched";
  /** Happens while it is made. */
  meanwhile: () => Promise<unknown> | undefined;
}

const answer = { value: {}, outcome: "hit", age: 0, originTime: 0 } as const;
const authority = await createAuthority();
const tls = await authority.issue(["127.0.0.1"]);
const ca = authority.caPem;

export async function startWarmFront(
  isSecure: boolean,
  {
    isAlone = false,
    ...more
  }: Partial<typeof limits & { isAlone: boolean }> = {},
): Promise<WarmFront> {
  const clients = new ClientAddresses([]);
  const authentication = { isOn: false };
  const metadataCaps = new MetadataCaps(60);
  const lines: Record<string, unknown>[] = [];
  const log = new Writable({
    write: (line: Buffer, _, done) => {
      lines.push(JSON.parse(line.toString()) as Record<string, unknown>);
      log.emit("line");
      done();
    },
  });
  const written = {
    logger: pino(log),
    repeated: () => new RepeatedLines({}, log),
  };
  const requestLog = new RequestLog(written, new Metrics(new Date()));
  const generation = { rules: {}, changes: 0 };
  const warm = new WarmDocuments({
    ...{ authentication, clients, metadataCaps, requestLog },
    longestUrl: 2_048,
    generation: () => generation,
    freshFor: () => 60_000,
    now: () => made.now,
  });
  const onUnexpected = (error: unknown) => lines.push({ unexpected: error });
  const known = new KnownRequests(2_048);
  const own = { ...limits, ...more };
  const parts = { warm, known, requestLog, onUnexpected, limits: own };
  const read: string[] = [];
  const handle = (req: IncomingMessage, res: ServerResponse) => {
    read.push(req.url ?? "");
    req.resume();
    if (!warm.answer(req, res))
      res.writeHead(299, { "Content-Length": 0 }).end();
  };
  const listener = new Listener(
    isAlone ? { handle } : { handle, front: new WarmConnections(parts, own) },
    isSecure ? tls : undefined,
    own,
    new ConnectionCaps(0, clients, () => undefined),
    onUnexpected,
  );
  const port = await listener.listen("127.0.0.1", 0);
  const made: WarmFront = {
    ...{ listener, lines, log, read, metadataCaps, authentication },
    now: 0,
    made: 0,
    document,
    outcome: "hit",
    meanwhile: () => undefined,
    open: async () => {
      const socket = isSecure
        ? connectTls({ host: "127.0.0.1", port, ca })
        : connect({ host: "127.0.0.1", port });
      await once(socket, isSecure ? "secureConnect" : "connect");
      return socket;
    },
    keep: async () => {
      const find: FindDocument = async ({ state }) => {
        made.made++;
        await made.meanwhile();
        const found = { ...answer, outcome: made.outcome };
        noteAnswer(state, found);
        return { document: made.document, answer: found };
      };
      const req = new IncomingMessage(new Socket());
      req.url = path;
      const state = beginRequest(req, { address: "a", counted: "a" });
      const res = new ServerResponse(req);
      const ctx = { req, res, state, params: {} } as unknown as RequestContext;
      await warm.answering(find)(ctx, () => Promise.resolve());
    },
  };
  return made;
}

/** The text of `count` answers, of which each one came whole. */
async function readAnswers(socket: Socket, count: number): Promise<string[]> {
  const answers: string[] = [];
  let text = "";
  for await (const piece of socket.iterator({ destroyOnReturn: false })) {
    text += (piece as Buffer).toString("latin1");
    for (let end = endOf(text); end <= text.length; end = endOf(text)) {
      answers.push(text.slice(0, end));
      text = text.slice(end);
    }
    if (answers.length >= count) break;
  }
  expect([answers.length, text]).toEqual([count, ""]);
  return answers;
}

/** Characters of the first answer; Infinity before its head is there. */
function endOf(text: string): number {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return Infinity;
  const [, length = "0"] =
    /content-length: (\d+)/i.exec(text.slice(0, head)) ?? [];
  const hasBody = !text.startsWith("HTTP/1.1 304");
  return head + 4 + (hasBody ? Number(length) : 0);
}

/** Without what differs from answer to answer. */
export function constant(text = ""): string {
  return (
    text
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")
      .replaceAll(/Date: .{29}\r/g, "Date: now\r")
      // It depends on time whether a connection that breaks off says so.
      .replace(
        /HTTP\/1\.1 400 Bad Request\r\nContent-Type[^]*could not be read[^]*$/,
        "",
      )
  );
}

/** One after the other. */
export async function askOn(socket: Socket, ...requests: string[]) {
  const answers: string[] = [];
  for (const request of requests) {
    socket.write(request, "latin1");
    answers.push(...(await readAnswers(socket, 1)));
  }
  return answers;
}

/** Sends each piece as a record of its own, and reads until the server closes. */
export async function converse(
  socket: Socket,
  pieces: readonly string[],
): Promise<string> {
  const text = readToEnd(socket);
  for (const piece of pieces) {
    socket.write(piece, "latin1");
    await new Promise(setImmediate);
  }
  return text;
}
