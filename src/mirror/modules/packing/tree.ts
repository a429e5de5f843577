import {
  startGit,
  type GitSurroundings,
} from "../../../origin/git/git-process.ts";
import type { PackBudget } from "./budget.ts";

/** One file, link or submodule of a commit. */
export interface GitEntry {
  readonly kind: "file" | "executable" | "link" | "submodule";
  readonly path: string;
  /** The name of its content in the repository. */
  readonly id: string;
  /** Bytes of its content. */
  readonly size: number;
}

/**
 * Lists a commit in the order of its tree. Throws RangeError for a tree that git could not have written or that is beyond the
 * budget, and GitFailed.
 */
export async function listTree(
  repository: GitSurroundings,
  commit: string,
  budget: PackBudget,
): Promise<readonly GitEntry[]> {
  const args = ["ls-tree", "-r", "-t", "-l", "-z", "--full-tree", commit];
  const { child, ended } = startGit(args, repository);
  ended.catch(() => undefined);
  const known = new Map<string, string>([["", "folder"]]);
  const entries: GitEntry[] = [];
  try {
    for await (const line of readLines(child.stdout)) {
      const entry = parseLine(line);
      budget.visit(entry.path);
      expectPlace(entry.path, known);
      known.set(entry.path, entry.kind);
      if (entry.kind !== "folder") entries.push({ ...entry, kind: entry.kind });
    }
  } catch (error) {
    child.kill();
    throw error;
  }
  await ended;
  return entries;
}

/** Throws RangeError unless the path is new and lies in a folder that was listed before it. */
function expectPlace(path: string, known: ReadonlyMap<string, string>): void {
  const shown = JSON.stringify(path);
  if (known.has(path)) throw new RangeError(`it has ${shown} twice`);
  const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  if (known.get(folder) !== "folder" || path.startsWith("/"))
    throw new RangeError(`a member is named ${shown}`);
}

const longestLine = 1 << 16;

/** Yields what ends in zero bytes. */
async function* readLines(
  pieces: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    rest = Buffer.concat([rest, piece]);
    let start = 0;
    for (let end; (end = rest.indexOf(0, start)) >= 0; start = end + 1)
      yield rest.subarray(start, end);
    rest = rest.subarray(start);
    if (rest.length > longestLine)
      throw new RangeError("it has a name of more than 64 KiB");
  }
}

const line =
  /^([0-7]{6}) (blob|tree|commit) ([0-9a-f]{40,64}) +(-|[0-9]+)\t(.+)$/s;

/** `MODE TYPE ID SIZE`, a tab and the path (git-ls-tree, "OUTPUT FORMAT"). */
function parseLine(bytes: Buffer) {
  const text = decode(bytes);
  const [, mode, type, id = "", size = "", path] = line.exec(text) ?? [];
  if (mode === undefined || path === undefined)
    throw new RangeError(`git listed ${JSON.stringify(text.slice(0, 100))}`);
  const kind =
    type === "commit"
      ? "submodule"
      : type === "tree"
        ? "folder"
        : (kinds[mode] ?? "file");
  return { kind, path, id, size: Number(size === "-" ? 0 : size) } as const;
}

const kinds: Readonly<Record<string, "executable" | "link">> = {
  "100755": "executable",
  "120000": "link",
};

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new RangeError("a member's name is not UTF-8", { cause: error });
  }
}
