import { identify } from "../packets/key-packet.ts";
import { openPacket } from "../packets/packet-reader.ts";
import { unarmorSigningKeys } from "./armor.ts";

/** UTF-16 code units of armored text and of a name that are read; a publisher's own key is far below. */
const longestBlock = 64 * 1024;
const longestName = 200;
/** Lines of a block, of which the longest has 1,024 as programs write them. */
const mostLines = 1_200;
/**
 * Limits of a block: a publisher has one key, and few have hundreds of
 * certifications.
 */
const mostKeys = 16;
const mostPackets = 1_000;

const publicKey = 6;
const userId = 13;

/**
 * The first user ID of each primary key, by its fingerprint, as the key calls
 * itself: no signature is verified, so that it decides nothing. A block that is
 * too long, or cannot be read, has none. The event loop reads it: no field of a key is looked at.
 */
export function readKeyNames(
  blocks: readonly string[],
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const block of blocks)
    if (
      block.length <= longestBlock &&
      block.split("\n", mostLines + 1).length <= mostLines
    )
      try {
        readNames(block, names);
      } catch {
        // Another function decides whether a key is good.
      }
  return names;
}

function readNames(block: string, names: Map<string, string>): void {
  const octets = unarmorSigningKeys(block, true);
  let fingerprint: string | undefined;
  let keys = 0;
  for (let packets = 0; packets < mostPackets && !octets.isOver; packets++) {
    const tag = openPacket(octets);
    const body = octets.takeRest();
    octets.close();
    if (tag === publicKey && ++keys > mostKeys) return;
    if (tag === publicKey)
      fingerprint = identify(body[0] ?? 0, body).fingerprint;
    if (tag !== userId || fingerprint === undefined) continue;
    const name = new TextDecoder().decode(body).slice(0, longestName);
    if (!names.has(fingerprint)) names.set(fingerprint, name);
  }
}
