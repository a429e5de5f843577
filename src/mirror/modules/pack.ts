import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { ModuleArchiveRefused } from "../../errors/index.ts";
import type { GitTree } from "../../origin/git/tree.ts";
import { findEscape } from "../../verification/archives/members.ts";
import { ByteReader } from "../../verification/archives/byte-reader.ts";
import {
  formatTarHeader,
  tarEnd,
  tarPadding,
} from "../../verification/archives/tar-header.ts";
import { planArchive, type PlanLimits, type PlannedFile } from "./plan.ts";

/** A tree of which the mirror cannot make an archive that is equal to what clients would fetch. */
export class NotPackable extends Error {}

const piece = 256 * 1024;
const longestTarget = 4096;
const longestTarName = 100;

/**
 * The files of a tree as a tar.gz that is the same whenever it is made of the same commit: names in order, of nobody, of 1970. Closes the tree.
 * Throws ModuleArchiveRefused, and NotPackable for submodules, which only a checkout has.
 */
export async function* packTree(
  module: string,
  tree: GitTree,
  limits: PlanLimits,
): AsyncGenerator<Uint8Array> {
  try {
    const plan = await planFiles(module, tree, limits);
    const tar = Readable.from(writeTar(plan, tree));
    const gzip = createGzip();
    tar.on("error", (error) => gzip.destroy(error));
    yield* tar.pipe(gzip) as AsyncIterable<Uint8Array>;
  } finally {
    await tree.close();
  }
}

async function planFiles(
  module: string,
  tree: GitTree,
  limits: PlanLimits,
): Promise<readonly PlannedFile[]> {
  if (tree.entries.some(({ kind }) => kind === "submodule"))
    throw new NotPackable("git with submodules");
  try {
    const hidden = tree.entries.find(({ path }) =>
      /(?:^|\/)\.git(?:\/|$)/i.test(path),
    );
    if (hidden !== undefined)
      throw new RangeError(`it has ${JSON.stringify(hidden.path)}`);
    const names = tree.entries.map(({ path }) => path);
    const escape = findEscape(names.map((name) => ({ name, kind: "file" })));
    if (escape !== undefined) throw new RangeError(escape);
    return planArchive(tree.entries, await readTargets(tree), limits);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ModuleArchiveRefused(module, error.message, { cause: error });
  }
}

async function readTargets(
  tree: GitTree,
): Promise<ReadonlyMap<string, string>> {
  const links = tree.entries.filter(({ kind }) => kind === "link");
  const targets = new Map<string, string>();
  if (links.length === 0) return targets;
  if (links.some(({ size }) => size > longestTarget))
    throw new RangeError("a link has a target that is too long");
  const blobs = new BlobReader(tree, links);
  for (const { path, size } of links) {
    await blobs.expect(size);
    targets.set(path, (await blobs.read(size)).toString("utf8"));
    await blobs.end();
  }
  return targets;
}

async function* writeTar(
  plan: readonly PlannedFile[],
  tree: GitTree,
): AsyncGenerator<Uint8Array> {
  const blobs = new BlobReader(tree, plan);
  for (const { path, size, isExecutable } of plan) {
    yield* formatName(path);
    const name = Buffer.from(path).subarray(0, longestTarName);
    const mode = isExecutable ? "0000755" : "0000644";
    yield formatTarHeader({ name: name.toString("latin1"), size, mode });
    await blobs.expect(size);
    for (let left = size; left > 0; left -= Math.min(left, piece))
      yield await blobs.read(Math.min(left, piece));
    await blobs.end();
    yield Buffer.alloc(tarPadding(size));
  }
  yield tarEnd;
}

/** A pax header for a name that the tar's own field cannot hold (POSIX pax, "pax Extended Header"). */
function* formatName(path: string): Generator<Uint8Array> {
  const bytes = Buffer.byteLength(path);
  if (bytes <= longestTarName && /^[\x20-\x7e]+$/.test(path)) return;
  const rest = bytes + " path=\n".length;
  let length = rest + 1;
  while (rest + String(length).length !== length) length++;
  const record = Buffer.from(`${length} path=${path}\n`);
  yield formatTarHeader({ name: "pax", size: record.length, type: "x" });
  yield record;
  yield Buffer.alloc(tarPadding(record.length));
}

/** The contents of a tree's files, one after the other. */
class BlobReader {
  readonly #reader: ByteReader;

  constructor(tree: GitTree, files: readonly { readonly id: string }[]) {
    const ids = files.map(({ id }) => id);
    this.#reader = new ByteReader(ids.length === 0 ? [] : tree.readBlobs(ids));
  }

  /** The line before a content. */
  async expect(size: number): Promise<void> {
    let line = "";
    for (;;) {
      const byte = (await this.#reader.readUpTo(1)).toString("latin1");
      if (byte === "" || line.length > 200) break;
      if (byte === "\n") break;
      line += byte;
    }
    if (!line.endsWith(` blob ${size}`))
      throw new Error(`git gave "${line}" for a blob of ${size} bytes`);
  }

  async read(length: number): Promise<Buffer> {
    const bytes = await this.#reader.readUpTo(length);
    if (bytes.length < length) throw new Error("git gave less than it said");
    return bytes;
  }

  /** The line's end after a content. */
  async end(): Promise<void> {
    await this.read(1);
  }
}
