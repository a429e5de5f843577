import { OctetSource } from "../packets/octets.ts";
import { Refused } from "../packets/refusal.ts";

const begin = "-----BEGIN ";
const keyBlocks = ["PGP PUBLIC KEY BLOCK", "PGP PRIVATE KEY BLOCK"];

/** The clients read through a buffer of so many octets: a longer line comes in pieces. */
const bufferOctets = 100;
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
  const pieces = splitLines(Buffer.from(text).toString("latin1"));
  const block = findBlock(pieces);
  if (block === undefined)
    throw new Refused("unreadable-key", "no armored data found");
  if (!keyBlocks.includes(block.type))
    throw new Refused(
      "unreadable-key",
      `expected a key block, got ${block.type.slice(0, 40)}`,
    );
  return decodeBody(pieces, block.body, trimmed);
}

/** A line without its end, or a piece of one that is too long. */
interface Piece {
  readonly text: string;
  readonly isCut: boolean;
}

/** As Go's bufio.Reader.ReadLine gives them: none for the end itself. */
function splitLines(octets: string): readonly Piece[] {
  const lines = octets.split("\n");
  const rest = lines.pop() ?? "";
  const pieces = lines.flatMap((line) => cutLine(line, true));
  return [...pieces, ...cutLine(rest, false)];
}

function cutLine(line: string, isEnded: boolean): readonly Piece[] {
  const pieces: Piece[] = [];
  let rest = line;
  while (rest.length >= bufferOctets) {
    // A CR stays with the LF that may come next.
    const end = rest[bufferOctets - 1] === "\r" ? -1 : 0;
    pieces.push({ text: rest.slice(0, bufferOctets + end), isCut: true });
    rest = rest.slice(bufferOctets + end);
  }
  if (isEnded)
    return [...pieces, { text: rest.replace(/\r$/, ""), isCut: false }];
  return rest === "" ? pieces : [...pieces, { text: rest, isCut: false }];
}

/** A block whose headers break off is passed over; what is left of the line that broke them counts as a line. */
function findBlock(
  pieces: readonly Piece[],
): { readonly type: string; readonly body: number } | undefined {
  let type: string | undefined;
  let continues = false;
  for (const [index, { text, isCut }] of pieces.entries()) {
    const isStart = !continues;
    continues = isCut;
    if (!isStart) continue;
    const line = trimLine(text);
    if (type === undefined) {
      if (!isCut && isBegin(line)) type = line.slice(begin.length, -5);
    } else if (line === "") return { type, body: index + 1 };
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

/** What is wrong with the data counts only for who reads on to it. */
function decodeBody(
  pieces: readonly Piece[],
  start: number,
  trimmed: boolean,
): OctetSource {
  const body: string[] = [];
  for (const { text, isCut } of pieces.slice(start)) {
    if (isCut) return decode(body, tooLong);
    const line = trimmed ? trimLine(text) : text;
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
  return line.replace(leadingBlanks, "").replace(trailingBlanks, "");
}
