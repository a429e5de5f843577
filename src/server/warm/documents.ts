import type { IncomingMessage, ServerResponse } from "node:http";
import { LRUCache } from "lru-cache";
import { SingleFlight } from "../../concurrency/single-flight.ts";
import { whenKnown } from "../../concurrency/when-known.ts";
import type { Answer } from "../../mirror/cache/answer.ts";
import { onBehalfOf } from "../../telemetry/asker.ts";
import type { Authentication } from "../access/authentication.ts";
import { charge, type MetadataCaps } from "../access/metadata-caps.ts";
import type { ClientAddresses } from "../http/client-address.ts";
import { isUnmodified } from "../http/conditional-request.ts";
import { sendDocument } from "../http/document-response.ts";
import { findRequestProblem } from "../http/raw-request.ts";
import type {
  FindDocument,
  RenderedDocument,
  RequestMiddleware,
  RequestNote,
  RequestState,
  RoutedContext,
  SentDocument,
} from "../http/request-context.ts";
import { beginRequest } from "../requests/begin-request.ts";
import type { RequestLog } from "../requests/request-log.ts";
import { forgetReplies, type HeadedDocument } from "./replies.ts";

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
  readonly requestLog: RequestLog;
  /** Bytes. */
  readonly longestUrl: number;
  readonly generation: () => Generation;
  /** Milliseconds for which an answer stays fresh. */
  readonly freshFor: (answer: Answer<unknown>) => number;
  /** Milliseconds on the monotonic clock. */
  readonly now?: () => number;
}

interface WarmDocument extends RenderedDocument, HeadedDocument {
  /** Names in the path, for its line in the log. */
  readonly params: RoutedContext["params"];
  readonly left: Pick<RequestNote, "leftOut" | "reported">;
}

/** What is answered, and what is told of the request. */
export interface Answerable {
  readonly document: WarmDocument;
  readonly state: RequestState;
}

interface Kept extends WarmDocument {
  readonly find: FindDocument;
  readonly generation: Generation;
  until: number;
}

/**
 * Milliseconds. Other processes change what is stored, too, and are not heard:
 * with the half second for which the trust ledger is remembered, their word
 * counts within a second.
 */
const longest = 250;
const mostBytes = 32 * 1024 * 1024;
/** Bytes of a document whose replies are kept, too. */
const mostToCopy = 128 * 1024;

/**
 * The bytes of documents that were answered a moment ago, by exact path, in
 * front of the application: they spare CI with hundreds of jobs the way through
 * it. What is not answered here goes there; refusals, stale answers and whatever
 * needs a token always do.
 */
