import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import type { Answer } from "../../mirror/cache/answer.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Authentication } from "../access/authentication.ts";
import { beginRequest } from "../requests/begin-request.ts";
import type { Client, ClientAddresses } from "../http/client-address.ts";
import { isUnmodified } from "../http/conditional-request.ts";
import type { MetadataCaps } from "../access/metadata-caps.ts";
import { findRequestProblem } from "../http/raw-request.ts";
import type {
  RecordedRequest,
  RenderedDocument,
  RequestMiddleware,
  RequestNote,
} from "../http/request-context.ts";
import { recordWhenClosed } from "../requests/request-log.ts";

/** What documents are made of, besides time: while both stay the same, so do they. */
interface Generation {
  /** Compared by identity. */
  readonly rules: object;
  /** Changes that this process made to what is stored. */
  readonly changes: number;
}

export interface WarmDocumentParts {
  readonly authentication: Pick<Authentication, "isOn">;
  readonly clients: ClientAddresses;
  readonly metadataCaps: MetadataCaps;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Bytes. */
  readonly longestUrl: number;
  readonly generation: () => Generation;
  /** Milliseconds for which an answer stays fresh. */
  readonly freshFor: (answer: Answer<unknown>) => number;
  /** Milliseconds on the monotonic clock. */
  readonly now?: () => number;
}

interface Kept extends RenderedDocument {
  /** Names in the path, for its line in the log. */
  readonly params: RecordedRequest["params"];
  /** Names and values, of 304 and of 200. */
  readonly confirming: readonly string[];
  readonly describing: readonly string[];
  readonly left: Pick<RequestNote, "leftOut" | "reported">;
  readonly generation: Generation;
  readonly until: number;
}

/**
 * Milliseconds. Other processes change what is stored, too, and are not heard:
 * with the half second for which the trust ledger is remembered, their word
 * counts within a second.
 */
const longest = 250;
const mostBytes = 32 * 1024 * 1024;

/**
 * The bytes of documents that were answered a moment ago, by exact path, in
 * front of the application: they spare CI with hundreds of jobs the way through
 * it. What is not answered here goes there; refusals, stale answers and whatever
 * needs a token always do.
 */
export class WarmDocuments {
  readonly #parts: WarmDocumentParts;
  readonly #now: () => number;
  readonly #kept = new LRUCache<string, Kept>({ maxSize: mostBytes });

  constructor(parts: WarmDocumentParts) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
  }

  /** Keeps what the rows of this middleware send; whatever changes meanwhile makes it invalid. */
  readonly keep: RequestMiddleware = async (ctx, next) => {
    const { req, state } = ctx;
    const began = this.#now();
    const generation = this.#parts.generation();
    await next();
    const { sent, path } = state;
    if (sent === undefined || req.url !== path) return;
    if (this.#parts.authentication.isOn || sent.answer.outcome === "stale")
      return;
    const fresh = Math.min(longest, this.#parts.freshFor(sent.answer));
    if (fresh <= 0) return;
    const { document } = sent;
    const until = began + fresh;
    const { leftOut, reported } = state.note;
    const own = { left: { leftOut, reported }, params: ctx.params };
    const valid = { generation, until };
    const kept = { ...document, ...headersOf(document), ...own, ...valid };
    const size = path.length + document.body.length;
    this.#kept.set(path, kept, { size });
  };

  /** False for what the application has to answer. */
  answer(req: IncomingMessage, res: ServerResponse): boolean {
    const kept = this.#find(req.url ?? "");
    if (kept === undefined) return false;
    const { clients, longestUrl, logger, metrics } = this.#parts;
    if (findRequestProblem(req, longestUrl) !== undefined) return false;
    const client = clients.of(req);
    if (!this.#admits(client)) return false;
    const state = beginRequest(req, client);
    state.note.outcome = "hit";
    Object.assign(state.note, kept.left);
    recordWhenClosed({ req, res, state, params: kept.params }, logger, metrics);
    send(req, res, kept, state.asker.requestId);
    return true;
  }

  #find(path: string): Kept | undefined {
    const kept = this.#kept.get(path);
    if (kept === undefined) return undefined;
    const { rules, changes } = this.#parts.generation();
    const isValid =
      this.#now() < kept.until &&
      kept.generation.rules === rules &&
      kept.generation.changes === changes &&
      !this.#parts.authentication.isOn;
    if (!isValid) this.#kept.delete(path);
    return isValid ? kept : undefined;
  }

  /** What is held costs its client nothing, but whoever has nothing left is refused all the same. */
  #admits(client: Client): boolean {
    try {
      this.#parts.metadataCaps.admit(client);
      return true;
    } catch {
      return false;
    }
  }
}

function headersOf({ tag, type, body }: RenderedDocument) {
  const confirming = ["ETag", tag, "Cache-Control", "no-cache"];
  const length = `${Buffer.byteLength(body)}`;
  const own = ["Content-Type", type, "Content-Length", length];
  return { confirming, describing: [...confirming, ...own] };
}

function send(
  req: IncomingMessage,
  res: ServerResponse,
  { tag, body, confirming, describing }: Kept,
  requestId: string,
): void {
  const id = ["X-Request-Id", requestId];
  if (isUnmodified(req, tag)) res.writeHead(304, [...id, ...confirming]).end();
  // A text leaves in one write with the head, and in one record of TLS.
  else res.writeHead(200, [...id, ...describing]).end(body);
}
