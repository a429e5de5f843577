import { formatHex } from "./bytes.ts";
import { Malformed, Unsupported } from "./refusal.ts";

/** One subpacket as it stands (RFC 9580, 5.2.3.7). */
export interface Subpacket {
  readonly type: number;
  readonly critical: boolean;
  readonly content: Uint8Array;
}

/** What the subpackets say; times in seconds. */
export interface SignatureProperties {
  createdAt?: number;
  lifetime?: number;
  keyLifetime?: number;
  issuerKeyId?: string;
  issuerFingerprint?: string;
  isPrimaryUserId?: boolean;
  /** The union of the first octets of all key flags; absent without such a subpacket. */
  keyFlags?: number;
  revocationReason?: number;
  hasCriticalNotation?: boolean;
  embedded?: Uint8Array;
}

/** Issuer key ID and issuer fingerprint. */
export const issuerTypes = [16, 33];

/** What is read in the unhashed area: issuers and an embedded signature. */
export const unhashedTypes = [...issuerTypes, 32];

/** Throws Malformed. */
export function splitSubpackets(area: Uint8Array): readonly Subpacket[] {
  const subpackets: Subpacket[] = [];
  let rest = Buffer.from(area);
  while (rest.length > 0) {
    const { length, header } = readLength(rest);
    const end = header + length;
    if (length === 0 || end > rest.length)
      throw new Malformed("a signature subpacket of the wrong length");
    const first = rest[header] ?? 0;
    subpackets.push({
      type: first & 0x7f,
      critical: first >= 0x80,
      content: rest.subarray(header + 1, end),
    });
    rest = rest.subarray(end);
  }
  return subpackets;
}

function readLength(rest: Buffer): { length: number; header: number } {
  const first = rest[0] ?? 0;
  if (first < 192) return { length: first, header: 1 };
  const header = first < 255 ? 2 : 5;
  if (rest.length < header)
    throw new Malformed("a truncated signature subpacket");
  return header === 2
    ? { length: rest.readUInt16BE(0) - 0xc000 + 192, header }
    : { length: rest.readUInt32BE(1), header };
}

/** Later subpackets override earlier ones, the unhashed area the hashed one. Throws Malformed or Unsupported. */
export function readProperties(
  version: number,
  hashed: readonly Subpacket[],
  unhashed: readonly Subpacket[],
): SignatureProperties {
  const properties: SignatureProperties = {};
  for (const subpacket of hashed) {
    if (version === 6 && subpacket.type === 16)
      throw new Malformed("a hashed issuer key ID in a v6 signature");
    readSubpacket(properties, version, subpacket);
  }
  if (properties.createdAt === undefined)
    throw new Malformed("a signature without a creation time");
  for (const subpacket of unhashed)
    if (unhashedTypes.includes(subpacket.type))
      readSubpacket(properties, version, subpacket);
  return properties;
}

function readSubpacket(
  properties: SignatureProperties,
  version: number,
  { type, critical, content }: Subpacket,
): void {
  switch (type) {
    case 2:
      properties.createdAt = readSeconds(content);
      return;
    case 3:
      properties.lifetime = readSeconds(content);
      return;
    case 4:
      if (content.length === 0) throw wrongLength(type);
      if (content[0] === 0) throw new Unsupported("not exportable");
      return;
    case 9:
      properties.keyLifetime = readSeconds(content);
      return;
    case 16:
      expectLength(type, content, 8);
      if (version === 4) properties.issuerKeyId = formatHex(content);
      return;
    case 20:
      expectNotation(content);
      if (critical) properties.hasCriticalNotation = true;
      return;
    case 25:
      expectLength(type, content, 1);
      properties.isPrimaryUserId = content[0] !== 0;
      return;
    case 27:
      properties.keyFlags = (properties.keyFlags ?? 0) | (content[0] ?? 0);
      return;
    case 29:
      if (content.length === 0) throw wrongLength(type);
      properties.revocationReason = content[0] ?? 0;
      return;
    case 32:
      if (properties.embedded !== undefined)
        throw new Malformed("two embedded signatures");
      properties.embedded = content;
      return;
    case 33:
      readFingerprint(properties, content);
      return;
    default:
      checkOther(type, critical, content);
  }
}

/** Subpackets that decide nothing, but whose form go-crypto checks. */
function checkOther(
  type: number,
  critical: boolean,
  content: Uint8Array,
): void {
  switch (type) {
    case 5:
      expectLength(type, content, 2);
      return;
    case 6:
      if (content.at(-1) !== 0) throw wrongLength(type);
      return;
    case 35:
      expectFingerprint(type, content);
      return;
    case 39:
      if (content.length % 2 !== 0) throw wrongLength(type);
      return;
    default:
      if (critical && ![11, 21, 22, 23, 24, 26, 28, 30].includes(type))
        throw new Unsupported(`critical signature subpacket ${type}`);
  }
}

function readFingerprint(
  properties: SignatureProperties,
  content: Uint8Array,
): void {
  expectFingerprint(33, content);
  const fingerprint = formatHex(content.subarray(1));
  properties.issuerFingerprint = fingerprint;
  properties.issuerKeyId =
    (content[0] ?? 0) >= 5 ? fingerprint.slice(0, 16) : fingerprint.slice(-16);
}

function expectFingerprint(type: number, content: Uint8Array): void {
  expectLength(type, content, (content[0] ?? 0) >= 5 ? 33 : 21);
}

function expectNotation(content: Uint8Array): void {
  if (content.length < 8) throw wrongLength(20);
  const lengths = Buffer.from(content.subarray(4, 8));
  const sum = lengths.readUInt16BE(0) + lengths.readUInt16BE(2);
  expectLength(20, content, sum + 8);
}

function readSeconds(content: Uint8Array): number {
  if (content.length !== 4) throw new Malformed("a time of another size");
  return Buffer.from(content).readUInt32BE(0);
}

function expectLength(type: number, content: Uint8Array, length: number): void {
  if (content.length !== length) throw wrongLength(type);
}

function wrongLength(type: number): Malformed {
  return new Malformed(`signature subpacket ${type} of the wrong length`);
}
