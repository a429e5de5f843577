import * as openpgp from "openpgp";
import { decideSignature } from "../../src/verification/signature-worker.ts";
import type {
  SignatureDecision,
  SignatureProfile,
} from "../../src/verification/signatures.ts";
import { config } from "../fakes/signing.ts";

const { armor: armors, hash, signature: types } = openpgp.enums;

export const now = new Date("2026-06-01T00:00:00Z");
export const day = 86_400;
/** Seconds since 1970 of `now`. */
export const today = now.getTime() / 1000;
export const lastYear = today - 365 * day;
export const document = Buffer.from(
  "0123 terraform-provider-x_1.0.0_linux_amd64.zip\n",
);

/** As a signature is over it. */
export const literal = { text: null, getBytes: () => document };

type Packet = openpgp.AnyPacket;
export type Fields = Partial<
  Omit<openpgp.SignaturePacket, "created" | "keyFlags">
> & {
  /** Seconds since 1970; a year ago. */
  readonly created?: number;
  readonly keyFlags?: readonly number[];
};

/** The library's class; its types leave the data of certifications out. */
type Signing = Omit<openpgp.SignaturePacket, "sign"> & {
  sign(
    by: openpgp.AnyKeyPacket,
    over: object,
    date: Date,
    detached: boolean,
    rules: object,
  ): Promise<void>;
};

async function makeSignature(
  by: openpgp.AnyKeyPacket,
  over: object,
  signatureType: openpgp.enums.signature,
  { created = lastYear, ...fields }: Fields = {},
): Promise<openpgp.SignaturePacket> {
  const made = new openpgp.SignaturePacket();
  const { algorithm: publicKeyAlgorithm } = by;
  const named = { signatureType, publicKeyAlgorithm };
  Object.assign(made, { hashAlgorithm: hash.sha256, ...named, ...fields });
  const date = new Date(created * 1000);
  await (made as unknown as Signing).sign(by, over, date, true, config);
  return made;
}

/**
 * A key with a user ID and a subkey that signs, in the parts of which `block` makes certificates: of every signature its
 * fields can be others.
 */
export async function makeKey(
  created = lastYear,
  options: Partial<openpgp.KeyOptions> = {},
) {
  const { privateKey } = await openpgp.generateKey({
    ...{ type: "curve25519", userIDs: [{ name: "maker" }] },
    ...{ subkeys: [{ sign: true }], date: new Date(created * 1000) },
    ...{ config, ...options, format: "object" },
  });
  const publicKey = privateKey.toPublic();
  const [user] = publicKey.users;
  const [secret] = privateKey.subkeys;
  const [subkey] = publicKey.subkeys;
  if (!user?.userID || !secret || !subkey) throw new Error("incomplete");
  const over = {
    ...{ key: privateKey.keyPacket, userID: user.userID },
    bind: subkey.keyPacket,
  };
  const make = (
    type: openpgp.enums.signature,
    fields?: Fields,
    userID = over.userID,
  ) => makeSignature(privateKey.keyPacket, { ...over, userID }, type, fields);
  const sign = (by: openpgp.AnyKeyPacket, fields?: Fields) => {
    const made = { created: today - 30 * day, ...fields };
    return makeSignature(by, literal, types.binary, made).then(packetsOf);
  };
  return {
    fingerprint: publicKey.getFingerprint().toUpperCase(),
    armored: publicKey.armor(),
    ...{ key: publicKey.keyPacket, userID: user.userID },
    subkey: subkey.keyPacket,
    make,
    /** The key's own signature on a user ID. */
    self: (fields?: Fields, userID?: openpgp.UserIDPacket) =>
      make(types.certPositive, { keyFlags: [3], ...fields }, userID),
    /** What binds the subkey, with the subkey's own signature. */
    binding: async (fields?: Fields, cross?: Fields) =>
      make(types.subkeyBinding, {
        embeddedSignature: await makeSignature(
          ...([secret.keyPacket, over, types.keyBinding, cross] as const),
        ),
        ...{ keyFlags: [2], ...fields },
      }),
    /** Over `document`, a month ago. */
    sign: (fields?: Fields) => sign(privateKey.keyPacket, fields),
    signBySubkey: (fields?: Fields) => sign(secret.keyPacket, fields),
  };
}

export function packetsOf(...packets: readonly Packet[]): Uint8Array {
  const list = new openpgp.PacketList<openpgp.AnyPacket>();
  list.push(...packets);
  return list.write();
}

export function armor(octets: Uint8Array): string {
  return openpgp.armor(armors.publicKey, octets);
}

/** An armored certificate. */
export async function block(
  ...packets: readonly (Packet | Promise<Packet>)[]
): Promise<string> {
  const list: Packet[] = [];
  for (const one of packets) list.push(await one);
  return armor(packetsOf(...list));
}

export function decide(
  keys: readonly string[],
  signature: Uint8Array,
  profile: SignatureProfile = "terraform",
): Promise<SignatureDecision> {
  return decideSignature({ document, signature, keys, profile, now });
}

/** "ok", or the reason of the refusal. */
export async function outcome(
  ...asked: Parameters<typeof decide>
): Promise<string> {
  const decision = await decide(...asked);
  return decision.accepted ? "ok" : decision.reason;
}
