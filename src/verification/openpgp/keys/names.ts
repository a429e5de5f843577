import { PacketReader } from "../packets/packet-reader.ts";
import { unarmorSigningKeys } from "./armor.ts";

/** UTF-16 code units of armored text and of a name that are read; a publisher's own key is far below. */
const longestBlock = 64 * 1024;
const longestName = 200;

/**
 * The first user ID of each primary key, by its fingerprint, as the key calls
 * itself: no signature is verified, so that it decides nothing. A block that is
 * too long, or cannot be read, has none.
 */
export function readKeyNames(
  blocks: readonly string[],
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const block of blocks)
    if (block.length <= longestBlock)
      try {
        readNames(block, names);
      } catch {
        // Whether a key is good was decided elsewhere.
      }
  return names;
}

function readNames(block: string, names: Map<string, string>): void {
  const reader = new PacketReader(unarmorSigningKeys(block, true));
  let fingerprint: string | undefined;
  for (let packet = reader.next(); packet; packet = reader.next()) {
    if (packet.kind === "key" && !packet.isSubkey)
      fingerprint = packet.key.fingerprint.toUpperCase();
    if (packet.kind !== "userId" || fingerprint === undefined) continue;
    const name = new TextDecoder().decode(packet.id).slice(0, longestName);
    if (!names.has(fingerprint)) names.set(fingerprint, name);
  }
}
