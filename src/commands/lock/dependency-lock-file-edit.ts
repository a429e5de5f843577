import type { Version } from "../../address/version.ts";
import type {
  DependencyLockFile,
  ProviderLock,
} from "../inputs/dependency-lock-file.ts";
import { isMark, type Token } from "../inputs/dependency-lock-file-tokens.ts";

/** What a provider's entry should hold; `name` is HOSTNAME/NAMESPACE/TYPE. */
export interface LockEntry {
  readonly name: string;
  readonly version: Version;
  /** In canonical form; undefined when any version is allowed. */
  readonly constraints: string | undefined;
  readonly hashes: readonly string[];
}

/** Text to be put in at an offset. */
interface Insertion {
  readonly at: number;
  readonly text: string;
}

/**
 * The file's text with every hash of `entries` and with those entries that it
 * lacks. Nothing that is there is changed or moved, and a file as clients write
 * it becomes the file that clients would write. Version and constraints of an
 * entry that is there already stay as they are.
 */
export function completeLockFile(
  file: DependencyLockFile,
  entries: readonly LockEntry[],
): string {
  const newline = file.text.includes("\r\n") ? "\r\n" : "\n";
  const locks = new Map(file.locks.map((lock) => [lock.name, lock]));
  const insertions = entries
    .toSorted((a, b) => compareNames(a.name, b.name))
    .flatMap((entry) => {
      const lock = locks.get(entry.name);
      return lock === undefined
        ? [insertEntry(file, entry)]
        : insertHashes(file.text, lock, entry.hashes);
    });
  return insert(file.text, insertions, newline);
}

/** A new file, as `client` writes it. */
export function formatLockFile(
  client: "terraform" | "tofu",
  entries: readonly LockEntry[],
): string {
  const blocks = entries
    .toSorted((a, b) => compareNames(a.name, b.name))
    .map((entry) => `\n${formatEntry(entry)}\n`);
  return `# This file is maintained automatically by "${client} init".\n# Manual edits may be lost in future updates.\n${blocks.join("")}`;
}

/** The hashes that the file's entry lacks, sorted. */
export function missingHashes(
  lock: Pick<ProviderLock, "hashes">,
  hashes: readonly string[],
): readonly string[] {
  const known = new Set(lock.hashes);
  return [...new Set(hashes)].filter((hash) => !known.has(hash)).toSorted();
}

/** The order of addresses in the file: by hostname, then namespace, then type. */
function compareNames(a: string, b: string): number {
  const [as, bs] = [a.split("/"), b.split("/")];
  const index = as.findIndex((part, position) => part !== bs[position]);
  return index < 0 ? 0 : (as[index] ?? "") < (bs[index] ?? "") ? -1 : 1;
}

/** The insertions are written with plain line ends. */
function insert(
  text: string,
  insertions: readonly Insertion[],
  newline: string,
): string {
  let result = "";
  let done = 0;
  for (const { at, text: added } of insertions.toSorted(
    (a, b) => a.at - b.at,
  )) {
    result += text.slice(done, at) + added.replaceAll("\n", newline);
    done = at;
  }
  return result + text.slice(done);
}

function formatEntry({
  name,
  version,
  constraints,
  hashes,
}: LockEntry): string {
  const lines =
    constraints === undefined
      ? [`  version = "${version}"`]
      : [`  version     = "${version}"`, `  constraints = "${constraints}"`];
  const list = hashes.length === 0 ? [] : [formatHashes(hashes)];
  return [`provider "${name}" {`, ...lines, ...list, "}"].join("\n");
}

function formatHashes(hashes: readonly string[]): string {
  const sorted = [...new Set(hashes)].toSorted();
  const items = sorted.map((hash) => `    "${hash}",\n`);
  return `  hashes = [\n${items.join("")}  ]`;
}

