import * as openpgp from "openpgp";
import {
  config,
  keyCreated as created,
  sign,
  type Signer,
} from "../fakes/signing.ts";

/** A publisher whose primary key certifies what signs and can be revoked. */
export interface CertifiedSigner extends Signer {
  /** The same signatures beside a public key that its owner revoked. */
  revoked(): Promise<Signer>;
  /** The same signatures beside a public key that its owner let expire. */
  expired(): Promise<Signer>;
}

const ended = new Date("2025-01-01T00:00:00Z");

export async function createCertifiedSigner(
  name: string,
): Promise<CertifiedSigner> {
  const { privateKey } = await openpgp.generateKey({
    type: "rsa",
    rsaBits: 2048,
    userIDs: [{ name, email: "publisher@example.com" }],
    subkeys: [{ sign: true }],
    date: created,
    format: "object",
    config,
  });
  return asSigner(name, privateKey);
}

function asSigner(name: string, key: openpgp.PrivateKey): CertifiedSigner {
  const fingerprint = key.getFingerprint().toUpperCase();
  const subkey = key.subkeys.at(-1);
  if (subkey === undefined) throw new Error("it has no subkey");
  const signer: Signer = {
    name,
    fingerprint,
    keyId: fingerprint.slice(-16),
    armoredPublicKey: key.toPublic().armor(),
    sign: (document, date) => sign(key, document, date, subkey.getKeyID()),
  };
  return {
    ...signer,
    revoked: async () => {
      const { publicKey } = await openpgp.revokeKey({
        key,
        date: ended,
        reasonForRevocation: {
          flag: openpgp.enums.reasonForRevocation.keyCompromised,
        },
        format: "object",
        config,
      });
      return { ...signer, armoredPublicKey: publicKey.armor() };
    },
    expired: async () => {
      const { publicKey } = await openpgp.reformatKey({
        privateKey: key,
        userIDs: [{ name, email: "publisher@example.com" }],
        keyExpirationTime: (ended.getTime() - created.getTime()) / 1000,
        date: new Date("2024-01-01T00:00:00Z"),
        format: "object",
        config,
      });
      return { ...signer, armoredPublicKey: publicKey.armor() };
    },
  };
}
