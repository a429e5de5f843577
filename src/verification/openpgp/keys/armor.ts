import { OctetSource } from "../packets/octets.ts";
import { Refused } from "../packets/refusal.ts";

const begin = "-----BEGIN ";
const keyBlocks = ["PGP PUBLIC KEY BLOCK", "PGP PRIVATE KEY BLOCK"];

/** The clients skip or refuse lines that do not fit their 100-octet buffer. */
const longestLine = 99;
const longestBodyLine = 96;
const tooLong = "a line of the armored data is too long";

/** Go's bytes.TrimSpace, which unlike trim() keeps a byte order mark; as UTF-8 in single octets. */
const blank =
  "(?:[\\t-\\r ]|\\xc2[\\x85\\xa0]|\\xe1\\x9a\\x80|\\xe2\\x80[\\x80-\\x8a\\xa8\\xa9\\xaf]|\\xe2\\x81\\x9f|\\xe3\\x80\\x80)+";
const leadingBlanks = new RegExp(`^${blank}`);
const trailingBlanks = new RegExp(`${blank}$`);

/**
 * The octets of the first armored block in `text` (RFC 9580, 6.2), which must be a key; the checksum is not checked.
 * `trimmed`: OpenTofu's go-crypto (1.4) ignores blanks around body lines, Terraform's (1.1.3) refuses them.
 * Throws Refused.
 */
export function unarmorSigningKeys(
  text: string,
  trimmed: boolean,
): OctetSource {
  // Lines, their ends and their lengths are those of the octets, as the clients see them.
  const lines = Buffer.from(text).toString("latin1").split("\n");
  const block = findBlock(lines);
  if (block === undefined)
    throw new Refused("unreadable-key", "no armored data found");
  if (!keyBlocks.includes(block.type))
    throw new Refused(
      "unreadable-key",
      `expected a key block, got ${block.type.slice(0, 40)}`,
    );
  return decodeBody(lines, block.body, trimmed);
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
    raw.length <= longestLine &&
    line.length > begin.length + 5 &&
    line.startsWith(begin)
  );
}

/** What is wrong with the data counts only for who reads on to it. */
function decodeBody(
  lines: readonly string[],
  start: number,
  trimmed: boolean,
): OctetSource {
  const body: string[] = [];
  for (let index = start; index < lines.length; index++) {
    const raw = lines[index] ?? "";
    if (raw.length > longestLine) return decode(body, tooLong);
    const isLast = index === lines.length - 1;
    const content = isLast ? raw : raw.replace(/\r$/, "");
    const line = trimmed ? trimLine(content) : content;
    if (line.startsWith("-----END ") || /^=[^]{4}$/.test(line)) break;
    if (line.length > longestBodyLine) return decode(body, tooLong);
    body.push(line.replaceAll("\r", ""));
  }
  return decode(body);
}

function decode(body: readonly string[], fault?: string): OctetSource {
  const base64 = body.join("");
  const [whole] = /^(?:[A-Za-z0-9+/]{4})*/.exec(base64) ?? [""];
  const rest = base64.slice(whole.length);
  const isEnd = /^(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(rest);
  return new OctetSource(
    Buffer.from(isEnd ? base64 : whole, "base64"),
    fault ?? (isEnd ? undefined : "the armored data are not base64"),
  );
}

function trimLine(line: string): string {
  return line
    .slice(0, longestLine + 1)
    .replace(leadingBlanks, "")
    .replace(trailingBlanks, "");
}
