import { Octets } from "../packets/octets.ts";
import { Refused } from "../packets/refusal.ts";

const begin = "-----BEGIN ";
const keyBlocks = ["PGP PUBLIC KEY BLOCK", "PGP PRIVATE KEY BLOCK"];

/** The clients read through a buffer of so many octets: a longer line comes in pieces. */
const bufferOctets = 100;
const longestBodyLine = 96;

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
export function unarmorSigningKeys(text: string, trimmed: boolean): Octets {
  // Lines, their ends and their lengths are those of the octets, as the clients see them.
  const octets = Buffer.from(text).toString("latin1");
  const pieces = splitLines(octets);
  const type = findBlock(pieces);
  if (type === undefined)
    throw new Refused("unreadable-key", "no armored data found");
  if (!keyBlocks.includes(type))
    throw new Refused(
      "unreadable-key",
      `expected a key block, got ${type.slice(0, 40)}`,
    );
  return decodeBody(pieces, octets.length, trimmed);
}

/** A line without its end, or a piece of one that is too long. */
interface Piece {
  readonly text: string;
  readonly isCut: boolean;
}

/** One after the other, since a key text may have two million; as Go's bufio.Reader.ReadLine gives them, with none for the end itself. */
function* splitLines(octets: string): Generator<Piece> {
  for (let start = 0; start < octets.length;) {
    const end = octets.indexOf("\n", start);
    yield* cutLine(octets.slice(start, end < 0 ? undefined : end), end >= 0);
    start = end < 0 ? octets.length : end + 1;
  }
}

function* cutLine(line: string, isEnded: boolean): Generator<Piece> {
  let rest = line;
  while (rest.length >= bufferOctets) {
    // A CR stays with the LF that may come next.
    const length = bufferOctets - Number(rest[bufferOctets - 1] === "\r");
    yield { text: rest.slice(0, length), isCut: true };
    rest = rest.slice(length);
  }
  const text = isEnded ? rest.replace(/\r$/, "") : rest;
  if (isEnded || text !== "") yield { text, isCut: false };
}

/**
 * Reads up to the data of the first block, and returns the block's type. A
 * block with broken headers is skipped; the rest of the line that broke them
 * counts as a line.
 */
function findBlock(pieces: Generator<Piece>): string | undefined {
  let type: string | undefined;
  let continues = false;
  for (let next = pieces.next(); !next.done; next = pieces.next()) {
    const { text, isCut } = next.value;
    const isStart = !continues;
    continues = isCut;
    if (!isStart || (type === undefined && text === "")) continue;
    const line = trimLine(text);
    if (type === undefined) {
      if (!isCut && isBegin(line)) type = line.slice(begin.length, -5);
    } else if (line === "") return type;
    else if (!line.includes(":")) {
      type = undefined;
      continues = false;
    }
  }
  return undefined;
}

function isBegin(line: string): boolean {
  return line.length > begin.length + 5 && line.startsWith(begin);
}

/**
 * Decodes the body. A fault in the data is thrown only when a reader reaches
 * it.
 */
function decodeBody(
  pieces: Generator<Piece>,
  most: number,
  trimmed: boolean,
): Octets {
  const body = Buffer.alloc(most);
  let length = 0;
  let fault: string | undefined;
  for (const { text, isCut } of pieces) {
    const line = trimmed ? trimLine(text) : text;
    if (!isCut && (line.startsWith("-----END ") || /^=[^]{4}$/.test(line)))
      break;
    if (isCut || line.length > longestBodyLine) {
      fault = "a line of the armored data is too long";
      break;
    }
    length += body.write(line.replaceAll("\r", ""), length, "latin1");
  }
  return decode(body.toString("latin1", 0, length), fault);
}

function decode(base64: string, fault: string | undefined): Octets {
  const [whole] = /^(?:[A-Za-z0-9+/]{4})*/.exec(base64) ?? [""];
  const rest = base64.slice(whole.length);
  const isEnd = /^(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(rest);
  return new Octets(
    Buffer.from(isEnd ? base64 : whole, "base64"),
    fault ?? (isEnd ? undefined : "the armored data are not base64"),
  );
}

function trimLine(line: string): string {
  return line.replace(leadingBlanks, "").replace(trailingBlanks, "");
}
