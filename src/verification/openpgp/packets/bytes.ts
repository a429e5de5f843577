import { Unreadable } from "./refusal.ts";

/** Takes fields from the front of `bytes`; throws Unreadable where they end too early. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get position(): number {
    return this.#position;
  }

  get left(): number {
    return this.#bytes.length - this.#position;
  }

  take(length: number): Uint8Array {
    if (length > this.left)
      throw new Unreadable(`${length} octets expected, ${this.left} there`);
    this.#position += length;
    return this.#bytes.subarray(this.#position - length, this.#position);
  }

  /** An unsigned big-endian number of 1 to 4 octets. */
  number(octets: number): number {
    return this.take(octets).reduce((sum, octet) => sum * 256 + octet, 0);
  }
}

/** A multiprecision integer (RFC 9580, 3.2). */
export interface Mpi {
  readonly bytes: Uint8Array;
  /** Significant bits of the value. */
  readonly bits: number;
  /** False when its length field is neither the value's bits nor all bits of its octets. */
  readonly exact: boolean;
}

export function readMpi(reader: ByteReader): Mpi {
  const claimed = reader.number(2);
  const bytes = reader.take(Math.ceil(claimed / 8));
  const first = bytes.findIndex((octet) => octet !== 0);
  const bits =
    first < 0
      ? 0
      : (bytes.length - first) * 8 - Math.clz32(bytes[first] ?? 0) + 24;
  return {
    bytes,
    bits,
    exact: claimed === bits || claimed === bytes.length * 8,
  };
}

/** Upper-case hexadecimal. */
export function formatHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex").toUpperCase();
}
