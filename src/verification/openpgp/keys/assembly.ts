import { checkSecretKey, isMadeBy } from "../packets/arithmetic.ts";
import {
  isIssuedBy,
  signatureTypes,
  type SignaturePacket,
} from "../packets/signature-packet.ts";
import { Malformed } from "../packets/refusal.ts";
import type { PublicKey } from "../packets/key-packet.ts";
import type { PacketQueue, WholePacket } from "./queue.ts";
import type { SigningKey, Subkey, UserId } from "./signing-key.ts";

interface Parts {
  /** By their octets: a later user ID of the same name replaces the earlier one. */
  readonly userIds: Map<string, UserId>;
  readonly subkeys: Subkey[];
  readonly revocations: SignaturePacket[];
  readonly direct: SignaturePacket[];
}

type KeyPacket = Extract<WholePacket, { kind: "key" }>;

const signingAlgorithms = [1, 3, 17, 19, 22, 27, 28];
const signFlag = 0x02;
const certifications: readonly number[] = [
  ...[0x10, 0x11, 0x12, 0x13],
  signatureTypes.certificationRevocation,
];

/** Takes one key up to the next primary key, and verifies what it says about itself. Throws Malformed, Unreadable or Refused. */
export async function assembleSigningKey(
  queue: PacketQueue,
): Promise<SigningKey> {
  const primary = await takePrimary(queue);
  const parts = await takeParts(queue, primary);
  if (primary.version < 6 && parts.userIds.size === 0)
    throw new Malformed("a key without a verified user ID");
  const directSignature =
    primary.version === 6
      ? await findDirectSignature(primary, parts.direct)
      : undefined;
  for (const revocation of parts.revocations)
    if (!(await isMadeBy(revocation, primary, primary.hashed)))
      throw new Malformed("a key revocation that does not verify");
  const { subkeys, revocations } = parts;
  const userIds = [...parts.userIds.values()];
  return { primary, revocations, userIds, subkeys, directSignature };
}

async function takePrimary(queue: PacketQueue): Promise<PublicKey> {
  const packet = queue.take();
  if (packet?.kind !== "key") {
    queue.putBack();
    throw new Malformed("the first packet is not a key");
  }
  const key = await checkKey(packet);
  if (!signingAlgorithms.includes(key.algorithm))
    throw new Malformed("a primary key that cannot sign");
  return key;
}

async function checkKey({ key, secret }: KeyPacket): Promise<PublicKey> {
  if (secret) await checkSecretKey(secret, key);
  return key;
}

/** Signatures elsewhere than after what they are about, and packets of other kinds, are passed over. */
async function takeParts(
  queue: PacketQueue,
  primary: PublicKey,
): Promise<Parts> {
  const parts: Parts = {
    userIds: new Map(),
    subkeys: [],
    revocations: [],
    direct: [],
  };
  for (let packet = queue.take(); packet; packet = queue.take()) {
    if (packet.kind === "key") {
      if (!packet.isSubkey) break;
      const key = await checkKey(packet);
      parts.subkeys.push(await takeSubkey(queue, primary, key));
    } else if (packet.kind === "userId") {
      const userId = await takeUserId(queue, primary, packet.id);
      if (userId)
        parts.userIds.set(Buffer.from(packet.id).toString("latin1"), userId);
    } else if (packet.kind === "signature") {
      const { signature } = packet;
      if (signature.type === signatureTypes.keyRevocation)
        parts.revocations.push(signature);
      if (signature.type === signatureTypes.directKey)
        parts.direct.push(signature);
    }
  }
  queue.putBack();
  return parts;
}

/** Undefined without a signature by the primary; those of others are not looked at. */
async function takeUserId(
  queue: PacketQueue,
  primary: PublicKey,
  id: Uint8Array,
): Promise<UserId | undefined> {
  const certified: SignaturePacket[] = [];
  const signed = formatUserId(primary, id);
  for (const signature of queue.signatures()) {
    if (!certifications.includes(signature.type))
      throw new Malformed("a signature of another type after a user ID");
    if (!isIssuedBy(signature, primary)) continue;
    if (!(await isMadeBy(signature, primary, signed)))
      throw new Malformed("a user ID self-signature that does not verify");
    certified.push(signature);
  }
  if (certified.length === 0) return undefined;
  const [revocations, others] = partition(
    certified,
    signatureTypes.certificationRevocation,
  );
  return { selfSignature: findNewest(others), revocations };
}

function formatUserId(primary: PublicKey, id: Uint8Array): Uint8Array {
  const prefix = Buffer.of(0xb4, 0, 0, 0, 0);
  prefix.writeUInt32BE(id.length, 1);
  return Buffer.concat([primary.hashed, prefix, id]);
}

async function takeSubkey(
  queue: PacketQueue,
  primary: PublicKey,
  key: PublicKey,
): Promise<Subkey> {
  const signatures: SignaturePacket[] = [];
  for (const signature of queue.signatures()) {
    await verifyBinding(signature, primary, key);
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

/** A subkey that may sign must have signed back, or anybody could claim it. Throws Malformed. */
async function verifyBinding(
  signature: SignaturePacket,
  primary: PublicKey,
  key: PublicKey,
): Promise<void> {
  const { subkeyBinding, subkeyRevocation } = signatureTypes;
  if (signature.type !== subkeyBinding && signature.type !== subkeyRevocation)
    throw new Malformed("a signature of another type after a subkey");
  const signed = Buffer.concat([primary.hashed, key.hashed]);
  if (!(await isMadeBy(signature, primary, signed)))
    throw new Malformed("a subkey binding that does not verify");
  if (((signature.keyFlags ?? 0) & signFlag) === 0) return;
  const { crossSignature } = signature;
  if (!crossSignature)
    throw new Malformed("a signing subkey without a cross-signature");
  if (!(await isMadeBy(crossSignature, key, signed)))
    throw new Malformed("a cross-signature that does not verify");
}

async function findDirectSignature(
  primary: PublicKey,
  signatures: readonly SignaturePacket[],
): Promise<SignaturePacket> {
  const own = signatures.filter((one) => isIssuedBy(one, primary));
  const newest = findNewest(own);
  if (!newest || !(await isMadeBy(newest, primary, primary.hashed)))
    throw new Malformed("a v6 key without a valid direct-key signature");
  return newest;
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
