import { Refused } from "../packets/refusal.ts";

const begin = "-----BEGIN ";
const keyBlocks = ["PGP PUBLIC KEY BLOCK", "PGP PRIVATE KEY BLOCK"];

/** The clients skip or refuse lines that do not fit their 100-octet buffer. */
const longestLine = 99;
const longestBodyLine = 96;
const tooLong = "a line of the armored data is too long";

const blank =
  "[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const surroundingBlanks = new RegExp(`^${blank}|${blank}$`, "g");

/**
 * The octets of the first armored block in `text` (RFC 9580, 6.2), which must be a key; the checksum is not checked.
 * `trimmed`: OpenTofu's go-crypto (1.4) ignores blanks around body lines, Terraform's (1.1.3) refuses them.
 * Throws Refused.
 */
export function unarmorSigningKeys(text: string, trimmed: boolean): Uint8Array {
  const lines = text.split("\n");
  const block = findBlock(lines);
  if (block === undefined) throw unreadable("no armored data found");
  if (!keyBlocks.includes(block.type))
    throw unreadable(`expected a key block, got ${block.type.slice(0, 40)}`);
  return decodeBody(lines.slice(block.body), trimmed);
}

/** A block whose headers break off is passed over. */
function findBlock(
  lines: readonly string[],
): { readonly type: string; readonly body: number } | undefined {
  let type: string | undefined;
  for (const [index, raw] of lines.entries()) {
    const line = trimLine(raw);
    if (type === undefined) {
      if (isBegin(raw, line)) type = line.slice(begin.length, -5);
    } else if (line === "") return { type, body: index + 1 };
    else if (!line.includes(":")) type = undefined;
  }
  return undefined;
}

function isBegin(raw: string, line: string): boolean {
  return (
    Buffer.byteLength(raw) <= longestLine &&
    line.length > begin.length + 5 &&
    line.startsWith(begin)
  );
}

function decodeBody(lines: readonly string[], trimmed: boolean): Uint8Array {
  let base64 = "";
  for (const raw of lines) {
    if (raw.length > longestLine) throw unreadable(tooLong);
    const content = raw.replace(/\r$/, "");
    const line = trimmed ? trimLine(content) : content;
    if (line.startsWith("-----END ") || /^=[ -~]{4}$/.test(line)) break;
    if (line.length > longestBodyLine) throw unreadable(tooLong);
    base64 += line.replaceAll("\r", "");
  }
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64))
    throw unreadable("the armored data are not base64");
  return Buffer.from(base64, "base64");
}

/** Go's bytes.TrimSpace, which unlike trim() keeps a byte order mark. */
function trimLine(line: string): string {
  return line.slice(0, longestLine + 1).replace(surroundingBlanks, "");
}

function unreadable(detail: string): Refused {
  return new Refused("unreadable-key", detail);
}
