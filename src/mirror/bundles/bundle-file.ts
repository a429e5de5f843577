import { createHash, hash } from "node:crypto";
import { constants, createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { extract, type Header } from "tar-stream";
import * as z from "zod";
import { parseSha256, type Sha256 } from "../../address/hash.ts";
import {
  formatModuleAddress,
  parseModuleAddress,
} from "../../address/module-address.ts";
import { archiveFormats } from "../../address/module-archive-name.ts";
import { parseSubdirectory } from "../../address/module-source.ts";
import { formatPlatform, parsePlatform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
} from "../../address/provider-address.ts";
import { parseVersion } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import { formatModuleRelease } from "../modules/release.ts";
import type { ReleaseEvidence } from "../releases/evidence.ts";
import { formatRelease } from "../releases/release.ts";

export const manifestName = "manifest.json";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** One text for each, so that no other text leads to the same. */
function named<T>(parse: (text: string) => T, format: (one: T) => string) {
  const decode = (text: string) => {
    const one = parse(text);
    if (format(one) !== text)
      throw new RangeError("its manifest is not in its canonical form");
    return one;
  };
  return z.codec(z.string(), z.custom<T>(), { decode, encode: format });
}

const sha256 = named(parseSha256, String);
const version = named(parseVersion, String);
const content = z.strictObject({ sha256, size: z.int().nonnegative() });
/** Characters of a document or a signature, and keys of a release: it is judged by no more, and an exempt one is by none. */
const largestProof = 2 ** 20;
const mostKeys = 16;
/** The verification material of a release, as the origin published it. The verdict stays behind: the receiver verifies for itself. */
const proof = z.codec(
  z.strictObject({
    document: z.string().max(largestProof),
    signature: z.base64().max(largestProof).nullable(),
    keys: z.array(z.string()).max(mostKeys),
  }),
  z.custom<ReleaseEvidence>(),
  {
    decode: ({ document, signature, keys }) => ({
      document: Buffer.from(document, "utf8"),
      signature:
        signature === null ? undefined : Buffer.from(signature, "base64"),
      keys,
    }),
    encode: ({ document, signature, keys }) => ({
      document: Buffer.from(document).toString("utf8"),
      signature: signature ? Buffer.from(signature).toString("base64") : null,
      keys: [...keys],
    }),
  },
);
/** `platforms` are what the registry offers, `archives` are the exported ones. */
const release = z.strictObject({
  provider: named(parseProviderAddress, formatProviderAddress),
  version,
  proof,
  platforms: z.array(named(parsePlatform, formatPlatform)),
  archives: z.record(z.string().regex(/^[a-z0-9]+_[a-z0-9]+$/), sha256),
});
const moduleRelease = z.strictObject({
  module: named((text) => parseModuleAddress(text, ""), formatModuleAddress),
  version,
  sha256,
  format: z.enum(archiveFormats),
  subdirectory: z.string().refine((text) => parseSubdirectory(text) === text),
  commit: z
    .string()
    .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)
    .optional(),
});
const shape = z.strictObject({
  format: z.literal("provender-bundle/1"),
  releases: z.array(release),
  modules: z.array(moduleRelease),
  contents: z.array(content),
});

export type BundledRelease = z.output<typeof release>;

/** A version of a module, as clients get it. */
export type BundledModule = z.output<typeof moduleRelease>;

/** Archive by the SHA-256 of its bytes. */
export type BundleContent = z.output<typeof content>;

/** The first member of a bundle; its contents follow in their order. What its releases speak of and it does not carry, the receiver is expected to have. */
export type BundleManifest = Omit<z.output<typeof shape>, "format">;

export function formatManifest(manifest: BundleManifest): string {
  const whole = { format: "provender-bundle/1", ...manifest } as const;
  return `${JSON.stringify(z.encode(shape, whole), null, 2)}\n`;
}

/** Throws for another form, RangeError with the reason for a content that is none: each carried item belongs to a release, and everything is listed once. */
function parseManifest(bytes: Uint8Array): BundleManifest {
  const manifest = shape.parse(JSON.parse(utf8.decode(bytes)));
  const { releases, modules, contents } = manifest;
  const carried = contents.map((one) => one.sha256);
  const listed = [
    ...releases.map(formatRelease),
    ...modules.map(formatModuleRelease),
    ...carried,
  ];
  if (new Set(listed).size < listed.length)
    throw new RangeError("its manifest lists something twice");
  const spoken = listDigests(manifest);
  if (!carried.every((one) => spoken.has(one)))
    throw new RangeError("it carries what none of its releases speaks of");
  return manifest;
}

/** Every archive that its releases speak of. */
export function listDigests({
  releases,
  modules,
}: BundleManifest): ReadonlySet<Sha256> {
  return new Set([
    ...releases.flatMap((one) => Object.values(one.archives)),
    ...modules.map((one) => one.sha256),
  ]);
}

/** The name of a member behind the manifest. */
export const memberName = (sha256: Sha256) => `contents/${sha256}`;

