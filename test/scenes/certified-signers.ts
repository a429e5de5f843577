import * as openpgp from "openpgp";
import {
  config,
  keyCreated as created,
  sign,
  type Signer,
} from "../fakes/signing.ts";

const ended = new Date("2025-01-01T00:00:00Z");

/** A publisher whose primary key certifies what signs, and can be revoked. */
export async function createCertifiedSigner(name: string) {
  const common = { format: "object", config } as const;
  const userIDs = [{ name, email: "publisher@example.com" }];
  const { privateKey: key } = await openpgp.generateKey({
    ...{ type: "rsa", rsaBits: 2048, userIDs, subkeys: [{ sign: true }] },
    ...{ date: created, ...common },
  });
  const fingerprint = key.getFingerprint().toUpperCase();
  const subkey = key.subkeys.at(-1)?.getKeyID();
  const signer: Signer = {
    ...{ name, fingerprint, keyId: fingerprint.slice(-16) },
    armoredPublicKey: key.toPublic().armor(),
    sign: (document, date) => sign(key, document, date, subkey),
  };
  const beside = (publicKey: openpgp.PublicKey): Signer => ({
    ...signer,
    armoredPublicKey: publicKey.armor(),
  });
  return {
    ...signer,
    /** The same signatures beside a public key that its owner revoked. */
    revoked: async () => {
      const flag = openpgp.enums.reasonForRevocation.keyCompromised;
      const reason = { date: ended, reasonForRevocation: { flag } };
      const made = await openpgp.revokeKey({ key, ...reason, ...common });
      return beside(made.publicKey);
    },
    /** The same signatures beside a public key that its owner let expire. */
    expired: async () => {
      const made = await openpgp.reformatKey({
        ...{ privateKey: key, userIDs, ...common },
        keyExpirationTime: (ended.getTime() - created.getTime()) / 1000,
        date: new Date("2024-01-01T00:00:00Z"),
      });
      return beside(made.publicKey);
    },
  };
}
