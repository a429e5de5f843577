import { createHmac, timingSafeEqual } from "node:crypto";

/** Permission for the bearer of an archive's URL to get that one archive for a while. */
interface ArchiveTicket {
  /** Milliseconds since 1970. */
  readonly expires: number;
  /** Name of the token that the URL was made for. */
  readonly holder: string;
}

/** Parts of a signed path, not verified yet. */
export interface SignedPath {
  /** The archive's own path: the same without the ticket. */
  readonly path: string;
  readonly ticket: ArchiveTicket;
  readonly signed: string;
  readonly signature: string;
}

/** UTF-16 code units of a name that are kept in a URL. */
const longestHolder = 64;

const pattern =
  /^(\/.+\/)(([0-9]{1,15})\.([A-Za-z0-9_-]*))\.([A-Za-z0-9_-]{43})\/([^/]+)$/;

/**
 * `EXPIRES.HOLDER.SIGNATURE`, a segment of its own before the file name, since
 * clients know an archive by the last segment and some break on a query. The
 * signature binds the whole path, which names provider, version and platform.
 */
export function formatTicket(
  secret: Buffer,
  path: string,
  { expires, holder }: ArchiveTicket,
): string {
  const name = Buffer.from(holder.slice(0, longestHolder));
  const signed = `${expires}.${name.toString("base64url")}`;
  return `${signed}.${sign(secret, signed, path)}`;
}

/** Undefined for a path without a ticket before its last segment. */
export function parseSignedPath(path: string): SignedPath | undefined {
  const match = pattern.exec(path);
  if (match === null) return undefined;
  const [, folder, signed = "", expires, name = "", signature = "", file] =
    match;
  const holder = Buffer.from(name, "base64url").toString();
  const ticket = { expires: Number(expires), holder };
  return { path: `${folder}${file}`, ticket, signed, signature };
}

/** True when the secret signed it; compared as text, because more than one text decodes to the same bytes. */
export function isSignedBy(
  secret: Buffer,
  { path, signed, signature }: SignedPath,
): boolean {
  const expected = Buffer.from(sign(secret, signed, path));
  return timingSafeEqual(Buffer.from(signature), expected);
}

function sign(secret: Buffer, signed: string, path: string): string {
  const text = `archive URL v1\n${signed}\n${path}`;
  return createHmac("sha256", secret).update(text).digest("base64url");
}
