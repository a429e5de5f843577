import { formatHex } from "./bytes.ts";
import { Malformed, Unsupported } from "./refusal.ts";

/** One subpacket as it stands (RFC 9580, 5.2.3.7). */
interface Subpacket {
  readonly type: number;
  readonly critical: boolean;
  readonly content: Uint8Array;
}

/** Properties from the subpackets; times in seconds. */
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
}

export const embeddedSignature = 32;

/**
 * Subpacket types that are read in the unhashed area: issuers and an embedded
 * signature.
 */
export const unhashedTypes = [16, 33, embeddedSignature];

/** One after the other, so that what is before a fault counts first. Throws Malformed. */
export function* splitSubpackets(area: Uint8Array): Generator<Subpacket> {
  const octets = Buffer.from(area.buffer, area.byteOffset, area.length);
  for (let start = 0; start < octets.length;) {
    const { length, header } = readLength(octets, start);
    const end = start + header + length;
    if (length === 0 || end > octets.length)
      throw new Malformed("a signature subpacket of the wrong length");
    const first = octets[start + header] ?? 0;
    yield {
      type: first & 0x7f,
      critical: first >= 0x80,
      content: octets.subarray(start + header + 1, end),
    };
    start = end;
  }
}

function readLength(
  octets: Buffer,
  start: number,
): { length: number; header: number } {
  const first = octets[start] ?? 0;
  if (first < 192) return { length: first, header: 1 };
  const header = first < 255 ? 2 : 5;
  if (octets.length < start + header)
    throw new Malformed("a truncated signature subpacket");
  return header === 2
    ? { length: octets.readUInt16BE(start) - 0xc000 + 192, header }
    : { length: octets.readUInt32BE(start + 1), header };
}

/** Takes one subpacket over, but for an embedded signature; later ones override earlier ones. Throws Malformed or Unsupported. */
export function readSubpacket(
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
