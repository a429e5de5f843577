import {
  createHash,
  sign,
  type KeyObject,
  generateKeyPairSync,
} from "node:crypto";

/** Algorithm and public material of a key packet, with the private key. */
interface KeyMaterial {
  readonly algorithm: number;
  readonly privateKey: KeyObject;
  readonly material: Buffer;
}

type KeyKind = "ed25519" | `rsa${number}`;

function forgeMaterial(kind: KeyKind): KeyMaterial {
  if (kind === "ed25519") {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const spki = publicKey.export({ format: "der", type: "spki" });
    return { algorithm: 27, privateKey, material: spki.subarray(-32) };
  }
  const modulusLength = Number(kind.slice(3));
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength,
  });
  const { n = "", e = "" } = publicKey.export({ format: "jwk" });
  const fields = [n, e].map((field) => mpi(Buffer.from(field, "base64url")));
  return { algorithm: 1, privateKey, material: Buffer.concat(fields) };
}

/** A number as OpenPGP writes it (RFC 9580, 3.2). */
export function mpi(value: Buffer): Buffer {
  const start = value.findIndex((octet) => octet !== 0);
  const bytes = start < 0 ? Buffer.of() : value.subarray(start);
  const bits = bytes.length * 8 - (bytes[0] ? Math.clz32(bytes[0]) - 24 : 0);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bits);
  return Buffer.concat([length, bytes]);
}

/** OpenPGP packets of any shape, written by hand so that nothing is shared with what reads them (RFC 9580). */
export interface ForgedKey {
  readonly version: 4 | 6;
  readonly algorithm: number;
  readonly body: Buffer;
  /** As it is hashed into signatures. */
  readonly hashed: Buffer;
  readonly fingerprint: string;
  readonly privateKey: KeyObject;
}

export interface Subpacket {
  readonly type: number;
  readonly content: Buffer;
  readonly critical?: boolean;
}

export interface ForgedSignature {
  readonly type: number;
  /** Seconds since 1970. */
  readonly createdAt: number;
  readonly subpackets?: readonly Subpacket[];
  readonly unhashed?: readonly Subpacket[];
  /** The issuer fingerprint is left out. */
  readonly anonymous?: boolean;
  readonly hash?: keyof typeof hashNames;
}

const hashNames = { 2: "sha1", 8: "sha256" } as const;

export function forgeKey(
  createdAt: number,
  { version = 4, kind = "ed25519" }: { version?: 4 | 6; kind?: KeyKind } = {},
): ForgedKey {
  const { algorithm, privateKey, material } = forgeMaterial(kind);
  return wrapKey({ version, createdAt, algorithm, material, privateKey });
}

export function wrapKey(parts: {
  version: 4 | 6;
  createdAt: number;
  algorithm: number;
  material: Buffer;
  privateKey: KeyObject;
}): ForgedKey {
  const { version, algorithm, material, privateKey } = parts;
  const body = Buffer.concat([
    Buffer.of(version),
    number(parts.createdAt, 4),
    Buffer.of(algorithm),
    version === 6 ? number(material.length, 4) : Buffer.of(),
    material,
  ]);
  const hashed = Buffer.concat([
    Buffer.of(version === 6 ? 0x9b : 0x99),
    number(body.length, version === 6 ? 4 : 2),
    body,
  ]);
  const fingerprint = createHash(version === 6 ? "sha256" : "sha1")
    .update(hashed)
    .digest("hex")
    .toUpperCase();
  return { version, algorithm, body, hashed, fingerprint, privateKey };
}

function keyIdOf({ version, fingerprint }: ForgedKey): string {
  return version === 6 ? fingerprint.slice(0, 16) : fingerprint.slice(-16);
}

