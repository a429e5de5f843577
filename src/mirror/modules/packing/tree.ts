import type { PackBudget } from "./budget.ts";
import type { GitObjects } from "./objects.ts";

/** One file, link or submodule of a commit. */
export interface GitEntry {
  readonly kind: "file" | "executable" | "link" | "submodule";
  readonly path: string;
  /** The name of its content in the repository. */
  readonly id: string;
}

/** One line of a folder as git has it. */
interface TreeLine {
  readonly kind: GitEntry["kind"] | "folder";
  readonly name: string;
  readonly id: string;
}

/** All entries of a commit, in the order of the tree; throws RangeError for a tree that is none, or beyond the budget. */
export async function listTree(
  objects: GitObjects,
  commit: string,
  budget: PackBudget,
): Promise<readonly GitEntry[]> {
  const trees = new TreeReader(objects, budget, commit.length / 2);
  const entries: GitEntry[] = [];
  const folders = [{ path: "", name: `${commit}^{tree}` }];
  for (
    let folder = folders.pop();
    folder !== undefined;
    folder = folders.pop()
  ) {
    for (const { kind, name, id } of await trees.read(folder.name)) {
      const path = folder.path === "" ? name : `${folder.path}/${name}`;
      budget.visit(path);
      if (kind === "folder") folders.push({ path, name: id });
      else entries.push({ kind, path, id });
    }
  }
  return entries;
}

/** Reads each tree once, however often it occurs. */
class TreeReader {
  readonly #objects: GitObjects;
  readonly #budget: PackBudget;
  readonly #idBytes: number;
  readonly #known = new Map<string, readonly TreeLine[]>();

  constructor(objects: GitObjects, budget: PackBudget, idBytes: number) {
    this.#objects = objects;
    this.#budget = budget;
    this.#idBytes = idBytes;
  }

  async read(name: string): Promise<readonly TreeLine[]> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    this.#objects.ask(name);
    const head = await this.#objects.readHead();
    if (head.type !== "tree")
      throw new RangeError(`it has a ${head.type} for a folder`);
    this.#budget.readTree(head.size);
    const body = await this.#objects.readWhole(head);
    const lines = parseTree(body, this.#idBytes);
    this.#known.set(name, lines);
    return lines;
  }
}

/** `MODE NAME`, a zero byte and the id, for each entry. */
function parseTree(body: Buffer, idBytes: number): readonly TreeLine[] {
  const lines: TreeLine[] = [];
  const names = new Set<string>();
  for (let at = 0; at < body.length;) {
    const space = body.indexOf(" ", at);
    const end = body.indexOf(0, space);
    const next = end + 1 + idBytes;
    if (space < 0 || end < 0 || next > body.length)
      throw new RangeError("it has a folder that git could not have made");
    const mode = body.toString("latin1", at, space);
    const name = parseName(body.subarray(space + 1, end));
    if (names.has(name))
      throw new RangeError(`it has ${JSON.stringify(name)} twice`);
    names.add(name);
    const id = body.toString("hex", end + 1, next);
    lines.push({ kind: parseMode(mode), name, id });
    at = next;
  }
  return lines;
}

function parseName(bytes: Buffer): string {
  const name = decode(bytes);
  if (name === "" || name === "." || name === ".." || name.includes("/"))
    throw new RangeError(`a member is named ${JSON.stringify(name)}`);
  return name;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new RangeError("a member's name is not UTF-8", { cause: error });
  }
}

/** As git reads it: what is no file, folder or link is a submodule. */
function parseMode(text: string): TreeLine["kind"] {
  if (!/^[0-7]{1,7}$/.test(text))
    throw new RangeError("it has a member of an unknown type");
  const mode = parseInt(text, 8);
  const types = { 0o4: "folder", 0o12: "link" } as const;
  const type = mode >> 12;
  if (type === 0o10) return (mode & 0o100) === 0 ? "file" : "executable";
  return type === 0o4 || type === 0o12 ? types[type] : "submodule";
}
