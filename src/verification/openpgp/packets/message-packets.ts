import { takeMpi } from "./bytes.ts";
import { takeNumber, type Contents } from "./octets.ts";
import {
  Malformed,
  Unreadable,
  Unsupported,
  UnsupportedPacket,
} from "./refusal.ts";
import { readPassphraseStretching } from "./secret-key.ts";

const ciphers = [2, 3, 7, 8, 9];
const hashes: Readonly<Record<number, number | undefined>> = {
  8: 16,
  9: 24,
  10: 32,
  11: 16,
  12: 16,
  14: 32,
};
const sha1 = 2;
const nonceOctets: Readonly<Record<number, number>> = { 1: 16, 2: 15, 3: 12 };

/**
 * Packets that belong into messages, by tag (RFC 9580, 5): they say nothing about keys or documents, but what go-crypto
 * takes of them settles where the next packet begins, and what it cannot read makes a block unreadable.
 */
export const messagePackets: Readonly<
  Record<number, (contents: Contents) => void>
> = {
  1: readEncryptedSessionKey,
  3: readPassphraseSessionKey,
  4: readOnePassSignature,
  8: readCompressed,
  9: () => undefined,
  11: readLiteral,
  18: readProtected,
  20: readAead,
};

function readEncryptedSessionKey(contents: Contents): void {
  const version = takeNumber(contents, 1);
  if (version === 3) contents.take(8);
  else if (version === 6) readRecipient(contents);
  else throw new Unsupported(`session key version ${version}`);
  readSessionKeyFields(contents, takeNumber(contents, 1), version);
  contents.takeRest();
}

function readRecipient(contents: Contents): void {
  if (takeNumber(contents, 1) === 0) return;
  const keyVersion = takeNumber(contents, 1);
  if (keyVersion !== 4 && keyVersion !== 6)
    throw new Unsupported(`recipient of version ${keyVersion}`);
  contents.take(keyVersion === 6 ? 32 : 20);
}

function readSessionKeyFields(
  contents: Contents,
  algorithm: number,
  version: number,
): void {
  const native = { 25: 32, 26: 56 }[algorithm];
  if (native !== undefined) {
    contents.takeOrEnd(native);
    const length = contents.takeOrEnd(1)[0] ?? 0;
    if (version === 3) contents.takeOrEnd(1);
    contents.takeOrEnd(version === 3 ? (length + 255) % 256 : length);
    return;
  }
  if ([1, 2, 16, 18].includes(algorithm)) takeMpi(contents);
  if (algorithm === 16) takeMpi(contents);
  if (algorithm === 18) {
    const length = takeNumber(contents, 1);
    if (length === 0 || length === 255)
      throw new Unsupported("a reserved length");
    contents.take(length);
  }
}

const longestSessionKey = 64;

function readPassphraseSessionKey(contents: Contents): void {
  const version = takeNumber(contents, 1);
  if (version !== 4 && version !== 6)
    throw new Unsupported(`passphrase session key version ${version}`);
  if (version === 6) contents.take(1);
  const cipher = takeNumber(contents, 1);
  if (!ciphers.includes(cipher)) throw new Unsupported(`cipher ${cipher}`);
  const [mode = 0] = version === 6 ? takeOrMalformed(contents, 1) : [];
  if (version === 6) contents.take(1);
  readPassphraseStretching(contents);
  takeOrMalformed(contents, nonceOctets[mode] ?? 0);
  if (takeUntilCut(contents, longestSessionKey) === longestSessionKey)
    throw new Unsupported("a session key that is too long");
}

/** What follows may be cut. */
function takeUntilCut(contents: Contents, most: number): number {
  try {
    return contents.takeAtMost(most).length;
  } catch (error) {
    if (error instanceof Unreadable) return 0;
    throw error;
  }
}

function readOnePassSignature(contents: Contents): void {
  const [version, , hash = 0] = contents.take(4);
  if (version !== 3 && version !== 6)
    throw new Unsupported(`one-pass signature version ${version}`);
  if (hash !== sha1 && hashes[hash] === undefined)
    throw new Unsupported(`hash algorithm ${hash}`);
  if (version === 3) contents.take(8);
  else {
    const length = takeNumber(contents, 1);
    if (hash === sha1) throw new Unsupported("a salt for SHA-1");
    if (length !== hashes[hash])
      throw new Malformed("a salt of the wrong size");
    contents.take(length + 32);
  }
  contents.take(1);
}

function readCompressed(contents: Contents): void {
  const algorithm = takeNumber(contents, 1);
  if (algorithm === 2)
    throw new Unreadable("compressed data are not expected here");
  if (algorithm > 3) throw new UnsupportedPacket("an unknown compression");
}

function readLiteral(contents: Contents): void {
  const [, nameLength = 0] = contents.take(2);
  contents.take(nameLength + 4);
}

function readProtected(contents: Contents): void {
  const version = takeNumber(contents, 1);
  if (version === 1) return;
  if (version !== 2) throw new UnsupportedPacket("unknown encrypted data");
  const [cipher = 0, mode = 0, chunk = 0] = takeOrMalformed(contents, 3);
  if (![7, 8, 9].includes(cipher) || nonceOctets[mode] === undefined)
    throw new UnsupportedPacket("unknown encryption");
  if (chunk > 16) throw new UnsupportedPacket("chunks that are too long");
  takeOrMalformed(contents, 32);
}

function readAead(contents: Contents): void {
  const [, cipher = 0, mode = 0] = contents.take(4);
  if (mode !== 1 && mode !== 2) throw new Unreadable("unknown AEAD mode");
  contents.take(nonceOctets[mode] ?? 0);
  if (!ciphers.includes(cipher)) throw new UnsupportedPacket("unknown cipher");
}

function takeOrMalformed(contents: Contents, length: number): Uint8Array {
  try {
    return contents.take(length);
  } catch (error) {
    if (error instanceof Unreadable) throw new Malformed(error.message);
    throw error;
  }
}