export class WarmDocuments {
  readonly #parts: WarmDocumentParts;
  readonly #now: () => number;
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: mostBytes,
    dispose: forgetReplies,
  });
  readonly #renewals = new SingleFlight<string, boolean>();

  constructor(parts: WarmDocumentParts) {
    this.#parts = parts;
    this.#now = parts.now ?? (() => performance.now());
  }

  /** Answers a row of the table, and keeps what it sends. */
  answering(find: FindDocument): RequestMiddleware {
    return (ctx) => {
      const asked = ctx as RoutedContext;
      const isPlain = ctx.req.url === ctx.state.path;
      const found = isPlain ? this.#make(find, asked) : find(asked);
      return whenKnown(found, ({ document, answer }) =>
        sendDocument(ctx, document, answer),
      );
    };
  }

  /** False for what the application has to answer. */
  answer(req: IncomingMessage, res: ServerResponse): boolean {
    const { longestUrl, requestLog } = this.#parts;
    const document = this.find(req.url ?? "");
    if (document === undefined) return false;
    if (findRequestProblem(req, longestUrl) !== undefined) return false;
    const state = this.begin(req, document)?.state;
    if (state === undefined) return false;
    const { params } = document;
    requestLog.recordWhenClosed({ req, res, state, params });
    send(req, res, document, state.asker.requestId);
    return true;
  }

  /** Undefined when it is not warm. */
  find(path: string): WarmDocument | undefined {
    const kept = this.#kept.get(path);
    if (kept === undefined) return undefined;
    const { rules, changes } = this.#parts.generation();
    const isValid =
      this.#now() < kept.until &&
      kept.generation.rules === rules &&
      kept.generation.changes === changes &&
      !this.#parts.authentication.isOn;
    if (!isValid) kept.until = -Infinity;
    return isValid ? kept : undefined;
  }

  /** True for what was answered before and is not large. */
  keeps(url: string): boolean {
    const kept = this.#kept.get(url);
    if (kept === undefined || this.#parts.authentication.isOn) return false;
    return kept.length <= mostToCopy;
  }

  /** Once for all who ask, where it is no longer warm; undefined for what the application has to answer. */
  async renew(
    req: Pick<IncomingMessage, "url" | "headers" | "socket">,
  ): Promise<Answerable | undefined> {
    const { url = "" } = req;
    const warm = this.find(url);
    if (warm !== undefined) return this.begin(req, warm);
    const kept = this.#kept.get(url);
    if (kept === undefined || this.#parts.authentication.isOn) return undefined;
    const state = beginRequest(req, this.#parts.clients.of(req));
    const isFirst = !this.#renewals.has(url);
    const isMade = await this.#renewals.run(url, () =>
      this.#renew(kept, state),
    );
    const document = this.find(url);
    if (document === undefined) return undefined;
    return isFirst && isMade ? { document, state } : this.begin(req, document);
  }

  /** At the cost of whoever asked, if an origin has to be asked; false for what fails, which the application finds out, too, charges and answers. */
  async #renew(kept: Kept, state: RequestState): Promise<boolean> {
    try {
      const allowance = this.#parts.metadataCaps.admit(state.client);
      await onBehalfOf(state.asker, () =>
        this.#make(kept.find, { params: kept.params, state }),
      );
      charge(allowance, state.note);
      return true;
    } catch {
      return false;
    }
  }

  /** Undefined for a client that has nothing left to ask for: what is held costs nothing, but it is refused all the same. */
  begin(
    req: Pick<IncomingMessage, "url" | "headers" | "socket">,
    document: WarmDocument,
  ): Answerable | undefined {
    const { clients, metadataCaps } = this.#parts;
    const client = clients.of(req);
    if (!metadataCaps.hasLeft(client)) return undefined;
    const state = beginRequest(req, client);
    state.note.outcome = "hit";
    Object.assign(state.note, document.left);
    return { document, state };
  }

  /** Keeps what is found; whatever changes meanwhile makes it invalid. */
  #make(
    find: FindDocument,
    asked: Pick<RoutedContext, "params" | "state">,
  ): SentDocument | Promise<SentDocument> {
    const began = this.#now();
    const generation = this.#parts.generation();
    return whenKnown(find(asked), (sent) => {
      const fresh = this.#parts.freshFor(sent.answer);
      const until = began + Math.min(longest, fresh);
      const isKept = sent.answer.outcome !== "stale" && until > began;
      if (isKept && !this.#parts.authentication.isOn)
        this.#keep(sent.document, asked, { find, generation, until });
      return sent;
    });
  }

  #keep(
    document: RenderedDocument,
    { params, state }: Pick<RoutedContext, "params" | "state">,
    valid: Pick<Kept, "find" | "generation" | "until">,
  ): void {
    const { leftOut, reported } = state.note;
    const own = { params, left: { leftOut, reported }, ...valid };
    const kept = { ...document, ...headersOf(document), ...own };
    const size = state.path.length + document.body.length;
    this.#kept.set(state.path, kept, { size });
  }
}

function headersOf({ tag, type, length }: RenderedDocument) {
  const confirming = ["ETag", tag, "Cache-Control", "no-cache"];
  const own = ["Content-Type", type, "Content-Length", `${length}`];
  return { confirming, describing: [...confirming, ...own] };
}

function send(
  req: IncomingMessage,
  res: ServerResponse,
  { tag, body, confirming, describing }: WarmDocument,
  requestId: string,
): void {
  const id = ["X-Request-Id", requestId];
  if (isUnmodified(req, tag)) res.writeHead(304, [...id, ...confirming]).end();
  // A text leaves in one write with the head, and in one record of TLS.
  else res.writeHead(200, [...id, ...describing]).end(body);
}
