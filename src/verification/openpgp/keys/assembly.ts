import { canSign } from "../packets/algorithms.ts";
import type { Arithmetic } from "../packets/arithmetic.ts";
import type { PublicKey } from "../packets/key-packet.ts";
import type { Packet, PacketReader } from "../packets/packet-reader.ts";
import { Malformed, Unreadable } from "../packets/refusal.ts";
import {
  isIssuedBy,
  signatureTypes,
  type SignaturePacket,
} from "../packets/signature-packet.ts";
import type { SigningKey, Subkey, UserId } from "./signing-key.ts";

const signFlag = 0x02;
const certifications: readonly number[] = [
  ...[0x10, 0x11, 0x12, 0x13],
  signatureTypes.certificationRevocation,
];

/**
 * Reads one key up to the next primary key, and verifies its own signatures.
 * Undefined at the end. Throws Malformed, Unreadable or Refused.
 */
export function assembleSigningKey(
  reader: PacketReader,
  arithmetic: Arithmetic,
): SigningKey | undefined {
  const packet = reader.next();
  if (packet === undefined) return undefined;
  if (packet.kind !== "key")
    throw new Malformed("the first packet is not a key");
  if (!canSign(packet.key.algorithm))
    throw new Malformed("a primary key that cannot sign");
  const assembly = new Assembly(reader, arithmetic, packet.key);
  assembly.takeParts();
  return assembly.finish();
}

/** One key while its packets are read. */
class Assembly {
  readonly #reader: PacketReader;
  readonly #arithmetic: Arithmetic;
  readonly #primary: PublicKey;
  /**
   * User IDs by their octets: a later user ID of the same name replaces the
   * earlier one.
   */
  readonly #userIds = new Map<string, UserId>();
  readonly #subkeys: Subkey[] = [];
  readonly #revocations: SignaturePacket[] = [];
  readonly #direct: SignaturePacket[] = [];

  constructor(
    reader: PacketReader,
    arithmetic: Arithmetic,
    primary: PublicKey,
  ) {
    this.#reader = reader;
    this.#arithmetic = arithmetic;
    this.#primary = primary;
  }

  /** Signatures elsewhere than after what they are about, and packets of other kinds, are passed over. */
  takeParts(): void {
    const reader = this.#reader;
    for (let packet = reader.next(); packet; packet = reader.next()) {
      if (packet.kind === "key" && !packet.isSubkey) {
        reader.putBack(packet);
        return;
      }
      this.#takePart(packet);
    }
  }

