import * as openpgp from "openpgp";

/** Signer of releases: a version 4 OpenPGP key, as provider publishers have. */
export interface Signer {
  readonly name: string;
  /** 40 upper-case hexadecimal digits. */
  readonly fingerprint: string;
  /** The last 16 digits of the fingerprint, as registries publish it. */
  readonly keyId: string;
  readonly armoredPublicKey: string;
  /** A binary detached signature with SHA-256, made at `signedAt`. */
  sign(document: Uint8Array, signedAt?: Date): Promise<Uint8Array>;
}

export interface SignerOptions {
  readonly name?: string;
  /** `rsa` is RSA 2048, `ed25519` is EdDSA in the form of version 4 keys. */
  readonly algorithm?: "rsa" | "ed25519";
  readonly createdAt?: Date;
}

/** Deterministic signatures of a hash that every client accepts. */
export const config = {
  preferredHashAlgorithm: openpgp.enums.hash.sha256,
  v6Keys: false,
  nonDeterministicSignaturesViaNotation: false,
};
export const keyCreated = new Date("2020-01-01T00:00:00Z");
const releaseSigned = new Date("2024-01-01T00:00:00Z");

/** A new key each time; `defaultSigner` shares one. */
export async function createSigner(
  options: SignerOptions = {},
): Promise<Signer> {
  const { name = "Test Publisher", algorithm = "rsa" } = options;
  const kind =
    algorithm === "rsa"
      ? { type: "rsa" as const, rsaBits: 2048 }
      : { type: "ecc" as const, curve: "ed25519Legacy" as const };
  const { privateKey, publicKey } = await openpgp.generateKey({
    ...kind,
    userIDs: [{ name, email: "publisher@example.com" }],
    subkeys: [],
    date: options.createdAt ?? keyCreated,
    format: "object",
    config,
  });
  const fingerprint = publicKey.getFingerprint().toUpperCase();
  return {
    name,
    fingerprint,
    keyId: fingerprint.slice(-16),
    armoredPublicKey: publicKey.armor(),
    sign: (document, signedAt) => sign(privateKey, document, signedAt),
  };
}

let shared: Promise<Signer> | undefined;

/** The one signer that this process uses where it does not matter who signs. */
export function defaultSigner(): Promise<Signer> {
  shared ??= createSigner();
  return shared;
}

/** By this subkey, where one is named. */
export async function sign(
  signingKeys: openpgp.PrivateKey,
  document: Uint8Array,
  date = releaseSigned,
  subkey?: openpgp.KeyID,
): Promise<Uint8Array> {
  const signature: unknown = await openpgp.sign({
    message: await openpgp.createMessage({ binary: document }),
    ...{ signingKeys, detached: true, format: "binary", date, config },
    ...(subkey && { signingKeyIDs: [subkey] }),
  });
  return signature as Uint8Array;
}
