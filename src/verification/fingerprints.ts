import { hash } from "node:crypto";
import { failure } from "../errors/index.ts";

/** Upper-case hexadecimal fingerprint of a primary key: 40 digits (v4) or 64 (v6). */
export type Fingerprint = string & { readonly __brand: "fingerprint" };

/** Full fingerprints only, in either case, with or without blanks. */
export function parseFingerprint(text: string): Fingerprint {
  const digits = text.replaceAll(" ", "").toUpperCase();
  if (!/^(?:[0-9A-F]{40}|[0-9A-F]{64})$/.test(digits))
    throw failure(
      "malformed-address",
      "fingerprint",
      text,
      "40 or 64 hexadecimal digits, all of the primary key's fingerprint",
    );
  return digits as Fingerprint;
}

/** UTF-16 code units of armored text that are read; a publisher's own key is far below. */
const longestBlock = 64 * 1024;
/** Lines of a block, of which the longest has 1,024 as programs write them. */
const mostLines = 1_200;
/**
 * Limits of a block: a publisher has one key, and few have hundreds of
 * certifications.
 */
const mostKeys = 16;
const mostPackets = 1_000;

const publicKey = 6;

/**
 * The fingerprints of the primary keys in armored blocks. No signature is verified, so that what else they say decides
 * nothing. A block that is too long, or cannot be read, has none. The event loop reads it: no field of a key is looked at.
 */
export function listFingerprints(
  blocks: readonly string[],
): readonly Fingerprint[] {
  const found: Fingerprint[] = [];
  for (const block of blocks) {
    const lines = block.split("\n", mostLines + 1).length;
    if (block.length > longestBlock || lines > mostLines) continue;
    const [, data = ""] = firstKeyBlock.exec(block) ?? [];
    let keys = 0;
    for (const packet of listPackets(Buffer.from(data, "base64"))) {
      if (packet.tag !== publicKey) continue;
      const fingerprint = fingerprintOf(packet.body);
      if (fingerprint !== undefined) found.push(fingerprint);
      if (++keys === mostKeys) break;
    }
  }
  return found;
}

/** RFC 9580, 6.2; its data, up to the checksum or the end. */
const firstKeyBlock =
  /-----BEGIN PGP PUBLIC KEY BLOCK-----[^]*?\n[ \t\r]*\n([^=-]*)/;

/** RFC 9580, 4.2, as many as are read; ends at what is cut, in parts or no packet at all. */
function* listPackets(octets: Buffer) {
  let at = 0;
  for (let count = 0; count < mostPackets && at + 6 <= octets.length; count++) {
    const first = octets.readUInt8(at);
    const size = octets.readUInt8(at + 1);
    let [header, length] = [2, size];
    if (first < 0x80) return;
    if (first < 0xc0) {
      const octetsOfLength = 1 << (first & 3);
      if (octetsOfLength > 4) return;
      header = 1 + octetsOfLength;
      length = octets.readUIntBE(at + 1, octetsOfLength);
    } else if (size === 255) {
      [header, length] = [6, octets.readUInt32BE(at + 2)];
    } else if (size >= 224) {
      return;
    } else if (size >= 192) {
      [header, length] = [3, octets.readUInt16BE(at + 1) - 0xc000 + 192];
    }
    const tag = first < 0xc0 ? (first >> 2) & 0x0f : first & 0x3f;
    const body = octets.subarray(at + header, at + header + length);
    if (body.length < length) return;
    yield { tag, body };
    at += header + length;
  }
}

/** RFC 9580, 5.5.4. */
function fingerprintOf(key: Buffer): Fingerprint | undefined {
  const [version] = key;
  if (version !== 4 && version !== 6) return undefined;
  const head = Buffer.alloc(version === 4 ? 3 : 5);
  head.writeUInt8(version === 4 ? 0x99 : 0x9b);
  head.writeUIntBE(key.length, 1, head.length - 1);
  const algorithm = version === 4 ? "sha1" : "sha256";
  const digest = hash(algorithm, Buffer.concat([head, key]));
  return digest.toUpperCase() as Fingerprint;
}
