import { LRUCache } from "lru-cache";
import { keepAlive } from "../http/listener.ts";
import type { RenderedDocument } from "../http/request-context.ts";
import type { LineForm } from "../../telemetry/repeated-lines.ts";
import type { KnownRequest } from "./known-requests.ts";

export interface HeadedDocument extends Pick<RenderedDocument, "body"> {
  /** Names and values, of 304 and of 200. */
  readonly confirming: readonly string[];
  readonly describing: readonly string[];
}

type Status = 200 | 304;

const opening = {
  200: "HTTP/1.1 200 OK\r\nX-Request-Id: ",
  304: "HTTP/1.1 304 Not Modified\r\nX-Request-Id: ",
};
const idLength = 36;
const dateLength = 29;
const lasting = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAlive / 1000}\r\n`;
/** Bytes of one document's replies that wait to be sent again. */
const mostSpare = 256 * 1024;

/**
 * A document's answers of one status, in the bytes that Node's HTTP server would
 * send. Only the id and the date are put in anew: to copy a document takes as
 * long as to send it.
 */
class Replies {
  readonly #idAt: number;
  readonly #dateAt: number;
  readonly #first: Buffer;
  readonly #spare: Buffer[] = [];
  readonly #forms = new WeakMap<KnownRequest, LineForm>();

  constructor(
    status: Status,
    { body, confirming, describing }: HeadedDocument,
  ) {
    const headers = formatHeaders(status === 304 ? confirming : describing);
    const start = opening[status];
    const beforeDate = `${start}${" ".repeat(idLength)}\r\n${headers}Date: `;
    const head = `${beforeDate}${" ".repeat(dateLength)}\r\n${lasting}\r\n`;
    this.#idAt = start.length;
    this.#dateAt = beforeDate.length;
    this.#first = Buffer.concat([
      Buffer.from(head),
      Buffer.from(status === 304 ? "" : body),
    ]);
  }

  /** A buffer for this one answer; give it back once it was sent. */
  take(requestId: string): Buffer {
    const reply = this.#spare.pop() ?? Buffer.from(this.#first);
    reply.write(requestId, this.#idAt, "latin1");
    reply.write(formatDate(), this.#dateAt, "latin1");
    return reply;
  }

  /** Of the line in the log, of this answer to such a request. */
  formOf(known: KnownRequest, make: () => LineForm): LineForm {
    const form = this.#forms.get(known) ?? make();
    this.#forms.set(known, form);
    return form;
  }

  giveBack(reply: Buffer): void {
    const bytes = (this.#spare.length + 1) * reply.length;
    if (bytes <= mostSpare) this.#spare.push(reply);
  }
}

/** Documents are kept long after they were asked for, and their replies would take many times as much memory. */
const mostDocuments = 64;
const replies = {
  200: new LRUCache<HeadedDocument, Replies>({ max: mostDocuments }),
  304: new LRUCache<HeadedDocument, Replies>({ max: mostDocuments }),
};

/** The same object until it is forgotten, while few other documents are asked for. */
export function repliesOf(document: HeadedDocument, status: Status): Replies {
  const known = replies[status].get(document);
  if (known !== undefined) return known;
  const made = new Replies(status, document);
  replies[status].set(document, made);
  return made;
}

/** Of a document that is answered no more. */
export function forgetReplies(document: HeadedDocument): void {
  for (const made of Object.values(replies)) made.delete(document);
}

function formatHeaders(pairs: readonly string[]): string {
  return pairs
    .map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`))
    .join("");
}

let date = { second: 0, text: "" };

/** RFC 9110, 5.6.7. */
function formatDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== date.second)
    date = { second, text: new Date(second * 1000).toUTCString() };
  return date.text;
}