/** Bytes of a manifest; 5,000 releases have as many, each with its keys. */
export const largestManifest = 64 * 1024 * 1024;

interface Place extends BundleContent {
  /** Offset of its first byte. */
  readonly start: number;
}

/** A tar consists of blocks, and ends with two of zeros. */
const block = 512;
const readSize = 1024 * 1024;

export type BundleFile = Awaited<ReturnType<typeof openBundle>>;

/**
 * Opens a bundle. Its manifest, which names the digest of everything else, determines where each member begins and how long
 * the file is; the one header before a member has to be that of this regular file. No name in it is ever used as a path.
 * `sha256` is the manifest's, where it is known. Throws bundle-refused.
 */
export async function openBundle(
  path: string,
  largestArchive: number,
  sha256?: string,
) {
  const refuse = (problem: string, cause?: unknown) =>
    failure("bundle-refused", path, problem, { cause });
  await using held = new AsyncDisposableStack();
  // Not waiting for the writer of a pipe.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  const opened = await open(path, flags).catch((error: unknown) => {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw refuse(`it cannot be read, ${code}`);
  });
  const handle = held.use(opened);
  const stats = await handle.stat();
  if (!stats.isFile()) throw refuse("it is not a file");
  const header = await readHeader(handle, 0);
  if (header?.name !== manifestName)
    throw refuse(`it does not begin with ${manifestName}`);
  const { size } = header;
  if (!(size <= largestManifest))
    throw refuse(`its manifest has more than ${largestManifest} bytes`);
  const bytes = await readWhole(handle, block, size);
  if (bytes.length < size) throw refuse("its manifest is cut short");
  const got = hash("sha256", bytes);
  if (sha256 !== undefined && got !== sha256)
    throw refuse(`the SHA-256 of its manifest is ${got}, expected ${sha256}`);
  let manifest: BundleManifest;
  try {
    manifest = parseManifest(bytes);
  } catch (error) {
    const isNone = error instanceof RangeError;
    const unknown = "its manifest is not in a form that is known";
    throw refuse(isNone ? error.message : unknown, error);
  }
  const places = new Map<string, Place>();
  let end = block + fillUp(size);
  for (const content of manifest.contents) {
    if (content.size > largestArchive)
      throw refuse("a member is over the limits");
    const start = end + block;
    end = start + fillUp(content.size);
    places.set(content.sha256, { ...content, start });
  }
  const expected = end + 2 * block;
  if (stats.size !== expected)
    throw refuse(
      `expected ${expected} bytes by its manifest, got ${stats.size}`,
    );

  /** The content as it lies there; the reader compares the digest. */
  const read = (sha256: Sha256): AsyncIterable<Uint8Array> => {
    const place = places.get(sha256);
    if (place === undefined) throw refuse(`it has no ${sha256}`);
    return readAt(handle, place.start, place.size);
  };
  const kept = held.move();
  return {
    ...{ manifest, read, close: () => kept.disposeAsync() },
    /** Bytes; undefined for what is not carried. */
    sizeOf: (sha256: Sha256): number | undefined => places.get(sha256)?.size,
    /** Compares every header, and every content that is not `skipped`; throws bundle-refused. */
    verify: async (skipped: (content: BundleContent) => Promise<boolean>) => {
      for (const place of places.values()) {
        const { size, start, sha256 } = place;
        const header = await readHeader(handle, start - block);
        if (header?.name !== memberName(sha256) || header.size !== size)
          throw refuse(
            `at byte ${start - block} is not a member that its manifest asks for`,
          );
        if (await skipped(place)) continue;
        const sum = createHash("sha256");
        for await (const piece of read(sha256)) sum.update(piece);
        const got = sum.digest("hex");
        if (got !== sha256)
          throw refuse(`expected SHA-256 ${sha256}, got ${got}`);
      }
    },
  };
}

/** The regular file that one block describes alone: without long names, attributes and holes, which take blocks of their own. */
async function readHeader(
  handle: FileHandle,
  position: number,
): Promise<Header | undefined> {
  const tar = extract();
  tar.end(await readWhole(handle, position, block));
  try {
    for await (const { header } of tar)
      return header.type === "file" ? header : undefined;
  } catch {
    // Another block than one that begins a member.
  }
  return undefined;
}

function fillUp(size: number): number {
  return Math.ceil(size / block) * block;
}

/** What the file has of these bytes. */
async function* readAt(
  { fd }: FileHandle,
  start: number,
  size: number,
): AsyncGenerator<Uint8Array> {
  if (size === 0) return;
  const range = { start, end: start + size - 1, highWaterMark: readSize };
  // Of a handle, each stream would leave a listener.
  const file = createReadStream("", { fd, autoClose: false, ...range });
  yield* file as AsyncIterable<Uint8Array>;
}

async function readWhole(handle: FileHandle, start: number, size: number) {
  return Buffer.concat(await Array.fromAsync(readAt(handle, start, size)));
}
