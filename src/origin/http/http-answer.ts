import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Dispatcher } from "undici";
import type { Failure } from "../../errors/index.ts";
import { describeFailure, unusable } from "./http-failure.ts";

/** An answer with a status that was hoped for, its body not yet read. */
export interface Answer {
  readonly url: URL;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Dispatcher.ResponseData["body"];
  /** Hears of bytes of the body as they come. */
  readonly onReceived: (bytes: number) => void;
}

/** Bytes that are read of an unwanted response, so that its connection can be used again. */
const unwanted = { bytes: 16 * 1024, milliseconds: 1_000 };

/**
 * Ends a response that is not read; its late errors do not matter. Were the
 * connection ended with it, each absent name would cost a handshake.
 */
export function discard(body: Answer["body"]): void {
  body.on("error", () => undefined);
  const signal = AbortSignal.timeout(unwanted.milliseconds);
  body.dump({ limit: unwanted.bytes, signal }).catch(() => undefined);
}

/** The error for a body that is not to be read. */
export function refuse(
  answer: Answer,
  reason: string,
): Failure<"origin-answer"> {
  discard(answer.body);
  return unusable(answer.url, reason);
}

export const aPage = "it is a page for people (text/html)";

/**
 * Captive portals and proxies answer 200 with a page: a failing origin, and no
 * word against the publisher. What has that type and is none is left to its digest.
 */
export function isPage(
  answer: Pick<Answer, "headers">,
  start: Uint8Array,
): boolean {
  const text = Buffer.from(start.subarray(0, 4096)).toString("latin1");
  return (
    mediaType(answer) === "text/html" && /^(?:\xef\xbb\xbf)?\s*</.test(text)
  );
}

/** The first bytes of a body, within `patience` milliseconds; they are read again with the rest. */
export async function peek(
  { url, body }: Answer,
  patience: number,
): Promise<Uint8Array> {
  try {
    const signal = AbortSignal.timeout(patience);
    if (body.readableLength === 0) await once(body, "readable", { signal });
    const start = (body.read() ?? new Uint8Array()) as Uint8Array;
    if (start.length > 0) body.unshift(start);
    return start;
  } catch (error) {
    body.destroy();
    throw describeFailure(url, error, "body");
  }
}

/** Content codings (RFC 9110, 8.4.1, and later registrations) that one program or another uses unasked. */
const coding = /^(?:(?:x-)?gzip|compress|deflate|br|zstd)$/;

/**
 * The codings of a body; none was asked for. Some stores name how an upload was
 * framed (`aws-chunked`), which is no coding and changes nothing.
 */
function contentCodings({ headers }: Answer): readonly string[] {
  // undici has several fields of one name as a list.
  const written = [headers["content-encoding"] ?? []].flat().join();
  const codings: string[] = [];
  for (const name of written.toLowerCase().split(","))
    if (coding.test(name.trim())) codings.push(name.trim());
  return codings;
}

/** True for an archive in a coding. Some servers say `x-gzip` or `br` of one that is as it was, which clients take. */
export function isEncoded(answer: Answer, start: Uint8Array): boolean {
  const codings = contentCodings(answer);
  const magic = Buffer.from(start.subarray(0, 3)).toString("latin1");
  const isPlain =
    /^(?:PK|BZh|\xfd7z)/.test(magic) ||
    (magic.startsWith("\x1f\x8b") && !codings.includes("gzip"));
  return codings.length > 0 && !isPlain;
}

/** In lower case, without parameters; empty when there is none. */
export function mediaType({ headers }: Pick<Answer, "headers">): string {
  const [type = ""] = (single(headers["content-type"]) ?? "").split(";");
  return type.trim().toLowerCase();
}

/** The body in memory of its own, so that keeping it keeps nothing else; the limit holds for what it unpacks to. */
export async function readWhole(
  answer: Answer,
  maxBytes: number,
): Promise<Uint8Array> {
  const announced = announcedSize(answer);
  if (announced !== undefined && announced > maxBytes)
    throw tooLarge(answer, maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of readBody(answer)) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(answer, maxBytes);
    chunks.push(chunk);
  }
  const whole = await unpack(answer, Buffer.concat(chunks), maxBytes);
  return new Uint8Array(whole);
}

/**
 * gzip alone is what clients ask for and unpack. What is called packed and is as it was is taken so; nothing that is
 * read begins as gzip and compress do.
 */
async function unpack(
  answer: Answer,
  bytes: Uint8Array,
  maxBytes: number,
): Promise<Uint8Array> {
  const names = contentCodings(answer);
  if (names.length === 0 || bytes[0] !== 0x1f) return bytes;
  if (!/^(?:x-)?gzip$/.test(names.join())) throw encoded(answer);
  try {
    return await promisify(gunzip)(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === "ERR_BUFFER_TOO_LARGE"
      ? tooLarge(answer, maxBytes)
      : encoded(answer);
  }
}

export function encoded(answer: Answer): Failure<"origin-answer"> {
  const codings = contentCodings(answer).join(", ");
  return refuse(answer, `content encoding ${codings}, expected none`);
}

/** The body with its failures in our own words; it is discarded when the rest is not wanted. */
export async function* readBody(answer: Answer): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
      answer.onReceived(chunk.length);
      yield chunk;
    }
  } catch (error) {
    throw describeFailure(answer.url, error, "body");
  } finally {
    discard(answer.body);
  }
}

export function announcedSize({ headers }: Answer): number | undefined {
  const text = single(headers["content-length"]);
  return text !== undefined && /^[0-9]{1,15}$/.test(text)
    ? Number(text)
    : undefined;
}

export function tooLarge(
  answer: Answer,
  maxBytes: number,
): Failure<"origin-answer"> {
  return refuse(answer, `it is larger than ${maxBytes} bytes`);
}

export function single(
  value: string | string[] | undefined,
): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
