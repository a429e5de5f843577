import type { Sha256 } from "../address/hash.ts";
import { ChecksumsMalformed } from "../errors/index.ts";

/** Far more than any release has archives; so that reading them takes no noticeable time. */
const mostLines = 65_536;

const line = /^([0-9a-fA-F]{64})[ \t]+([^\s*]\S*)$/;

/**
 * SHA256SUMS in its strict form: on each line 64 hexadecimal digits, blanks and
 * a name. Blank lines and CRLF are tolerated; a byte order mark, NUL, the `*` of
 * binary mode, other lengths and one name with two digests are refused, because
 * clients and tools would read such a document differently. So are more than 65536 lines.
 * `release` only names it in errors. Throws ChecksumsMalformed.
 */
export function parseChecksumsDocument(
  release: string,
  document: Uint8Array,
): ReadonlyMap<string, Sha256> {
  const digests = new Map<string, Sha256>();
  const lines = decode(release, document).split("\n", mostLines + 2);
  for (const [index, text] of lines.entries()) {
    const refuse = (reason: string) =>
      new ChecksumsMalformed(release, index + 1, reason);
    if (index > mostLines) throw refuse(`more than ${mostLines} lines`);
    if (/^[ \t]*\r?$/.test(text)) continue;
    const [, digest = "", name = ""] = line.exec(text.replace(/\r$/, "")) ?? [];
    if (name === "" || name.includes("\0"))
      throw refuse("expected 64 hexadecimal digits, blanks and a name");
    const sha256 = digest.toLowerCase() as Sha256;
    if ((digests.get(name) ?? sha256) !== sha256)
      throw refuse(`a second digest for ${name.slice(0, 200)}`);
    digests.set(name, sha256);
  }
  return digests;
}

function decode(release: string, document: Uint8Array): string {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return decoder.decode(document);
  } catch {
    throw new ChecksumsMalformed(release, 1, "it is not UTF-8 text");
  }
}
