import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { GitSurroundings } from "../../../origin/git/git-process.ts";
import { findEscape } from "../../../verification/archives/members.ts";
import {
  formatTarHeader,
  tarEnd,
  tarPadding,
} from "../../../verification/archives/tar-header.ts";
import { PackBudget, type PackLimits } from "./budget.ts";
import { GitObjects, type ObjectHead } from "./objects.ts";
import { planArchive, type PlannedFile } from "./plan.ts";
import { listTree, type GitEntry } from "./tree.ts";

/** The module has submodules: only a checkout has all of its files. */
export class HasSubmodules extends Error {}

const longestTarget = 4096;
const longestTarName = 100;

/**
 * The files of a commit as a tar.gz that is the same whenever it is made of the same commit: names in order, of nobody, of 1970.
 * Throws RangeError for what is refused, HasSubmodules, and GitFailed.
 */
export async function packCommit(
  repository: GitSurroundings,
  commit: string,
  limits: PackLimits,
  file: string,
): Promise<void> {
  const budget = new PackBudget(limits);
  const objects = new GitObjects(repository, true);
  try {
    const entries = await listTree(objects, commit, budget);
    expectPackable(entries);
    const sizes = await readSizes(repository, entries);
    const targets = await readTargets(objects, entries, sizes, budget);
    const plan = planArchive({ entries, sizes, targets }, budget);
    const tar = Readable.from(writeTar(plan, objects));
    await pipeline(tar, createGzip(), createWriteStream(file, { mode: 0o600 }));
  } finally {
    objects.close();
  }
}

function expectPackable(entries: readonly GitEntry[]): void {
  if (entries.some(({ kind }) => kind === "submodule"))
    throw new HasSubmodules();
  const names = entries.map(({ path }) => path);
  const hidden = names.find((path) => /(?:^|\/)\.git(?:\/|$)/i.test(path));
  if (hidden !== undefined)
    throw new RangeError(`it has ${JSON.stringify(hidden)}`);
  const escape = findEscape(names.map((name) => ({ name, kind: "file" })));
  if (escape !== undefined) throw new RangeError(escape);
}

/** Of all contents, by id. */
async function readSizes(
  repository: GitSurroundings,
  entries: readonly GitEntry[],
): Promise<ReadonlyMap<string, number>> {
  const ids = new Set(entries.map(({ id }) => id));
  const sizes = new Map<string, number>();
  const heads = new GitObjects(repository, false);
  try {
    heads.ask(...ids);
    for (const id of ids) sizes.set(id, expectBlob(await heads.readHead(), id));
  } finally {
    heads.close();
  }
  return sizes;
}

async function readTargets(
  objects: GitObjects,
  entries: readonly GitEntry[],
  sizes: ReadonlyMap<string, number>,
  budget: PackBudget,
): Promise<ReadonlyMap<string, string>> {
  const targets = new Map<string, string>();
  for (const { kind, path, id } of entries) {
    if (kind !== "link") continue;
    budget.readLink();
    if ((sizes.get(id) ?? 0) > longestTarget)
      throw new RangeError("a link has a target that is too long");
    objects.ask(id);
    const target = await objects.readWhole(await objects.readHead());
    targets.set(path, target.toString("utf8"));
  }
  return targets;
}

async function* writeTar(
  plan: readonly PlannedFile[],
  objects: GitObjects,
): AsyncGenerator<Uint8Array> {
  objects.ask(...plan.map(({ id }) => id));
  for (const { path, id, size, isExecutable } of plan) {
    yield* formatName(path);
    const name = Buffer.from(path).subarray(0, longestTarName);
    const mode = isExecutable ? "0000755" : "0000644";
    yield formatTarHeader({ name: name.toString("latin1"), size, mode });
    const head = await objects.readHead();
    if (expectBlob(head, id) !== size)
      throw new RangeError("git gave two sizes of an object");
    yield* objects.readPieces(head);
    yield Buffer.alloc(tarPadding(size));
  }
  yield tarEnd;
}

function expectBlob({ id, type, size }: ObjectHead, expected: string): number {
  if (id !== expected || type !== "blob")
    throw new RangeError(`it has a ${type} for a file`);
  return size;
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
