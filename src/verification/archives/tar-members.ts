import { ByteReader } from "./byte-reader.ts";
import type { ArchiveMember } from "./members.ts";

const block = 512;
/** Names and other attributes of one member. */
const longestAttributes = 64 * 1024;

/** What a tar cannot have; the message says what was found. */
export class TarRefused extends Error {}

/** Attributes that stand before a member's own header. */
interface Attributes {
  readonly name?: string;
  readonly target?: string;
  readonly size?: number;
}

interface Header {
  readonly type: string;
  readonly name: string;
  readonly target: string;
  readonly size: number;
}

const kinds: Readonly<Record<string, ArchiveMember["kind"]>> = {
  "0": "file",
  "\0": "file",
  "7": "file",
  "1": "hard link",
  "2": "symbolic link",
  "5": "directory",
};

/**
 * The members of a tar, without their content (POSIX pax interchange format, with GNU's long names). Throws TarRefused for devices, sparse
 * files and what readers could take for different things.
 */
export async function* listTarMembers(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<ArchiveMember> {
  const reader = new ByteReader(bytes);
  let attributes: Attributes = {};
  for (;;) {
    const bytesOfHeader = await reader.readUpTo(block);
    if (bytesOfHeader.every((byte) => byte === 0)) return;
    const header = parseHeader(bytesOfHeader);
    const { type } = header;
    if ("xgLK".includes(type)) {
      const text = await readAttributes(reader, header);
      if (type !== "g") attributes = { ...attributes, ...parse(type, text) };
      continue;
    }
    const kind = kinds[type];
    if (kind === undefined) throw new TarRefused(describeType(type));
    const { name, target, size } = { ...header, ...attributes };
    attributes = {};
    yield { name, kind, target };
    // Links and directories have no content whatever they say.
    if (kind !== "file" && size !== 0)
      throw new TarRefused(`a ${kind} has content`);
    if (!(await reader.skip(padded(size))))
      throw new TarRefused("it is cut short");
  }
}

function parseHeader(bytes: Buffer): Header {
  if (bytes.length < block) throw new TarRefused("it is cut short");
  const sum = bytes.reduce(
    (sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte),
    0,
  );
  if (sum !== parseOctal(bytes, 148, 8))
    throw new TarRefused("a header has a wrong checksum");
  const name = textAt(bytes, 0, 100);
  const isPosix = bytes.toString("latin1", 257, 263) === "ustar\0";
  const prefix = isPosix ? textAt(bytes, 345, 155) : "";
  return {
    type: String.fromCharCode(bytes[156] ?? 0),
    name: prefix === "" ? name : `${prefix}/${name}`,
    target: textAt(bytes, 157, 100),
    size: parseOctal(bytes, 124, 12),
  };
}

async function readAttributes(
  reader: ByteReader,
  { size }: Header,
): Promise<string> {
  if (size > longestAttributes)
    throw new TarRefused("a member has too many attributes");
  const bytes = await reader.readUpTo(padded(size));
  if (bytes.length < padded(size)) throw new TarRefused("it is cut short");
  return bytes.toString("utf8", 0, size);
}

function parse(type: string, text: string): Attributes {
  if (type === "x") return parseRecords(text);
  const value = text.replace(/\0.*$/s, "");
  return type === "L" ? { name: value } : { target: value };
}

/** `LENGTH KEY=VALUE\n`, where the length counts itself in bytes (pax, "pax Extended Header"). */
function parseRecords(text: string): Attributes {
  let attributes: Attributes = {};
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    const [start = "", digits = ""] =
      /^([0-9]{1,6}) /.exec(rest.toString("latin1", 0, 8)) ?? [];
    const end = Number(digits);
    const record = rest.toString("utf8", start.length, end - 1);
    const [, key = "", value = ""] = /^([^=]+)=(.*)$/s.exec(record) ?? [];
    if (end <= start.length || rest[end - 1] !== 0x0a || key === "")
      throw new TarRefused("a member has unreadable attributes");
    attributes = { ...attributes, ...readAttribute(key, value) };
    rest = rest.subarray(end);
  }
  return attributes;
}

function readAttribute(key: string, value: string): Attributes {
  if (key.startsWith("GNU.sparse."))
    throw new TarRefused("it has a sparse file");
  if (key === "path") return { name: value };
  if (key === "linkpath") return { target: value };
  if (key !== "size") return {};
  if (!/^[0-9]{1,15}$/.test(value))
    throw new TarRefused("a member has an unreadable size");
  return { size: Number(value) };
}

/** Negative and base-256 numbers are for what no module has. */
function parseOctal(bytes: Buffer, start: number, length: number): number {
  const text = bytes
    .toString("latin1", start, start + length)
    .replace(/\0.*$/s, "")
    .trim();
  if (!/^[0-7]*$/.test(text))
    throw new TarRefused("a header has an unreadable number");
  return text === "" ? 0 : parseInt(text, 8);
}

function textAt(bytes: Buffer, start: number, length: number): string {
  const end = bytes.indexOf(0, start);
  const stop = end < 0 ? start + length : Math.min(end, start + length);
  return bytes.toString("utf8", start, stop);
}

function padded(size: number): number {
  return Math.ceil(size / block) * block;
}

function describeType(type: string): string {
  const devices: Readonly<Record<string, string>> = {
    "3": "a character device",
    "4": "a block device",
    "6": "a named pipe",
    S: "a sparse file",
  };
  return `it has ${devices[type] ?? "a member of an unknown type"}`;
}
