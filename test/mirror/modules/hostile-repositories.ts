import {
  blobOf,
  commitOf,
  gitId,
  treeOf,
  type PackObject,
} from "../../fakes/git-pack.ts";

/** A commit and what it needs; `objects` holds the commit, too. */
export interface HostileRepository {
  readonly commit: PackObject;
  readonly objects: readonly PackObject[];
}

type Line = readonly [named: string, object: PackObject];

class Repository {
  readonly #ids = new Map<PackObject, string>();

  add(object: PackObject): PackObject {
    this.#ids.set(object, gitId(object));
    return object;
  }

  blob(text: string): PackObject {
    return this.add(blobOf(text));
  }

  /** Git sorts by name; so must `lines` be. */
  tree(lines: readonly Line[]): PackObject {
    return this.add(
      treeOf(lines.map(([named, one]) => [named, this.#ids.get(one) ?? ""])),
    );
  }

  /** Below so many folders of one name. */
  nest(tree: PackObject, depth: number, name: string): PackObject {
    let top = tree;
    for (let at = 0; at < depth; at++)
      top = this.tree([[`40000 ${name}`, top]]);
    return top;
  }

  finish(top: PackObject): HostileRepository {
    const commit = this.add(commitOf(top));
    const known = new Map([...this.#ids].map(([object, id]) => [id, object]));
    return { commit, objects: [...known.values()] };
  }
}

const two = (n: number) => String(n).padStart(2, "0");
const range = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** `folders` folders of `links` links each, all to the next folder: links ** folders ways. */
function linkLadder(folders: number, links: number): HostileRepository {
  const repository = new Repository();
  const lines = range(folders, (n): Line => {
    const target = repository.blob(
      n + 1 < folders ? `../f${two(n + 1)}` : "..",
    );
    const all = range(links, (m): Line => [`120000 l${two(m)}`, target]);
    return [`40000 f${two(n)}`, repository.tree(all)];
  });
  return repository.finish(repository.tree(lines));
}

/** Each folder holds the one below and two links into it. */
function linksBelowEachOther(depth: number): HostileRepository {
  const repository = new Repository();
  const file = repository.blob("# x");
  let top = repository.tree([["100644 main.tf", file]]);
  const link = repository.blob("d");
  for (let at = 0; at < depth; at++)
    top = repository.tree([
      ["120000 a", link],
      ["120000 b", link],
      ["40000 d", top],
    ]);
  return repository.finish(top);
}

/** Links that lead to links, and at the end round in a circle. */
function linkCircle(links: number): HostileRepository {
  const repository = new Repository();
  const name = (n: number) => `l${String(n).padStart(4, "0")}`;
  const lines = range(links, (n): Line => [
    `120000 ${name(n)}`,
    repository.blob(name((n + 1) % links)),
  ]);
  lines.push(["100644 main.tf", repository.blob("# x")]);
  return repository.finish(repository.tree(lines));
}

/** `levels` trees of `width` entries, all of them the same one below: width ** levels. */
function repeatedTrees(
  levels: number,
  width: number,
  bottom: Line[],
): HostileRepository {
  const repository = new Repository();
  for (const [, object] of bottom) repository.add(object);
  let top = repository.tree(bottom);
  for (let level = 0; level < levels; level++) {
    const below = top;
    top = repository.tree(
      range(width, (n): Line => [`40000 ${two(n)}`, below]),
    );
  }
  return repository.finish(top);
}

function deepTree(depth: number): HostileRepository {
  const repository = new Repository();
  const file = repository.tree([["100644 main.tf", repository.blob("# x")]]);
  return repository.finish(repository.nest(file, depth, "d"));
}

function longNames(entries: number, length: number): HostileRepository {
  const repository = new Repository();
  const file = repository.blob("");
  const lines = range(entries, (n): Line => [
    `100644 ${String(n).padStart(length, "0")}`,
    file,
  ]);
  return repository.finish(repository.tree(lines));
}

/** One large content under many names. */
function copiesOfOne(entries: number, bytes: number): HostileRepository {
  const repository = new Repository();
  const file = repository.blob("x".repeat(bytes));
  const lines = range(entries, (n): Line => [
    `100644 ${String(n).padStart(5, "0")}`,
    file,
  ]);
  return repository.finish(repository.tree(lines));
}

const empty: Line[] = [];
const file: Line[] = [["100644 main.tf", blobOf("# x")]];

/** Each would take for ever, or all of the memory. */
export const hostileRepositories: Readonly<
  Record<string, () => HostileRepository>
> = {
  "16 folders of 40 links to the next one": () => linkLadder(16, 40),
  "2 folders of 400 links to the next one and back": () => linkLadder(2, 400),
  "links below each other, 40 deep": () => linksBelowEachOther(40),
  "10^12 empty folders": () => repeatedTrees(12, 10, empty),
  "99^6 files": () => repeatedTrees(6, 99, file),
  "a path of 3 000 folders": () => deepTree(3_000),
  "18 000 names of 900 bytes": () => longNames(18_000, 900),
  "100 000 empty files": () => longNames(100_000, 6),
  "19 999 copies of 1 MiB": () => copiesOfOne(19_999, 2 ** 20),
  "1 001 links in a circle": () => linkCircle(1_001),
};

/** Odd, and no reason to refuse: what leads round in a circle is left out. */
export const harmlessRepository = (): HostileRepository => linkCircle(300);
