import { takeNumber, type Octets } from "./octets.ts";

/** A multiprecision integer as it stands (RFC 9580, 3.2). */
export interface Mpi {
  readonly bytes: Uint8Array;
  /** Significant bits of the value. */
  readonly bits: number;
}

/** Throws Unreadable. */
export function takeMpi(octets: Octets): Mpi {
  const bytes = octets.take(Math.ceil(takeNumber(octets, 2) / 8));
  const value = trimZeros(bytes);
  const bits =
    value.length === 0 ? 0 : value.length * 8 - Math.clz32(value[0] ?? 0) + 24;
  return { bytes, bits };
}

/** Without leading zero octets. */
export function trimZeros(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((octet) => octet !== 0);
  return first < 0 ? bytes.subarray(bytes.length) : bytes.subarray(first);
}

/**
 * Pads with leading zero octets to `length`. Returns undefined when the value
 * is longer.
 */
export function padZeros(
  bytes: Uint8Array,
  length: number,
): Uint8Array | undefined {
  if (bytes.length > length) return undefined;
  const padded = new Uint8Array(length);
  padded.set(bytes, length - bytes.length);
  return padded;
}

/** An unsigned big-endian field. */
export function formatNumber(value: number, octets: number): Uint8Array {
  const field = Buffer.alloc(octets);
  field.writeUIntBE(value, 0, octets);
  return field;
}

/** Upper-case hexadecimal. */
export function formatHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    .toString("hex")
    .toUpperCase();
}
