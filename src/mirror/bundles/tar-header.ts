/** A regular file in a bundle. */
export interface TarMember {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

export const tarBlock = 512;

/** Largest size that a header's eleven octal digits can hold. */
export const largestMember = 8 ** 11 - 1;

/** Two blocks of zeros (POSIX ustar, "end-of-archive indicator"). */
export const tarEnd = Buffer.alloc(2 * tarBlock);

/**
 * Formats the one header that a bundle has for a member (POSIX ustar). It is a
 * regular file of user 0, readable by all, of 1970.
 * A reader compares it byte for byte, so links, devices and long names cannot
 * occur.
 */
export function formatTarHeader({ name, size }: TarMember): Buffer {
  const header = Buffer.alloc(tarBlock);
  const put = (offset: number, text: string) => header.write(text, offset);
  put(0, name);
  put(100, "0000644\0");
  put(108, "0000000\0");
  put(116, "0000000\0");
  put(124, `${octal(size, 11)}\0`);
  put(136, `${octal(0, 11)}\0`);
  put(148, " ".repeat(8));
  put(156, "0");
  put(257, "ustar\x0000");
  put(329, "0000000\0");
  put(337, "0000000\0");
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  put(148, `${octal(checksum, 6)}\0 `);
  return header;
}

/** The size that a header claims; undefined when it claims none. */
export function readTarSize(header: Uint8Array): number | undefined {
  const text = Buffer.from(header).toString("latin1", 124, 136);
  return /^[0-7]{11}\0$/.test(text) ? parseInt(text, 8) : undefined;
}

/** Zeros between a member's last byte and the next header. */
export function tarPadding(size: number): number {
  return (tarBlock - (size % tarBlock)) % tarBlock;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}
