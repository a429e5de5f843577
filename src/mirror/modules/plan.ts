import type { GitEntry } from "../../origin/git/tree.ts";
import { followLink } from "../../verification/archives/members.ts";

/** A regular file of a module's archive. */
export interface PlannedFile {
  readonly path: string;
  readonly id: string;
  readonly size: number;
  readonly isExecutable: boolean;
}

/** The limits are those of what is unpacked. */
export interface PlanLimits {
  readonly entries: number;
  readonly expandedBytes: number;
}

/** Links through links. */
const deepest = 16;
const mostLinks = 1_000;

/**
 * The files that somebody who reads the tree would find, in the order of their names. Clients unpack links of a tar as empty files, so
 * what a link leads to takes its place. Links to nothing, and to a folder that they lie in, are left out; one that leads out of the tree
 * throws.
 */
export function planArchive(
  entries: readonly GitEntry[],
  targets: ReadonlyMap<string, string>,
  limits: PlanLimits,
): readonly PlannedFile[] {
  if (targets.size > mostLinks)
    throw new RangeError(`it has more than ${mostLinks} links`);
  const tree = new LinkedTree(entries, targets);
  const files = new Map<string, PlannedFile>();
  let bytes = 0;
  for (const file of tree.walk()) {
    bytes += file.size;
    if (files.size >= limits.entries)
      throw new RangeError(`it has more than ${limits.entries} members`);
    if (bytes > limits.expandedBytes)
      throw new RangeError(`it has more than ${limits.expandedBytes} bytes`);
    files.set(file.path, file);
  }
  return [...files.values()].toSorted((a, b) =>
    Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)),
  );
}

class LinkedTree {
  readonly #files = new Map<string, GitEntry>();
  readonly #folders = new Map<string, string[]>([["", []]]);
  readonly #targets: ReadonlyMap<string, string>;

  constructor(
    entries: readonly GitEntry[],
    targets: ReadonlyMap<string, string>,
  ) {
    this.#targets = targets;
    for (const entry of entries) {
      if (entry.kind !== "link") this.#files.set(entry.path, entry);
      this.#place(entry.path);
    }
  }

  *walk(): Generator<PlannedFile> {
    yield* this.#below("", "", 0);
  }

  /** What lies in `folder`, under the name `as`. */
  *#below(folder: string, as: string, depth: number): Generator<PlannedFile> {
    for (const path of this.#folders.get(folder) ?? []) {
      const name = path.slice(path.lastIndexOf("/") + 1);
      const shown = as === "" ? name : `${as}/${name}`;
      yield* this.#show(path, shown, depth);
    }
  }

  *#show(path: string, as: string, depth: number): Generator<PlannedFile> {
    const file = this.#files.get(path);
    if (file !== undefined) {
      const { id, size, kind } = file;
      yield { path: as, id, size, isExecutable: kind === "executable" };
    } else if (this.#targets.has(path)) {
      const end = this.#follow(path.split("/"), 0)?.join("/");
      if (end === undefined || depth >= deepest) return;
      const isAbove = end === "" || `${path}/`.startsWith(`${end}/`);
      if (!isAbove) yield* this.#show(end, as, depth + 1);
    } else yield* this.#below(path, as, depth);
  }

  /** The place that a path is in the end; undefined when links lead round in a circle. */
  #follow(
    parts: readonly string[],
    depth: number,
  ): readonly string[] | undefined {
    if (depth > deepest) return undefined;
    for (let length = 1; length <= parts.length; length++) {
      const path = parts.slice(0, length).join("/");
      const target = this.#targets.get(path);
      if (target === undefined) continue;
      const led = followLink(parts.slice(0, length - 1), target);
      if (led === undefined)
        throw new RangeError(
          `${JSON.stringify(path)} is a link to ${JSON.stringify(target.slice(0, 100))}`,
        );
      return this.#follow([...led, ...parts.slice(length)], depth + 1);
    }
    return parts;
  }

  #place(path: string): void {
    const end = path.lastIndexOf("/");
    const folder = end < 0 ? "" : path.slice(0, end);
    const known = this.#folders.get(folder);
    if (known !== undefined) {
      known.push(path);
      return;
    }
    this.#folders.set(folder, [path]);
    this.#place(folder);
  }
}
