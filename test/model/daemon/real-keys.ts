import * as openpgp from "openpgp";
import type { SignedText } from "../world/documents.ts";
import {
  fingerprintOf,
  keyNames,
  readKeyBlock,
  type KeyName,
  type KeyState,
} from "../world/toy-keys.ts";

const config = {
  preferredHashAlgorithm: openpgp.enums.hash.sha256,
  v6Keys: false,
  nonDeterministicSignaturesViaNotation: false,
};
const created = new Date("2020-01-01T00:00:00Z");
const ended = new Date("2021-01-01T00:00:00Z");

type Block = Readonly<Record<Exclude<KeyState, "garbage">, string>>;

interface RealKey {
  readonly fingerprint: string;
  readonly privateKey: openpgp.PrivateKey;
  readonly blocks: Block;
}

/** The keys of the toy signatures, as real OpenPGP keys whose signatures the mirror judges itself. */
export class RealKeys {
  readonly #keys: ReadonlyMap<KeyName, RealKey>;
  readonly #signatures = new Map<string, Promise<Uint8Array>>();

  private constructor(keys: ReadonlyMap<KeyName, RealKey>) {
    this.#keys = keys;
  }

  static async make(): Promise<RealKeys> {
    const keys = await Promise.all(
      keyNames.map(async (name) => [name, await makeKey(name)] as const),
    );
    return new RealKeys(new Map(keys));
  }

  fingerprintOf(name: KeyName): string {
    return this.#find(name).fingerprint;
  }

  /** Writes the fingerprints of real keys as those of the toy keys. */
  asToy(text: string): string {
    return keyNames.reduce(
      (all, name) =>
        all.replaceAll(this.fingerprintOf(name), fingerprintOf(name)),
      text,
    );
  }

  asReal(text: string): string {
    return keyNames.reduce(
      (all, name) =>
        all.replaceAll(fingerprintOf(name), this.fingerprintOf(name)),
      text,
    );
  }

  /** Writes the block of a toy key as that of the real one. */
  publish(block: string): string {
    const key = readKeyBlock(block);
    return key === undefined || key.state === "garbage"
      ? block
      : this.#find(key.name).blocks[key.state];
  }

  /** Signs a document as its toy signature says; undefined where it has none. */
  async sign(signed: SignedText): Promise<Uint8Array | undefined> {
    const { signer, signedAt, sha256sums, text } = signed;
    if (signer === undefined) return undefined;
    const id = `${signer} ${signedAt} ${sha256sums}`;
    const { privateKey } = this.#find(signer);
    const signature =
      this.#signatures.get(id) ?? sign(privateKey, text, new Date(signedAt));
    this.#signatures.set(id, signature);
    return signature;
  }

  #find(name: KeyName): RealKey {
    const key = this.#keys.get(name);
    if (key === undefined) throw new RangeError(name);
    return key;
  }
}

async function makeKey(name: KeyName): Promise<RealKey> {
  const userIDs = [{ name, email: "publisher@example.com" }];
  const { privateKey, publicKey } = await openpgp.generateKey({
    ...{ type: "ecc", curve: "ed25519Legacy", userIDs, subkeys: [] },
    ...{ date: created, format: "object", config },
  });
  const revoked = await openpgp.revokeKey({
    ...{ key: privateKey, date: ended, format: "object", config },
  });
  const expired = await openpgp.reformatKey({
    ...{ privateKey, userIDs, date: created, format: "object", config },
    keyExpirationTime: (ended.getTime() - created.getTime()) / 1_000,
  });
  return {
    fingerprint: publicKey.getFingerprint().toUpperCase(),
    privateKey,
    blocks: {
      valid: publicKey.armor(),
      revoked: revoked.publicKey.armor(),
      expired: expired.publicKey.armor(),
    },
  };
}

async function sign(
  signingKeys: openpgp.PrivateKey,
  text: string,
  date: Date,
): Promise<Uint8Array> {
  const binary = Buffer.from(text);
  const signature: unknown = await openpgp.sign({
    message: await openpgp.createMessage({ binary }),
    ...{ signingKeys, detached: true, format: "binary", date, config },
  });
  return signature as Uint8Array;
}
