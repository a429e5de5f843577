import { readPackets } from "../packets/signature-packets.ts";
import { Malformed, Refused, Unreadable } from "../packets/refusal.ts";
import { signatureLimits } from "../packets/limits.ts";
import { unarmorSigningKeys } from "./armor.ts";
import { assembleSigningKey } from "./assembly.ts";
import { PacketQueue, type WholePacket } from "./queue.ts";
import type { SigningKey } from "./signing-key.ts";

/**
 * The usable keys of an armored block, as go-crypto's ReadArmoredKeyRing finds them: every signature that a key makes
 * about itself is verified now. A key with a fault is passed over; unreadable octets, or no usable key, refuse the block.
 * `trimmed` is that of unarmorSigningKeys. Throws Refused.
 */
export async function readSigningKeys(
  armored: string,
  trimmed: boolean,
): Promise<readonly SigningKey[]> {
  try {
    const octets = unarmorSigningKeys(armored, trimmed);
    return await readRing(new PacketQueue([...readPackets(octets)]));
  } catch (error) {
    if (error instanceof Malformed)
      throw new Refused(
        "unusable-key",
        `no signing key is usable: ${error.message}`,
      );
    if (error instanceof Unreadable)
      throw new Refused(
        "unreadable-key",
        `a signing key is unreadable: ${error.message}`,
      );
    throw error;
  }
}

async function readRing(queue: PacketQueue): Promise<readonly SigningKey[]> {
  const keys: SigningKey[] = [];
  let fault: Malformed | undefined;
  while (!queue.isEmpty) {
    try {
      keys.push(await assembleSigningKey(queue));
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      fault = error;
      skipToPublicKey(queue);
    }
    if (keys.length > signatureLimits.keys)
      throw new Refused(
        "limits",
        `more than ${signatureLimits.keys} signing keys`,
      );
  }
  if (keys.length === 0 && fault !== undefined) throw fault;
  return keys;
}

/** A second fault before the next key makes the whole block unreadable. */
function skipToPublicKey(queue: PacketQueue): void {
  try {
    let packet = queue.take();
    while (packet && !isPublicPrimary(packet)) packet = queue.take();
    if (packet) queue.putBack();
  } catch (error) {
    throw error instanceof Malformed ? new Unreadable(error.message) : error;
  }
}

function isPublicPrimary(packet: WholePacket): boolean {
  return packet.kind === "key" && !packet.isSubkey && !packet.secret;
}
