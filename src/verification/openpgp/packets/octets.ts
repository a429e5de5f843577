import { EndOfPackets, Unreadable } from "./refusal.ts";

/** Fields are taken from the front of it. */
export interface Octets {
  /** Exactly so many; throws Unreadable when there are fewer. */
  take(length: number): Uint8Array;
}

/** An unsigned big-endian number of 1 to 4 octets; throws Unreadable. */
export function takeNumber(octets: Octets, length: number): number {
  return octets.take(length).reduce((sum, octet) => sum * 256 + octet, 0);
}

const none = new Uint8Array();

/** All octets of a block, of which packets take what they want. */
export class OctetSource implements Octets {
  readonly #bytes: Uint8Array;
  readonly #fault: string | undefined;
  #position = 0;

  /** `fault`: why the octets end where they do, unless that is the end of the block. */
  constructor(bytes: Uint8Array, fault?: string) {
    this.#bytes = bytes;
    this.#fault = fault;
  }

  /** At least one of so many, none at the end; throws Unreadable where a fault ends them. */
  takeSome(most: number): Uint8Array {
    const end = Math.min(this.#position + most, this.#bytes.length);
    const octets = this.#bytes.subarray(this.#position, end);
    if (octets.length === 0 && most > 0 && this.#fault !== undefined)
      throw new Unreadable(this.#fault);
    this.#position = end;
    return octets;
  }

  take(length: number): Uint8Array {
    const octets = this.takeSome(length);
    if (octets.length < length) throw tooFew(length, octets.length);
    return octets;
  }
}

/** A length field of the current format; `isPartial` when further parts follow (RFC 9580, 4.2.1). Throws Unreadable. */
export function takeLength(source: Octets): {
  readonly length: number;
  readonly isPartial: boolean;
} {
  const first = takeNumber(source, 1);
  if (first < 192) return { length: first, isPartial: false };
  if (first < 224) {
    const length = (first - 192) * 256 + takeNumber(source, 1) + 192;
    return { length, isPartial: false };
  }
  if (first < 255) return { length: 2 ** (first & 0x1f), isPartial: true };
  return { length: takeNumber(source, 4), isPartial: false };
}

/** What one packet says that it holds; what it is not asked for stays in the source, where the next packet begins. */
export class Contents implements Octets {
  readonly #source: OctetSource;
  #left: number;
  #isPartial: boolean;

  /** `length` is that of the first part; Infinity for all that is there. */
  constructor(source: OctetSource, length = Infinity, isPartial = false) {
    this.#source = source;
    this.#left = length;
    this.#isPartial = isPartial;
  }

  take(length: number): Uint8Array {
    const octets = this.takeAtMost(length);
    if (octets.length < length) throw tooFew(length, octets.length);
    return octets;
  }

  /** Like take(); throws EndOfPackets when there is not even one. */
  takeOrEnd(length: number): Uint8Array {
    const octets = this.takeAtMost(length);
    if (octets.length === 0 && length > 0) throw new EndOfPackets("the end");
    if (octets.length < length) throw tooFew(length, octets.length);
    return octets;
  }

  /** As many as there are up to `most`; throws Unreadable when the packet is cut. */
  takeAtMost(most: number): Uint8Array {
    const parts: Uint8Array[] = [];
    let missing = most;
    while (missing > 0) {
      const part = this.#takeSome(missing);
      if (part.length === 0) break;
      parts.push(part);
      missing -= part.length;
    }
    return parts.length > 1 ? Buffer.concat(parts) : (parts[0] ?? none);
  }

  takeRest(): Uint8Array {
    return this.takeAtMost(Infinity);
  }

  /** Nothing of padding in several parts is skipped, as in go-crypto. Throws Unreadable. */
  skipPadding(): void {
    if (!this.#isPartial) this.takeRest();
  }

  /** Leaves the source after the packet, or where its parts cannot be told apart. */
  skip(): void {
    try {
      while (this.#takeSome(Infinity).length > 0);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
    }
  }

  #takeSome(most: number): Uint8Array {
    while (this.#left === 0) {
      if (!this.#isPartial) return none;
      const next = takeLength(this.#source);
      this.#left = next.length;
      this.#isPartial = next.isPartial;
    }
    const octets = this.#source.takeSome(Math.min(most, this.#left));
    if (octets.length === 0 && this.#left !== Infinity)
      throw new Unreadable("a packet is cut");
    this.#left -= octets.length;
    return octets;
  }
}

/** Keeps what was taken through it. */
export class Recording implements Octets {
  readonly #octets: Octets;
  readonly #taken: Uint8Array[] = [];

  constructor(octets: Octets) {
    this.#octets = octets;
  }

  take(length: number): Uint8Array {
    const octets = this.#octets.take(length);
    this.#taken.push(octets);
    return octets;
  }

  get taken(): Uint8Array {
    return Buffer.concat(this.#taken);
  }
}

function tooFew(expected: number, got: number): Unreadable {
  return new Unreadable(`${expected} octets expected, ${got} there`);
}
