import { createHash, hash } from "node:crypto";
import type { Sha256 } from "../../address/hash.ts";
import { failure, type Failure } from "../../errors/index.ts";
import {
  listMembers,
  manifestName,
  parseManifest,
  type BundleContent,
  type BundleManifest,
} from "./manifest.ts";
import { openFile, type ReadableFile } from "./readable-file.ts";
import {
  formatTarHeader,
  readTarSize,
  tarBlock,
  tarEnd,
  tarPadding,
  type TarMember,
} from "./tar-header.ts";

/** Bytes of each. */
export interface BundleLimits {
  readonly manifest: number;
  readonly proof: number;
  readonly archive: number;
}

interface Place extends TarMember, BundleContent {
  /** Offset of the first byte of its content. */
  readonly start: number;
}

const readSize = 1024 * 1024;

/**
 * Bundle on disk. Its manifest determines the rest: every header, all padding
 * and the end are compared with their expected bytes. No name in it is ever
 * used as a path.
 */
export class BundleFile {
  readonly manifest: BundleManifest;
  readonly #path: string;
  readonly #handle: ReadableFile;
  readonly #manifestEnd: number;
  readonly #places: ReadonlyMap<string, Place>;

  private constructor(
    path: string,
    handle: ReadableFile,
    manifest: { readonly value: BundleManifest; readonly end: number },
    places: readonly Place[],
  ) {
    this.#path = path;
    this.#handle = handle;
    this.manifest = manifest.value;
    this.#manifestEnd = manifest.end;
    this.#places = new Map(places.map((place) => [place.sha256, place]));
  }

