import type { Sha256 } from "../address/hash.ts";
import { failure } from "../errors/index.ts";

/** A publisher sizes the document, and the event loop reads it. Real ones have at most some 30 lines. */
const mostLines = 10_000;

/** As clients read a line: its first two fields, whatever follows. */
const line = /^[\t-\r ]*([^\t-\r ]+)[\t-\r ]+([^\t-\r ]+)/;

export interface ChecksumsSubject {
  /** The name in errors, such as "registry.terraform.io/hashicorp/null 3.2.4". */
  readonly release: string;
  /** True for the names that are kept: those of the release's files. */
  readonly isOwn: (name: string) => boolean;
}

/**
 * Reads SHA256SUMS: a digest, blanks and a name on each line. Lines of other names than those of this release decide
 * nothing and are passed over, whatever they are, as clients do. Of its names, two digests for one and what is no
 * digest are refused, and more than 10,000 lines.
 */
export function parseChecksumsDocument(
  { release, isOwn }: ChecksumsSubject,
  document: Uint8Array,
): ReadonlyMap<string, Sha256> {
  const kept = new Map<string, Sha256>();
  // One letter an octet: names of this release are ASCII, and other lines may be in any encoding.
  const lines = Buffer.from(document)
    .toString("latin1")
    .split("\n", mostLines + 2);
  for (const [index, text] of lines.entries()) {
    const refuse = (reason: string) =>
      failure("checksums-malformed", release, index + 1, reason);
    if (index > mostLines) throw refuse(`more than ${mostLines} lines`);
    const [, digest = "", name = ""] = line.exec(text) ?? [];
    if (name === "" || !isOwn(name)) continue;
    const shown = name.slice(0, 200);
    if (!/^[0-9a-fA-F]{64}$/.test(digest))
      throw refuse(`expected 64 hexadecimal digits before ${shown}`);
    const sha256 = digest.toLowerCase() as Sha256;
    if ((kept.get(name) ?? sha256) !== sha256)
      throw refuse(`a second digest for ${shown}`);
    kept.set(name, sha256);
  }
  return kept;
}
