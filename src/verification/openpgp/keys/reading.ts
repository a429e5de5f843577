import type { Arithmetic } from "../packets/arithmetic.ts";
import { PacketReader } from "../packets/packet-reader.ts";
import { Malformed, Refused, Unreadable } from "../packets/refusal.ts";
import { unarmorSigningKeys } from "./armor.ts";
import { assembleSigningKey } from "./assembly.ts";
import type { SigningKey } from "./signing-key.ts";

/**
 * The usable keys of an armored block, as go-crypto's ReadArmoredKeyRing finds them: every signature that a key makes
 * about itself is verified now. A key with a fault is passed over; unreadable octets, or no usable key, refuse the block.
 * `trimmed` is that of unarmorSigningKeys. Throws Refused.
 */
export function readSigningKeys(
  armored: string,
  trimmed: boolean,
  arithmetic: Arithmetic,
): readonly SigningKey[] {
  const reader = new PacketReader(unarmorSigningKeys(armored, trimmed));
  try {
    return readRing(reader, arithmetic);
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

function readRing(
  reader: PacketReader,
  arithmetic: Arithmetic,
): readonly SigningKey[] {
  const keys: SigningKey[] = [];
  let fault: Error | undefined;
  for (let isOver = false; !isOver;) {
    try {
      const key = assembleSigningKey(reader, arithmetic);
      if (key) keys.push(key);
      isOver = key === undefined;
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      fault = error;
      skipToPublicKey(reader);
    }
  }
  if (keys.length === 0 && fault !== undefined) throw fault;
  return keys;
}

/** A second fault before the next key makes the whole block unreadable. */
function skipToPublicKey(reader: PacketReader): void {
  for (;;) {
    try {
      const packet = reader.next();
      if (packet === undefined) return;
      if (packet.kind !== "key" || packet.isSubkey || packet.isSecret) continue;
      reader.putBack(packet);
      return;
    } catch (error) {
      throw error instanceof Malformed ? new Unreadable(error.message) : error;
    }
  }
}