  /**
   * Reads the manifest, which names the digest of everything else, and checks the length of the file. `sha256` is the
   * manifest's, where it is known.
   */
  static async open(
    path: string,
    limits: BundleLimits,
    open = openFile,
    sha256?: string,
  ): Promise<BundleFile> {
    const handle = await open(path).catch((error: unknown) => {
      const { code = "unknown" } = error as NodeJS.ErrnoException;
      throw failure("bundle-refused", path, `it cannot be read, ${code}`);
    });
    try {
      const manifest = await readManifest(
        path,
        handle,
        limits.manifest,
        sha256,
      );
      const places = placeMembers(manifest.value, manifest.end);
      expectLimits(path, manifest.value, limits);
      expectLength(path, handle, places, manifest.end);
      return new BundleFile(path, handle, manifest, places);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  carries(sha256: Sha256): boolean {
    return this.#places.has(sha256);
  }

  /** Bytes; undefined for what is not carried. */
  sizeOf(sha256: Sha256): number | undefined {
    return this.#places.get(sha256)?.size;
  }

  /** Compares everything between the contents. */
  async verifyFrame(): Promise<void> {
    let end = this.#manifestEnd;
    for (const place of this.#places.values()) {
      const expected = formatTarHeader(place);
      await this.#expectBytes(place.start - tarBlock, expected, "a member");
      end = place.start + place.size;
      const padding = Buffer.alloc(tarPadding(place.size));
      await this.#expectBytes(end, padding, "padding");
      end += padding.length;
    }
    await this.#expectBytes(end, tarEnd, "the end");
  }

  /** Throws bundle-refused unless the content has its digest. */
  async verifyContent(sha256: Sha256): Promise<void> {
    const sum = createHash("sha256");
    for await (const piece of this.read(sha256)) sum.update(piece);
    this.#expectDigest(sha256, sum.digest("hex"));
  }

  /** A proof, whole and with its digest. */
  async readProof(sha256: Sha256): Promise<Uint8Array> {
    const pieces = await Array.fromAsync(this.read(sha256), (piece) =>
      Uint8Array.from(piece),
    );
    const bytes = Buffer.concat(pieces);
    this.#expectDigest(sha256, hash("sha256", bytes));
    return bytes;
  }

  /** The content as it lies there; a piece is valid until the next one is asked for, and the reader compares the digest. */
  async *read(sha256: Sha256): AsyncGenerator<Uint8Array> {
    const place = this.#places.get(sha256);
    if (place === undefined) throw this.#refuse(`it has no ${sha256}`);
    const buffer = Buffer.allocUnsafeSlow(Math.min(readSize, place.size));
    for (let read = 0; read < place.size;) {
      const room = buffer.subarray(0, place.size - read);
      const piece = await readInto(room, this.#handle, place.start + read);
      if (piece.length === 0) throw this.#refuse("it is cut short");
      read += piece.length;
      yield piece;
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #expectBytes(
    position: number,
    expected: Buffer,
    what: string,
  ): Promise<void> {
    const found = await readAt(this.#handle, position, expected.length);
    if (!expected.equals(found))
      throw this.#refuse(
        `at byte ${position} is not ${what} that its manifest asks for`,
      );
  }

  #expectDigest(expected: Sha256, got: string): void {
    if (got !== expected)
      throw this.#refuse(`expected SHA-256 ${expected}, got ${got}`);
  }

  #refuse(problem: string): Failure<"bundle-refused"> {
    return failure("bundle-refused", this.#path, problem);
  }
}

async function readManifest(
  path: string,
  handle: ReadableFile,
  most: number,
  expectedSha256: string | undefined,
): Promise<{ readonly value: BundleManifest; readonly end: number }> {
  const refuse = (problem: string, cause?: unknown) =>
    failure("bundle-refused", path, problem, { cause });
  if (handle.size === undefined) throw refuse("it is not a file");
  const header = await readAt(handle, 0, tarBlock);
  const size = readTarSize(header) ?? 0;
  const expected = formatTarHeader({ name: manifestName, size });
  if (size === 0 || !expected.equals(header))
    throw refuse(`it does not begin with ${manifestName}`);
  if (size > most) throw refuse(`its manifest has more than ${most} bytes`);
  const bytes = await readAt(handle, tarBlock, size + tarPadding(size));
  if (bytes.length < size || bytes.subarray(size).some((byte) => byte !== 0))
    throw refuse("its manifest is cut short");
  const text = bytes.subarray(0, size);
  const sha256 = hash("sha256", text);
  if (expectedSha256 !== undefined && sha256 !== expectedSha256)
    throw refuse(
      `the SHA-256 of its manifest is ${sha256}, expected ${expectedSha256}`,
    );
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return {
      value: parseManifest(decoder.decode(text)),
      end: tarBlock + bytes.length,
    };
  } catch (error) {
    throw refuse(
      error instanceof RangeError
        ? error.message
        : "its manifest is not in a form that is known",
      error,
    );
  }
}

function placeMembers(
  manifest: BundleManifest,
  from: number,
): readonly Place[] {
  let next = from;
  return listMembers(manifest).map((member) => {
    const start = next + tarBlock;
    next = start + member.size + tarPadding(member.size);
    return { ...member, start };
  });
}

function expectLimits(
  path: string,
  { proofs, archives, moduleArchives }: BundleManifest,
  limits: BundleLimits,
): void {
  const isLarge =
    proofs.some(({ size }) => size > limits.proof) ||
    [...archives, ...moduleArchives].some(({ size }) => size > limits.archive);
  if (isLarge)
    throw failure("bundle-refused", path, "a member is over the limits");
}

function expectLength(
  path: string,
  { size }: ReadableFile,
  places: readonly Place[],
  manifestEnd: number,
): void {
  const last = places.at(-1);
  const end =
    last === undefined
      ? manifestEnd
      : last.start + last.size + tarPadding(last.size);
  const expected = end + tarEnd.length;
  if (size !== expected)
    throw failure(
      "bundle-refused",
      path,
      `expected ${expected} bytes by its manifest, got ${size}`,
    );
}

async function readAt(
  handle: ReadableFile,
  position: number,
  length: number,
): Promise<Buffer> {
  return readInto(Buffer.allocUnsafeSlow(length), handle, position);
}

/**
 * Fills the buffer from the file. Returns fewer bytes only at the end of the
 * file.
 */
async function readInto(
  buffer: Buffer,
  handle: ReadableFile,
  position: number,
): Promise<Buffer> {
  let read = 0;
  while (read < buffer.length) {
    const rest = buffer.subarray(read);
    const bytesRead = await handle.read(rest, position + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}
