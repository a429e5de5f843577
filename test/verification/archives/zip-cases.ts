import { crc32, deflateRawSync } from "node:zlib";
import { zipBytes, type ZipPart } from "./zip-bytes.ts";

export const text = "# main\n";
export const main: ZipPart = {
  name: "main.tf",
  content: text,
  deflate: true,
  attributes: 0o100644 * 0x10000,
};
export const hidden: ZipPart = {
  ...main,
  name: "hidden.tf",
  content: "# hidden\n",
};

export const one = (lie: Partial<ZipPart>) => zipBytes([{ ...main, ...lie }]);
export const two = (lie: Partial<ZipPart>) =>
  zipBytes([main, { ...hidden, ...lie }]);

/** A zip's entries without its directory and end. */
export function entriesOf(parts: readonly ZipPart[]): Buffer {
  const bytes = zipBytes(parts);
  return bytes.subarray(0, bytes.readUInt32LE(bytes.length - 6));
}

export function field(id: number, data: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(id, 0);
  head.writeUInt16LE(data.length, 2);
  return Buffer.concat([head, data]);
}

export function unicodePath(name: string, plain: string): Buffer {
  const head = Buffer.alloc(5);
  head[0] = 1;
  head.writeUInt32LE(crc32(plain), 1);
  return field(0x7075, Buffer.concat([head, Buffer.from(name)]));
}

export function sizes(...values: readonly number[]): Buffer {
  const data = Buffer.alloc(values.length * 8);
  values.forEach((value, index) =>
    data.writeBigUInt64LE(BigInt(value), index * 8),
  );
  return field(1, data);
}

export const full = 0xffffffff;
export const size = Buffer.alloc(8);
size.writeBigUInt64LE(BigInt(text.length));
/** The size of the content in 64 bits, and the number of the disk that it is on. */
export const onDisk = (disk: number) =>
  field(1, Buffer.concat([size, Buffer.of(disk, 0, 0, 0)]));

/** A data descriptor of what `main` holds, with or without its signature, whose sizes have so many octets. */
export function descriptor(
  octets: 4 | 8,
  signature?: number,
  lengths: readonly [number, number] = [
    deflateRawSync(text).length,
    text.length,
  ],
  crc = crc32(text),
): Buffer {
  const bytes = Buffer.alloc(8 + 2 * octets);
  bytes.writeUInt32LE(signature ?? 0, 0);
  bytes.writeUInt32LE(crc, 4);
  lengths.forEach((value, index) =>
    octets === 8
      ? bytes.writeBigUInt64LE(BigInt(value), 8 + index * octets)
      : bytes.writeUInt32LE(value, 8 + index * octets),
  );
  return bytes.subarray(signature === undefined ? 4 : 0);
}
export const signature = 0x08074b50;
export const plain = one({});

/** With the lowest bit of a byte changed, so far before the end. */
export function patched(bytes: Buffer, before: number): Buffer {
  const copy = Buffer.from(bytes);
  const at = copy.length - before;
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return copy;
}

export const described = (bytes: Buffer) => one({ flags: 8, described: bytes });
