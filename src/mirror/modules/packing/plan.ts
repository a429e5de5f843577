import { followLink } from "../../../verification/archives/members.ts";
import type { PackBudget } from "./budget.ts";
import type { GitEntry } from "./tree.ts";

/** A regular file of a module's archive. */
export interface PlannedFile {
  readonly path: string;
  readonly id: string;
  readonly size: number;
  readonly isExecutable: boolean;
}

/** Tree of the repository, without the files' contents. */
interface ReadTree {
  readonly entries: readonly GitEntry[];
  /** Targets of links, by path. */
  readonly targets: ReadonlyMap<string, string>;
}

/** Links through links. */
const deepest = 16;

/**
 * The files that a reader of the tree would find, in the order of their names. Clients unpack links of a tar as empty files, so
 * what a link leads to takes its place. Links to nothing, and to a folder that they lie in, are left out; one that leads out of the tree
 * throws RangeError, as does what is beyond the budget.
 */
export function planArchive(
  read: ReadTree,
  budget: PackBudget,
): readonly PlannedFile[] {
  const tree = new LinkedTree(read, budget);
  const files = new Map<string, PlannedFile>();
  for (const file of tree.walk()) {
    budget.keepFile(file.size);
    files.set(file.path, file);
  }
  return [...files.values()].toSorted((a, b) =>
    Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)),
  );
}

class LinkedTree {
  readonly #files = new Map<string, GitEntry>();
  readonly #folders = new Map<string, string[]>([["", []]]);
  readonly #read: ReadTree;
  readonly #budget: PackBudget;

  constructor(read: ReadTree, budget: PackBudget) {
    this.#read = read;
    this.#budget = budget;
    for (const entry of read.entries) {
      if (entry.kind !== "link") this.#files.set(entry.path, entry);
      this.#place(entry.path);
    }
  }

  *walk(): Generator<PlannedFile> {
    yield* this.#below("", "", 0);
  }

  /** Plans the content of `folder`, under the name `as`. */
  *#below(folder: string, as: string, depth: number): Generator<PlannedFile> {
    for (const path of this.#folders.get(folder) ?? []) {
      const name = path.slice(path.lastIndexOf("/") + 1);
      const shown = as === "" ? name : `${as}/${name}`;
      yield* this.#show(path, shown, depth);
    }
  }

  *#show(path: string, as: string, depth: number): Generator<PlannedFile> {
    this.#budget.visit(as);
    const file = this.#files.get(path);
    if (file !== undefined) {
      const { id, kind, size } = file;
      yield { path: as, id, size, isExecutable: kind === "executable" };
    } else if (this.#read.targets.has(path)) {
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
    this.#budget.followLink();
    for (let length = 1; length <= parts.length; length++) {
      const path = parts.slice(0, length).join("/");
      const target = this.#read.targets.get(path);
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
