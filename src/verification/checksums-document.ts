import { isUtf8 } from "node:buffer";
import type { Sha256 } from "../address/hash.ts";
import { failure } from "../errors/index.ts";

/** A publisher sizes the document, and the event loop reads it. Real ones have at most some 30 lines. */
const mostLines = 2_000;

const line = /^([0-9a-fA-F]{64})[ \t]+([^\s*\0][^\s\0]*)\r?$/;

export interface ChecksumsSubject {
  /** The name in errors, such as "registry.terraform.io/hashicorp/null 3.2.4". */
  readonly release: string;
  /** The beginning of the names that are kept, such as "terraform-provider-null_3.2.4_". */
  readonly prefix: string;
}

/**
 * Reads SHA256SUMS in its strict form: on each line 64 hexadecimal digits,
 * blanks and a name. Blank lines and CRLF are tolerated.
 * Clients and tools would disagree about a byte order mark, NUL, the `*` of
 * binary mode or other lengths. These, two digests for one name, and more than
 * 2,000 lines are refused. The rules apply to all lines; only names that begin
 * with `prefix` are returned. Throws checksums-malformed.
 */
export function parseChecksumsDocument(
  { release, prefix }: ChecksumsSubject,
  document: Uint8Array,
): ReadonlyMap<string, Sha256> {
  const digests = new Map<string, Sha256>();
  const kept = new Map<string, Sha256>();
  if (!isUtf8(document))
    throw failure("checksums-malformed", release, 1, "it is not UTF-8 text");
  const lines = Buffer.from(document)
    .toString()
    .split("\n", mostLines + 2);
  for (const [index, text] of lines.entries()) {
    const refuse = (reason: string) =>
      failure("checksums-malformed", release, index + 1, reason);
    if (index > mostLines) throw refuse(`more than ${mostLines} lines`);
    if (/^[ \t]*\r?$/.test(text)) continue;
    const [, digest = "", name = ""] = line.exec(text) ?? [];
    if (name === "")
      throw refuse("expected 64 hexadecimal digits, blanks and a name");
    const sha256 = digest.toLowerCase() as Sha256;
    if ((digests.get(name) ?? sha256) !== sha256)
      throw refuse(`a second digest for ${name.slice(0, 200)}`);
    digests.set(name, sha256);
    if (name.startsWith(prefix)) kept.set(name, sha256);
  }
  return kept;
}
