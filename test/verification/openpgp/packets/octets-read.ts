import { Octets } from "../../../../src/verification/openpgp/packets/octets.ts";
import type { Malformed } from "../../../../src/verification/openpgp/packets/refusal.ts";

/** Octets from words such as `3` or, for eight zeros, `0*8`. */
export function octetsOf(words: string): Uint8Array {
  return Uint8Array.from(
    words.split(" ").flatMap((word) => {
      const [octet = "", times = "1"] = word.split("*");
      return octet === ""
        ? []
        : Array.from({ length: Number(times) }, () => Number(octet));
    }),
  );
}

/** `read`, with the number of octets that are not, or the name of the refusal; a packet that says to have `length` octets. */
export function outcomeOf(
  read: (octets: Octets) => void,
  words: string,
  length = Infinity,
): string {
  const octets = new Octets(octetsOf(words));
  octets.open(length);
  try {
    read(octets);
  } catch (error) {
    return (error as Malformed).constructor.name;
  }
  octets.close();
  const left = octets.takeRest().length;
  return left === 0 ? "read" : `read, ${left} left`;
}