/** The body of a signature packet over `signed`. */
export function forgeSignature(
  key: ForgedKey,
  signed: Uint8Array,
  forged: ForgedSignature,
): Buffer {
  const { version } = key;
  const hash = forged.hash ?? 8;
  const octets = version === 6 ? 4 : 2;
  const area = writeSubpackets([
    { type: 2, content: number(forged.createdAt, 4) },
    ...(forged.anonymous ? [] : [issuerFingerprint(key)]),
    ...(forged.subpackets ?? []),
  ]);
  const head = Buffer.concat([
    Buffer.of(version, forged.type, key.algorithm, hash),
    number(area.length, octets),
    area,
  ]);
  const salt = Buffer.alloc(version === 6 ? 16 : 0, 7);
  const octetsSigned = Buffer.concat([
    ...[salt, signed, head],
    Buffer.of(version, 0xff),
    number(head.length, 4),
  ]);
  const digest = createHash(hashNames[hash]).update(octetsSigned).digest();
  const unhashed = writeSubpackets(forged.unhashed ?? []);
  return Buffer.concat([
    head,
    number(unhashed.length, octets),
    unhashed,
    digest.subarray(0, 2),
    version === 6 ? Buffer.concat([Buffer.of(salt.length), salt]) : Buffer.of(),
    computeSignature(key, octetsSigned, digest, hashNames[hash]),
  ]);
}

function computeSignature(
  { algorithm, privateKey }: ForgedKey,
  signed: Buffer,
  digest: Buffer,
  hash: string,
): Buffer {
  if (algorithm >= 27) return sign(null, digest, privateKey);
  const raw = sign(hash, signed, privateKey);
  if (algorithm <= 3) return mpi(raw);
  // DSA has two numbers, which nobody computes with where only their form counts.
  const half = raw.length / 2;
  return Buffer.concat([mpi(raw.subarray(0, half)), mpi(raw.subarray(half))]);
}

function issuerFingerprint(key: ForgedKey): Subpacket {
  const content = Buffer.from(`0${key.version}${key.fingerprint}`, "hex");
  return { type: 33, content };
}

export function issuerKeyId(key: ForgedKey): Subpacket {
  return { type: 16, content: Buffer.from(keyIdOf(key), "hex") };
}

export function keyFlags(flags: number): Subpacket {
  return { type: 27, content: Buffer.of(flags), critical: true };
}

export function seconds(type: number, value: number): Subpacket {
  return { type, content: number(value, 4) };
}

export function revocationReason(code: number): Subpacket {
  return { type: 29, content: Buffer.of(code) };
}

export function notation(name: string, critical: boolean): Subpacket {
  const header = Buffer.from([0x80, 0, 0, 0, 0, name.length, 0, 1]);
  return {
    type: 20,
    content: Buffer.concat([header, Buffer.from(`${name}1`)]),
    critical,
  };
}

function writeSubpackets(subpackets: readonly Subpacket[]): Buffer {
  return Buffer.concat(
    subpackets.map(({ type, content, critical }) =>
      Buffer.concat([
        writeLength(content.length + 1),
        Buffer.of(type + (critical ? 0x80 : 0)),
        content,
      ]),
    ),
  );
}

export function userIdHashed(key: ForgedKey, id: string): Buffer {
  const octets = Buffer.from(id);
  return Buffer.concat([
    key.hashed,
    Buffer.of(0xb4),
    number(octets.length, 4),
    octets,
  ]);
}

export function packet(tag: number, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(0xc0 + tag), writeLength(body.length), body]);
}

function writeLength(length: number): Buffer {
  if (length < 192) return Buffer.of(length);
  return Buffer.concat([Buffer.of(255), number(length, 4)]);
}

export function number(value: number, octets: number): Buffer {
  const field = Buffer.alloc(octets);
  field.writeUIntBE(value, 0, octets);
  return field;
}

export function armor(
  octets: Uint8Array,
  type = "PGP PUBLIC KEY BLOCK",
): string {
  const lines =
    Buffer.from(octets)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return [
    `-----BEGIN ${type}-----`,
    "",
    ...lines,
    `-----END ${type}-----`,
    "",
  ].join("\n");
}
