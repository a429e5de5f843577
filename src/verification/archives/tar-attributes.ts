import { ArchiveRefused } from "./limits.ts";

/** What headers before a member's own say of it. */
export interface TarAttributes {
  readonly name?: Buffer;
  readonly target?: Buffer;
  readonly size?: number;
}

/** Of one member; pax allows more, and no module needs it. */
export const longestAttributes = 64 * 1024;

const utf8 = "ISO-IR 10646 2000 UTF-8";

/**
 * The records `LENGTH KEY=VALUE\n`, where the length counts itself in bytes (POSIX pax, "pax Extended Header"). Throws ArchiveRefused for a
 * key that stands twice and for values that readers take for different things.
 */
export function parsePaxRecords(bytes: Buffer): TarAttributes {
  const keys = new Set<string>();
  let attributes: TarAttributes = {};
  for (let at = 0; at < bytes.length;) {
    const { key, value, end } = readRecord(bytes, at);
    if (keys.has(key))
      throw new ArchiveRefused("a member has an attribute twice");
    keys.add(key);
    attributes = { ...attributes, ...readAttribute(key, value) };
    at = end;
  }
  return attributes;
}

/** Throws ArchiveRefused for what would be said of all members: some readers believe it and some do not. */
export function refuseGlobalAttributes(bytes: Buffer): void {
  if (Object.keys(parsePaxRecords(bytes)).length > 0)
    throw new ArchiveRefused("it has a name, link or size for all its members");
}

/** The content of a GNU header for a long name or a long link: one text with one end. */
export function parseLongText(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0);
  const text = end < 0 ? bytes : bytes.subarray(0, end);
  const rest = bytes.subarray(text.length);
  if (text.length === 0 || rest.some((byte) => byte !== 0)) throw unreadable();
  return text;
}

function readRecord(bytes: Buffer, start: number) {
  const [head = "", digits = ""] =
    /^([1-9][0-9]{0,5}) /.exec(bytes.toString("latin1", start, start + 8)) ??
    [];
  const end = start + Number(digits);
  // None where there is no length.
  const equals = bytes.subarray(0, end).indexOf("=", start + head.length);
  if (bytes[end - 1] !== 0x0a || equals <= start + head.length)
    throw unreadable();
  const key = bytes.toString("latin1", start + head.length, equals);
  if (key.includes("\0")) throw unreadable();
  return { key, value: bytes.subarray(equals + 1, end - 1), end };
}

const isTime = /^-?[0-9]{1,15}(?:\.[0-9]*)?$/;
const isIdentity = /^-?[0-9]{1,15}$/;

const forms: Readonly<Record<string, RegExp>> = {
  uid: isIdentity,
  gid: isIdentity,
  atime: isTime,
  mtime: isTime,
  ctime: isTime,
  // Readers that know this attribute read texts by it: only UTF-8, the default, means the same to all.
  hdrcharset: new RegExp(`^${utf8}$`),
};

function readAttribute(key: string, value: Buffer): TarAttributes {
  // GNU's sparse files and dumps, and what star makes of a member.
  if (/^(?:GNU\.|SCHILY\.(?:filetype|realsize))/.test(key))
    throw new ArchiveRefused("it has a sparse file");
  const text = value.toString("latin1");
  const isEmpty = value.length === 0;
  const form = forms[key];
  if (form !== undefined && !isEmpty && !form.test(text)) throw unreadable();
  if (/^(?:path|linkpath|uname|gname)$/.test(key) && text.includes("\0"))
    throw unreadable();
  if (!/^(?:path|linkpath|size)$/.test(key)) return {};
  // An empty value takes an attribute away for some readers and says nothing to others.
  if (isEmpty) throw unreadable();
  if (key === "path") return { name: value };
  if (key === "linkpath") return { target: value };
  if (!/^[0-9]{1,15}$/.test(text)) throw unreadable();
  return { size: Number(text) };
}

function unreadable(): ArchiveRefused {
  return new ArchiveRefused("a member has unreadable attributes");
}
