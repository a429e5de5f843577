import { Unreadable, Unsupported } from "./refusal.ts";

/**
 * Octets of a block. Fields are read from its front, and inside an open packet
 * only up to the packet's length. Unread octets of a packet are the next
 * packet.
 */
export class Octets {
  readonly #bytes: Uint8Array;
  #fault: string | undefined;
  #at = 0;
  #end = Infinity;

  /** `fault`: why the octets end where they do, unless that is the end of the block. */
  constructor(bytes: Uint8Array, fault?: string) {
    this.#bytes = bytes;
    this.#fault = fault;
  }

  /** Number of octets taken or skipped. */
  get position(): number {
    return this.#at;
  }

  /** True behind the last one; throws Unreadable where a fault ends them. */
  get isOver(): boolean {
    if (this.#at < this.#bytes.length) return false;
    if (this.#fault !== undefined) throw new Unreadable(this.#fault);
    return true;
  }

  /** Opens a packet of so many octets; Infinity for all that there are. */
  open(length: number): void {
    this.#end = this.#at + length;
  }

  /** Leaves the packet where it is read to. */
  close(): void {
    this.#end = Infinity;
  }

  /** Passes over the rest of the packet, or to where it is cut. */
  skip(): void {
    const end = Math.min(this.#end, this.#bytes.length);
    this.#at = Math.max(this.#at, end);
  }

  /** Exactly so many; throws Unreadable when there are fewer. */
  take(length: number): Uint8Array {
    const end = this.#at + length;
    const there = Math.min(this.#end, this.#bytes.length) - this.#at;
    if (length > there)
      throw new Unreadable(
        this.#fault ?? `${length} octets expected, ${there} there`,
      );
    const octets = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return octets;
  }

  /** Like take(), but all packets end where the open one has not even one octet, as in go-crypto. */
  takeOrEnd(length: number): Uint8Array {
    const isEmpty =
      this.#end === Infinity ? this.isOver : this.#at >= this.#end;
    if (isEmpty) {
      this.#at = this.#bytes.length;
      this.#fault = undefined;
      throw new Unsupported("the end");
    }
    return this.take(length);
  }

  /** All that is left of the packet; throws Unreadable when it is cut. */
  takeRest(): Uint8Array {
    const isCut = this.#end !== Infinity || this.#fault !== undefined;
    const end = isCut ? this.#end : this.#bytes.length;
    return this.take(end - this.#at);
  }

  /** Those from a position on that were taken. */
  since(position: number): Uint8Array {
    return this.#bytes.subarray(position, this.#at);
  }
}

/** An unsigned big-endian number of 1 to 4 octets; throws Unreadable. */
export function takeNumber(octets: Octets, length: number): number {
  return octets.take(length).reduce((sum, octet) => sum * 256 + octet, 0);
}

/** A length field of the current format (RFC 9580, 4.2.1). Throws Unreadable, also for a packet in parts, which only data may be. */
export function takeLength(octets: Octets): number {
  const first = takeNumber(octets, 1);
  if (first < 192) return first;
  if (first < 224) return (first - 192) * 256 + takeNumber(octets, 1) + 192;
  if (first < 255) throw new Unreadable("a packet comes in parts");
  return takeNumber(octets, 4);
}
