/** One file, link or submodule of a commit. */
export interface GitEntry {
  readonly kind: "file" | "executable" | "link" | "submodule";
  readonly path: string;
  /** The name of its content in the repository. */
  readonly id: string;
  /** Bytes; 0 for a submodule. */
  readonly size: number;
}

/** The files of a commit, with their content still in the repository; close it when done. */
export interface GitTree {
  readonly commit: string;
  readonly entries: readonly GitEntry[];
  /** For each id in turn a line `ID blob SIZE`, the content, and a line's end (git-cat-file, "BATCH OUTPUT"). */
  readBlobs(ids: readonly string[]): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

const kinds: Readonly<Record<string, GitEntry["kind"]>> = {
  "100644": "file",
  "100664": "file",
  "100755": "executable",
  "120000": "link",
  "160000": "submodule",
};

/** What `ls-tree -r -l -z` printed; throws RangeError for anything else. */
export function parseTree(printed: Buffer): readonly GitEntry[] {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(printed);
  return text.split("\0").filter(Boolean).map(parseEntry);
}

function parseEntry(line: string): GitEntry {
  const [, mode = "", id = "", size = "", path = ""] =
    /^([0-7]{6}) (?:blob|commit) ([0-9a-f]{40,64}) +([0-9]+|-)\t(.+)$/s.exec(
      line,
    ) ?? [];
  const kind = kinds[mode];
  if (kind === undefined)
    throw new RangeError("it has a member of an unknown type");
  return { kind, path, id, size: size === "-" ? 0 : Number(size) };
}
