import {
  armor,
  forgeKey,
  forgeSignature,
  keyFlags,
  packet,
  userIdHashed,
  type ForgedKey,
  type ForgedSignature,
  type Subpacket,
} from "./forge.ts";
import { decideSignature } from "../../src/verification/signature-worker.ts";
import type {
  SignatureDecision,
  SignatureProfile,
} from "../../src/verification/signatures.ts";

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

/** A certificate grows packet by packet, each made by `primary` unless said otherwise. */
export class Certificate {
  readonly primary: ForgedKey;
  readonly packets: Buffer[];

  constructor(primary: ForgedKey = forgeKey(lastYear)) {
    this.primary = primary;
    this.packets = [packet(6, primary.body)];
  }

  /** A signature directly on the primary key. */
  direct(type: number, forged: Partial<ForgedSignature> = {}): this {
    return this.#sign(this.primary.hashed, {
      type,
      createdAt: lastYear,
      ...forged,
    });
  }

  userId(
    id: string,
    subpackets: readonly Subpacket[] = [keyFlags(mayBoth)],
  ): this {
    this.packets.push(packet(13, Buffer.from(id)));
    return this.onUserId(id, 0x13, { subpackets });
  }

  onUserId(
    id: string,
    type: number,
    forged: Partial<ForgedSignature> = {},
  ): this {
    return this.#sign(userIdHashed(this.primary, id), {
      type,
      createdAt: lastYear,
      ...forged,
    });
  }

  /** A subkey that signs, with its cross-signature. */
  signingSubkey(
    subkey: ForgedKey,
    forged: Partial<ForgedSignature> = {},
    cross: Partial<ForgedSignature> = {},
  ): this {
    const signed = Buffer.concat([this.primary.hashed, subkey.hashed]);
    const back = forgeSignature(subkey, signed, {
      type: 0x19,
      createdAt: lastYear,
      ...cross,
    });
    const { subpackets = [keyFlags(maySign)], ...rest } = forged;
    this.packets.push(packet(14, subkey.body));
    return this.onSubkey(subkey, 0x18, {
      ...rest,
      subpackets: [...subpackets, { type: 32, content: back }],
    });
  }

  onSubkey(
    subkey: ForgedKey,
    type: number,
    forged: Partial<ForgedSignature> = {},
  ): this {
    const signed = Buffer.concat([this.primary.hashed, subkey.hashed]);
    return this.#sign(signed, { type, createdAt: lastYear, ...forged });
  }

  octets(): Buffer {
    return Buffer.concat(this.packets);
  }

  armor(): string {
    return armor(this.octets());
  }

  #sign(signed: Buffer, forged: ForgedSignature): this {
    this.packets.push(packet(2, forgeSignature(this.primary, signed, forged)));
    return this;
  }
}

/** A detached signature over `document`, made a month before `now`. */
export function signDocument(
  key: ForgedKey,
  forged: Partial<ForgedSignature> = {},
): Buffer {
  return packet(
    2,
    forgeSignature(key, document, {
      type: 0,
      createdAt: today - 30 * day,
      ...forged,
    }),
  );
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