  #takePart(packet: Packet): void {
    if (packet.kind === "key") this.#takeSubkey(packet.key);
    else if (packet.kind === "userId") this.#takeUserId(packet.id);
    else if (packet.kind === "signature") {
      const { signature } = packet;
      if (signature.type === signatureTypes.keyRevocation)
        this.#revocations.push(signature);
      if (signature.type === signatureTypes.directKey)
        this.#direct.push(signature);
    }
  }

  finish(): SigningKey {
    const primary = this.#primary;
    if (primary.version < 6 && this.#userIds.size === 0)
      throw new Malformed("a key without a verified user ID");
    const directSignature =
      primary.version === 6 ? this.#findDirectSignature() : undefined;
    for (const revocation of this.#revocations)
      if (!this.#isOwn(revocation, primary.hashed))
        throw new Malformed("a key revocation that does not verify");
    return {
      ...{ primary, directSignature },
      revocations: this.#revocations,
      userIds: [...this.#userIds.values()],
      subkeys: this.#subkeys,
    };
  }

  /**
   * Adds a user ID that the primary key signed. Signatures of other keys cost
   * nothing.
   */
  #takeUserId(id: Uint8Array): void {
    const own: SignaturePacket[] = [];
    for (const signature of this.#takeSignatures()) {
      if (!certifications.includes(signature.type))
        throw new Malformed("a signature of another type after a user ID");
      if (!isIssuedBy(signature, this.#primary)) continue;
      if (!this.#isOwn(signature, formatUserId(this.#primary, id)))
        throw new Malformed("a user ID self-signature that does not verify");
      own.push(signature);
    }
    if (own.length === 0) return;
    const [revocations, others] = partition(
      own,
      signatureTypes.certificationRevocation,
    );
    this.#userIds.set(Buffer.from(id).toString("latin1"), {
      selfSignature: findNewest(others),
      revocations,
    });
  }

  /**
   * Adds a subkey. A fault in the packets behind the subkey invalidates this
   * key alone.
   */
  #takeSubkey(key: PublicKey): void {
    try {
      this.#subkeys.push(this.#bind(key));
    } catch (error) {
      if (error instanceof Unreadable) throw new Malformed(error.message);
      throw error;
    }
  }

  /** Each one is verified before the next one is read: after a fault, a second one makes the whole block unreadable. */
  #bind(key: PublicKey): Subkey {
    const signatures: SignaturePacket[] = [];
    for (const signature of this.#takeSignatures()) {
      this.#verifyBinding(signature, key);
      signatures.push(signature);
    }
    const [revocations, bindings] = partition(
      signatures,
      signatureTypes.subkeyRevocation,
    );
    const binding = findNewest(bindings);
    if (!binding) throw new Malformed("a subkey without a binding signature");
    return { key, binding, revocations };
  }

  /**
   * Verifies a subkey's binding. A subkey that may sign must have signed back,
   * or any key could claim it. Throws Malformed.
   */
  #verifyBinding(signature: SignaturePacket, key: PublicKey): void {
    const { subkeyBinding, subkeyRevocation } = signatureTypes;
    if (signature.type !== subkeyBinding && signature.type !== subkeyRevocation)
      throw new Malformed("a signature of another type after a subkey");
    const signed = Buffer.concat([this.#primary.hashed, key.hashed]);
    if (!this.#isOwn(signature, signed))
      throw new Malformed("a subkey binding that does not verify");
    if (((signature.keyFlags ?? 0) & signFlag) === 0) return;
    const { crossSignature } = signature;
    if (!crossSignature)
      throw new Malformed("a signing subkey without a cross-signature");
    if (!this.#arithmetic.isMadeBy(crossSignature, key, signed))
      throw new Malformed("a cross-signature that does not verify");
  }

  #findDirectSignature(): SignaturePacket {
    const own = this.#direct.filter((one) => isIssuedBy(one, this.#primary));
    const newest = findNewest(own);
    if (!newest || !this.#isOwn(newest, this.#primary.hashed))
      throw new Malformed("a v6 key without a valid direct-key signature");
    return newest;
  }

  #isOwn(signature: SignaturePacket, signed: Uint8Array): boolean {
    return this.#arithmetic.isMadeBy(signature, this.#primary, signed);
  }

  /** Those that come next. */
  *#takeSignatures(): Generator<SignaturePacket> {
    const reader = this.#reader;
    for (let packet = reader.next(); packet; packet = reader.next()) {
      if (packet.kind !== "signature") {
        reader.putBack(packet);
        return;
      }
      yield packet.signature;
    }
  }
}

function formatUserId(primary: PublicKey, id: Uint8Array): Uint8Array {
  const prefix = Buffer.of(0xb4, 0, 0, 0, 0);
  prefix.writeUInt32BE(id.length, 1);
  return Buffer.concat([primary.hashed, prefix, id]);
}

/** The first of the newest. */
function findNewest(
  signatures: readonly SignaturePacket[],
): SignaturePacket | undefined {
  return signatures.toSorted((a, b) => b.createdAt - a.createdAt)[0];
}

function partition(
  signatures: readonly SignaturePacket[],
  type: number,
): readonly [readonly SignaturePacket[], readonly SignaturePacket[]] {
  return [
    signatures.filter((one) => one.type === type),
    signatures.filter((one) => one.type !== type),
  ];
}
