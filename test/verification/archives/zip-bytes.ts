import { crc32, deflateRawSync } from "node:zlib";

/** One entry to write; every field but name and content may lie. */
export interface ZipPart {
  readonly name: string | Buffer;
  readonly content: string | Buffer;
  readonly deflate?: boolean;
  readonly method?: number;
  readonly flags?: number;
  readonly crc32?: number;
  readonly size?: number;
  readonly raw?: Buffer;
  readonly rawBytes?: number;
  readonly extra?: Buffer;
  /** In the header before its content. */
  readonly localName?: string;
  /** Instead of the data descriptor, or where none belongs. */
  readonly described?: Buffer;
  readonly attributes?: number;
  /** Offset of the local header that the directory gives. */
  readonly headerStart?: number;
}

export interface ZipShape {
  readonly before?: Buffer;
  readonly comment?: Buffer;
  readonly afterDirectory?: Buffer;
  readonly entryCount?: number;
  readonly directoryBytes?: number;
  readonly directoryStart?: number;
}

/** The one file of a package. */
export const executable: ZipPart = {
  name: "terraform-provider-null_v1.0.0_x5",
  content: "#!/bin/sh\n",
  deflate: true,
};

/** Numbers of so many octets each, the least octet first. */
export function le(
  octets: 2 | 4 | 8,
  ...numbers: readonly number[]
): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(octets * numbers.length);
  for (const [at, number] of numbers.entries())
    bytes.writeUIntLE(number, at * octets, Math.min(octets, 6));
  return bytes;
}

/** A zip made byte by byte (APPNOTE 4.3), so that hostile shapes can be made too; the same input gives the same bytes. */
export function zipBytes(
  parts: readonly ZipPart[],
  shape: ZipShape = {},
): Buffer {
  let files = shape.before ?? Buffer.alloc(0);
  let directory = Buffer.alloc(0);
  for (const part of parts) {
    const start = part.headerStart ?? files.length;
    directory = Buffer.concat([directory, directoryHeader(part, start)]);
    files = Buffer.concat([files, localFile(part)]);
  }
  const count = shape.entryCount ?? parts.length;
  const size = shape.directoryBytes ?? directory.length;
  const start = shape.directoryStart ?? files.length;
  const comment = shape.comment ?? Buffer.alloc(0);
  const before = shape.afterDirectory ?? Buffer.alloc(0);
  return Buffer.concat([
    ...[files, directory, before, le(4, 0x06054b50)],
    le(2, 0, 0, count, count),
    ...[le(4, size, start), le(2, comment.length), comment],
  ]);
}

/** The same archive with a zip64 end record and its locator, which the plain end record announces by full fields. */
export function zip64Bytes(
  parts: readonly ZipPart[],
  shape: ZipShape = {},
): Buffer {
  const plain = zipBytes(parts);
  const position = plain.length - 22;
  const start = plain.readUInt32LE(position + 16);
  const size = plain.readUInt32LE(position + 12);
  const record = Buffer.concat([
    ...[le(4, 0x06064b50), le(8, 44), le(2, 45, 45), le(4, 0, 0)],
    le(8, parts.length, parts.length, size, start),
  ]);
  const locator = [le(4, 0x07064b50, 0), le(8, position), le(4, 1)];
  return zipBytes(parts, {
    afterDirectory: Buffer.concat([record, ...locator]),
    entryCount: 0xffff,
    directoryBytes: 0xffffffff,
    directoryStart: 0xffffffff,
    ...shape,
  });
}

function localFile(part: ZipPart): Buffer {
  const name = Buffer.from(part.localName ?? part.name);
  const [raw, { content, flags = 0 }] = [rawOf(part), part];
  const hasDescriptor = (flags & 8) !== 0;
  const sizes = [crc32(content), raw.length, Buffer.from(content).length];
  const descriptor = hasDescriptor ? [0x08074b50, ...sizes] : [];
  return Buffer.concat([
    ...[le(4, 0x04034b50), le(2, 20), common(part)],
    ...[le(2, name.length, 0), name, raw],
    part.described ?? le(4, ...descriptor),
  ]);
}

function directoryHeader(part: ZipPart, start: number): Buffer {
  const name = Buffer.from(part.name);
  const extra = part.extra ?? Buffer.alloc(0);
  const { attributes = 0o100755 * 0x10000 } = part;
  return Buffer.concat([
    ...[le(4, 0x02014b50), le(2, 3 * 0x100 + 20, 20), common(part)],
    ...[le(2, name.length, extra.length, 0, 0, 0), le(4, attributes, start)],
    ...[name, extra],
  ]);
}

/** The 20 bytes that both headers share: flags, method, time, date, CRC, sizes. */
function common(part: ZipPart): Buffer {
  const content = Buffer.from(part.content);
  const method = part.method ?? (part.deflate ? 8 : 0);
  const { rawBytes = rawOf(part).length, size = content.length } = part;
  return Buffer.concat([
    le(2, part.flags ?? 0, method, 0, 0x21),
    le(4, part.crc32 ?? crc32(content), rawBytes, size),
  ]);
}

function rawOf(part: ZipPart): Buffer {
  const content = Buffer.from(part.content);
  return part.raw ?? (part.deflate ? deflateRawSync(content) : content);
}