/** After the last entry that comes before it; a first one goes below the file's heading. */
function insertEntry(file: DependencyLockFile, entry: LockEntry): Insertion {
  const { text, locks, body } = file;
  const block = formatEntry(entry);
  const before = locks.findLast(
    ({ name }) => compareNames(name, entry.name) < 0,
  );
  if (before !== undefined) {
    const at = endOfLine(text, before.block.close.end);
    return { at, text: `\n\n${block}` };
  }
  const first = body?.blocks[0];
  if (first === undefined) {
    const gap = text === "" || text.endsWith("\n") ? "" : "\n";
    return { at: text.length, text: `${gap}\n${block}\n` };
  }
  return {
    at: startWithComments(text, first.type.start),
    text: `${block}\n\n`,
  };
}

/** Before the comments that stand directly above, unless they are the heading of the file. */
function startWithComments(text: string, offset: number): number {
  const start = startOfLine(text, offset);
  let above = start;
  while (above > 0) {
    const line = startOfLine(text, above - 1);
    if (!/^[ \t]*(?:#|\/\/)/.test(text.slice(line, above))) return above;
    above = line;
  }
  return start;
}

function insertHashes(
  text: string,
  lock: ProviderLock,
  hashes: readonly string[],
): readonly Insertion[] {
  const missing = missingHashes(lock, hashes);
  if (missing.length === 0) return [];
  const { list, block } = lock;
  if (list === undefined) return [insertList(text, block.close, missing)];
  const items = list.filter(({ kind }) => kind === "string");
  const groups = Map.groupBy(missing, (hash) =>
    items.findLast((item) => item.text < hash),
  );
  return [...groups].flatMap(([item, group]) =>
    insertAfter(text, list, item, group),
  );
}

function insertList(
  text: string,
  close: Token,
  hashes: readonly string[],
): Insertion {
  const start = startOfLine(text, close.start);
  const ownLine = text.slice(start, close.start).trim() === "";
  return ownLine
    ? { at: start, text: `${formatHashes(hashes)}\n` }
    : { at: close.start, text: `\n${formatHashes(hashes)}\n` };
}

/** After an item, or after the `[` without one: on lines of their own where the list has lines. */
function insertAfter(
  text: string,
  list: readonly Token[],
  item: Token | undefined,
  hashes: readonly string[],
): readonly Insertion[] {
  const bare = list.filter(({ kind }) => kind !== "comment");
  const anchor = bare.findIndex((token) => token === (item ?? list[0]));
  const next = bare.findIndex(
    ({ kind }, index) => index > anchor && kind !== "newline",
  );
  const hasComma = isMark(bare[next], ",");
  const end = bare[hasComma ? next : anchor]?.end ?? 0;
  const following = bare[(hasComma ? next : anchor) + 1];
  const quoted = hashes.map((hash) => `"${hash}"`);
  const comma = item === undefined || hasComma ? "" : ",";
  if (following?.kind === "newline") {
    const indent = indentOf(text, list);
    const lines = quoted.map((hash) => `${indent}${hash},\n`).join("");
    return [
      ...(comma === "" ? [] : [{ at: end, text: comma }]),
      { at: following.end, text: lines },
    ];
  }
  const joined = quoted.join(", ");
  if (item === undefined)
    return [{ at: end, text: isMark(following, "]") ? joined : `${joined}, ` }];
  return [{ at: end, text: hasComma ? ` ${joined},` : `, ${joined}` }];
}

/** As the list's own items are, or one step further than its end. */
function indentOf(text: string, list: readonly Token[]): string {
  for (const { kind, start } of list) {
    const before = text.slice(startOfLine(text, start), start);
    if (kind === "string" && before.trim() === "") return before;
  }
  const close = list.at(-1)?.start ?? 0;
  const line = text.slice(startOfLine(text, close), close);
  return `${/^[ \t]*/.exec(line)?.[0] ?? ""}  `;
}

function startOfLine(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}

/** Before the line end, whichever of the two it is. */
function endOfLine(text: string, offset: number): number {
  const at = text.indexOf("\n", offset);
  if (at < 0) return text.length;
  return text[at - 1] === "\r" ? at - 1 : at;
}
