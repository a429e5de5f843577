import {
  createHash,
  sign,
  type KeyObject,
  generateKeyPairSync,
} from "node:crypto";
import { decideSignature } from "../../src/verification/signature-worker.ts";
import type {
  SignatureDecision,
  SignatureProfile,
} from "../../src/verification/signatures.ts";

type KeyKind = "ed25519" | `rsa${number}`;

/** Algorithm and public material of a key packet, with the private key. */
function forgeMaterial(kind: KeyKind) {
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

export function wrapKey({
  createdAt,
  material,
  ...key
}: Pick<ForgedKey, "version" | "algorithm" | "privateKey"> & {
  readonly createdAt: number;
  readonly material: Buffer;
}): ForgedKey {
  const { version, algorithm } = key;
  const body = Buffer.concat([
    Buffer.of(version),
    number(createdAt, 4),
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
  return { ...key, body, hashed, fingerprint };
}

/** The body of a signature packet over `signed`. */
export function forgeSignature(
  key: ForgedKey,
  signed: Uint8Array,
  forged: ForgedSignature,
): Buffer {
  const { version, fingerprint } = key;
  const content = Buffer.from(`0${version}${fingerprint}`, "hex");
  const issuer = { type: 33, content };
  const hash = forged.hash ?? 8;
  const octets = version === 6 ? 4 : 2;
  const area = writeSubpackets([
    { type: 2, content: number(forged.createdAt, 4) },
    ...(forged.anonymous ? [] : [issuer]),
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

/** Of a version 4 key. */
export function issuerKeyId({ fingerprint }: ForgedKey): Subpacket {
  return { type: 16, content: Buffer.from(fingerprint.slice(-16), "hex") };
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
  const data = Buffer.from(octets).toString("base64");
  const lines = data.match(/.{1,64}/g) ?? [];
  const [begin, end] = [`-----BEGIN ${type}-----`, `-----END ${type}-----`];
  return [begin, "", ...lines, end, ""].join("\n");
}

export const now = new Date("2026-06-01T00:00:00Z");
export const day = 86_400;
/** Seconds since 1970 of `now`. */
export const today = now.getTime() / 1000;
export const lastYear = today - 365 * day;
export const document = Buffer.from(
  "0123 terraform-provider-x_1.0.0_linux_amd64.zip\n",
);

/** Certify and sign. */
export const mayBoth = 0x03;
export const mayCertify = 0x01;
const maySign = 0x02;

type Forged = Partial<Omit<ForgedSignature, "type">>;

/** A certificate grows packet by packet, each made by `primary` a year ago unless said otherwise. */
export class Certificate {
  readonly primary: ForgedKey;
  readonly packets: Buffer[];

  constructor(primary: ForgedKey = forgeKey(lastYear)) {
    this.primary = primary;
    this.packets = [packet(6, primary.body)];
  }

  /** A signature directly on the primary key. */
  direct(type: number, forged?: Forged): this {
    return this.#sign(this.primary.hashed, type, forged);
  }

  userId(
    id: string,
    subpackets = [keyFlags(mayBoth)],
    forged: Forged = {},
  ): this {
    this.packets.push(packet(13, Buffer.from(id)));
    return this.onUserId(id, 0x13, { subpackets, ...forged });
  }

  onUserId(id: string, type: number, forged?: Forged): this {
    const { hashed } = this.primary;
    const octets = Buffer.from(id);
    const named = [Buffer.of(0xb4), number(octets.length, 4), octets];
    return this.#sign(Buffer.concat([hashed, ...named]), type, forged);
  }

  /** A subkey that signs, with its cross-signature. */
  signingSubkey(
    subkey: ForgedKey,
    { subpackets = [keyFlags(maySign)], ...forged }: Forged = {},
    cross: Forged = {},
  ): this {
    const signed = Buffer.concat([this.primary.hashed, subkey.hashed]);
    const back = { type: 0x19, createdAt: lastYear, ...cross };
    const content = forgeSignature(subkey, signed, back);
    this.packets.push(packet(14, subkey.body));
    return this.onSubkey(subkey, 0x18, {
      ...forged,
      subpackets: [...subpackets, { type: 32, content }],
    });
  }

  onSubkey(subkey: ForgedKey, type: number, forged?: Forged): this {
    const signed = Buffer.concat([this.primary.hashed, subkey.hashed]);
    return this.#sign(signed, type, forged);
  }

  armor(): string {
    return armor(Buffer.concat(this.packets));
  }

  #sign(signed: Buffer, type: number, forged?: Forged): this {
    const made = { type, createdAt: lastYear, ...forged };
    this.packets.push(packet(2, forgeSignature(this.primary, signed, made)));
    return this;
  }
}

/** A detached signature over `document`, made a month before `now`. */
export function signDocument(
  key: ForgedKey,
  forged: Partial<ForgedSignature> = {},
): Buffer {
  const made = { type: 0, createdAt: today - 30 * day, ...forged };
  return packet(2, forgeSignature(key, document, made));
}

export function decide(
  keys: readonly (Certificate | string)[],
  signature: Uint8Array,
  profile: SignatureProfile = "terraform",
): Promise<SignatureDecision> {
  const armored = keys.map((key) =>
    typeof key === "string" ? key : key.armor(),
  );
  return decideSignature({ document, signature, keys: armored, profile, now });
}

/** "ok", "warned", or the reason of the refusal. */
export async function outcome(
  keys: readonly (Certificate | string)[],
  signature: Uint8Array,
  profile: SignatureProfile = "terraform",
): Promise<string> {
  const decision = await decide(keys, signature, profile);
  if (!decision.accepted) return decision.reason;
  return decision.warning === undefined ? "ok" : "warned";
}
