import { formatHex, takeMpi } from "./bytes.ts";
import type { PublicKey } from "./key-packet.ts";
import type { Contents } from "./octets.ts";
import { OctetSource, takeNumber } from "./octets.ts";
import { Malformed, Unsupported } from "./refusal.ts";

const ivOctets: Readonly<Record<number, number>> = {
  2: 8,
  3: 8,
  7: 16,
  8: 16,
  9: 16,
};
const nonceOctets: Readonly<Record<number, number>> = { 1: 16, 2: 15, 3: 12 };
const stretchable = [2, 8, 9, 10, 11, 12, 14];
const aead = 253;
const argon2 = 4;
const gnu = 101;

/**
 * The secret part of a private key packet (RFC 9580, 5.5.3): its form and its checksum, not that it belongs to the public
 * part, which is all that the decision reads. Throws Malformed, Unsupported, Unreadable or EndOfPackets.
 */
export function readSecretPart(contents: Contents, key: PublicKey): void {
  const usage = takeNumber(contents, 1);
  if (key.version === 6 && usage !== 0) contents.take(1);
  if (usage === 0) {
    checkPlain(contents.takeRest(), key);
    return;
  }
  if (usage < aead) throw new Unsupported("a deprecated secret key");
  if (key.version === 6 && usage === 255)
    throw new Malformed("a v6 secret key with a checksum");
  const cipher = takeNumber(contents, 1);
  if (cipher !== 0 && ivOctets[cipher] === undefined)
    throw new Unsupported(`cipher ${cipher}`);
  const mode = usage === aead ? takeNumber(contents, 1) : undefined;
  if (mode !== undefined && nonceOctets[mode] === undefined)
    throw new Unsupported(`AEAD mode ${mode}`);
  if (key.version === 6) contents.take(1);
  const stretching = readStretching(contents);
  if (stretching.type === gnu) return;
  if (stretching.type === argon2 && usage !== aead)
    throw new Malformed("Argon2 without AEAD");
  if (stretching.type === 0 && key.version === 6)
    throw new Malformed("a v6 secret key without a salt");
  expectKnownHash(stretching);
  const iv = mode === undefined ? ivOctets[cipher] : nonceOctets[mode];
  if (iv === undefined) throw new Unsupported("an encrypted key in the clear");
  contents.take(iv);
  contents.takeRest();
}

/** A string-to-key specifier (RFC 9580, 3.7); `hash` is absent where there is none. */
interface Stretching {
  readonly type: number;
  readonly hash: number | undefined;
}

/** Of an encrypted session key: one that a passphrase opens. */
export function readPassphraseStretching(contents: Contents): void {
  const stretching = readStretching(contents);
  if (stretching.type === gnu)
    throw new Unsupported("a key without its secret");
  expectKnownHash(stretching);
}

function readStretching(contents: Contents): Stretching {
  const type = contents.takeOrEnd(1)[0] ?? 0;
  const octets = { 0: 1, 1: 9, 3: 10, [argon2]: 19, [gnu]: 5 }[type];
  if (octets === undefined) throw new Unsupported(`string-to-key ${type}`);
  const fields = contents.takeOrEnd(octets);
  if (type === argon2) {
    checkArgon2(fields.subarray(16));
    return { type, hash: undefined };
  }
  if (type === gnu && formatHex(fields.subarray(1)) !== "474E5501")
    throw new Unsupported("an extension by GNU");
  return { type, hash: fields[0] };
}

function expectKnownHash({ hash }: Stretching): void {
  if (hash !== undefined && !stretchable.includes(hash))
    throw new Unsupported(`hash ${hash} for string-to-key`);
}

function checkArgon2([passes = 0, lanes = 0, memory = 0]: Uint8Array): void {
  if (
    passes === 0 ||
    lanes === 0 ||
    memory > 31 ||
    memory < 3 + Math.ceil(Math.log2(lanes))
  )
    throw new Malformed("Argon2 out of its range");
}

function checkPlain(octets: Uint8Array, key: PublicKey): void {
  if (octets.length < 2) throw new Malformed("a truncated secret key");
  if (key.version === 6) {
    checkFields(octets, key);
    return;
  }
  const fields = octets.subarray(0, -2);
  const sum = fields.reduce((total, octet) => (total + octet) & 0xffff, 0);
  if (takeNumber(new OctetSource(octets.subarray(-2)), 2) !== sum)
    throw new Malformed("a secret key with a wrong checksum");
  checkFields(fields, key);
}

function checkFields(octets: Uint8Array, { algorithm }: PublicKey): void {
  const native = { 25: 32, 26: 56, 27: 32, 28: 57 }[algorithm];
  if (native !== undefined) {
    if (octets.length !== native)
      throw new Malformed("a secret key of another size");
    return;
  }
  const source = new OctetSource(octets);
  const numbers = algorithm <= 3 ? 3 : 1;
  for (let count = 0; count < numbers; count++) takeMpi(source);
}
