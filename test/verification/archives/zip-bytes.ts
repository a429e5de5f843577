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
  /** Fields of the local header that differ; without `extra` it has none. */
  readonly local?: Partial<ZipPart>;
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
  readonly after?: Buffer;
}

/** The one file of a package. */
export const executable: ZipPart = {
  name: "terraform-provider-null_v1.0.0_x5",
  content: "#!/bin/sh\n",
  deflate: true,
};

/** A zip made byte by byte (APPNOTE 4.3), so that hostile shapes can be made too; the same input gives the same bytes. */
export function zipBytes(
  parts: readonly ZipPart[],
  shape: ZipShape = {},
): Buffer {
  const files: Buffer[] = [shape.before ?? Buffer.alloc(0)];
  const directory: Buffer[] = [];
  for (const part of parts) {
    const start = length(files);
    files.push(localFile(part));
    directory.push(directoryHeader(part, part.headerStart ?? start));
  }
  return Buffer.concat([
    ...files,
    ...directory,
    shape.afterDirectory ?? Buffer.alloc(0),
    endRecord({
      entryCount: shape.entryCount ?? parts.length,
      directoryBytes: shape.directoryBytes ?? length(directory),
      directoryStart: shape.directoryStart ?? length(files),
      comment: shape.comment ?? Buffer.alloc(0),
    }),
    shape.after ?? Buffer.alloc(0),
  ]);
}

/** The same archive with a zip64 end record, which the plain end record announces by full fields. */
export function zip64Bytes(
  parts: readonly ZipPart[],
  shape: ZipShape = {},
): Buffer {
  const plain = zipBytes(parts);
  const position = plain.length - 22;
  const directoryStart = plain.readUInt32LE(position + 16);
  const directoryBytes = plain.readUInt32LE(position + 12);
  return zipBytes(parts, {
    afterDirectory: zip64End({
      position,
      entryCount: parts.length,
      directoryBytes,
      directoryStart,
    }),
    entryCount: 0xffff,
    directoryBytes: 0xffffffff,
    directoryStart: 0xffffffff,
    ...shape,
  });
}

/** A zip64 end record and its locator; `position` is where it will lie. */
function zip64End(end: {
  readonly position: number;
  readonly entryCount: number;
  readonly directoryBytes: number;
  readonly directoryStart: number;
}): Buffer {
  const bytes = Buffer.alloc(56 + 20);
  bytes.writeUInt32LE(0x06064b50, 0);
  bytes.writeBigUInt64LE(44n, 4);
  bytes.writeUInt16LE(45, 12);
  bytes.writeUInt16LE(45, 14);
  bytes.writeBigUInt64LE(BigInt(end.entryCount), 24);
  bytes.writeBigUInt64LE(BigInt(end.entryCount), 32);
  bytes.writeBigUInt64LE(BigInt(end.directoryBytes), 40);
  bytes.writeBigUInt64LE(BigInt(end.directoryStart), 48);
  bytes.writeUInt32LE(0x07064b50, 56);
  bytes.writeBigUInt64LE(BigInt(end.position), 64);
  bytes.writeUInt32LE(1, 72);
  return bytes;
}

function localFile(part: ZipPart): Buffer {
  const name = Buffer.from(part.local?.name ?? part.name);
  const extra = part.local?.extra ?? Buffer.alloc(0);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  common({ ...part, ...part.local }).copy(header, 6);
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  const described = part.described ?? descriptor(part);
  return Buffer.concat([header, name, extra, rawOf(part), described]);
}

function descriptor(part: ZipPart): Buffer {
  if (((part.flags ?? 0) & 8) === 0) return Buffer.alloc(0);
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32LE(0x08074b50, 0);
  bytes.writeUInt32LE(crc32(part.content), 4);
  bytes.writeUInt32LE(rawOf(part).length, 8);
  bytes.writeUInt32LE(Buffer.from(part.content).length, 12);
  return bytes;
}

function directoryHeader(part: ZipPart, start: number): Buffer {
  const name = Buffer.from(part.name);
  const extra = part.extra ?? Buffer.alloc(0);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(3 * 0x100 + 20, 4);
  header.writeUInt16LE(20, 6);
  common(part).copy(header, 8);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(extra.length, 30);
  header.writeUInt32LE(part.attributes ?? 0o100755 * 0x10000, 38);
  header.writeUInt32LE(start, 42);
  return Buffer.concat([header, name, extra]);
}

/** The 20 bytes that both headers share: flags, method, time, date, CRC, sizes. */
function common(part: ZipPart): Buffer {
  const content = Buffer.from(part.content);
  const bytes = Buffer.alloc(20);
  bytes.writeUInt16LE(part.flags ?? 0, 0);
  bytes.writeUInt16LE(part.method ?? (part.deflate ? 8 : 0), 2);
  bytes.writeUInt16LE(0x21, 6);
  bytes.writeUInt32LE(part.crc32 ?? crc32(content), 8);
  bytes.writeUInt32LE(part.rawBytes ?? rawOf(part).length, 12);
  bytes.writeUInt32LE(part.size ?? content.length, 16);
  return bytes;
}

function rawOf(part: ZipPart): Buffer {
  const content = Buffer.from(part.content);
  return part.raw ?? (part.deflate ? deflateRawSync(content) : content);
}

function endRecord(end: {
  readonly entryCount: number;
  readonly directoryBytes: number;
  readonly directoryStart: number;
  readonly comment: Buffer;
}): Buffer {
  const bytes = Buffer.alloc(22);
  bytes.writeUInt32LE(0x06054b50, 0);
  bytes.writeUInt16LE(end.entryCount, 8);
  bytes.writeUInt16LE(end.entryCount, 10);
  bytes.writeUInt32LE(end.directoryBytes, 12);
  bytes.writeUInt32LE(end.directoryStart, 16);
  bytes.writeUInt16LE(end.comment.length, 20);
  return Buffer.concat([bytes, end.comment]);
}

function length(buffers: readonly Buffer[]): number {
  return buffers.reduce((sum, buffer) => sum + buffer.length, 0);
}
