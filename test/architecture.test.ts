import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const tests = import.meta.dirname;
const source = join(tests, "..", "src");

/** Tests of no one room: what a user has, the fakes, the model, the packages, properties of many rooms. */
const apart = new Set([
  ...[".", "acceptance", "fakes", "model", "packaging", "property"],
]);

/** From the lowest up: a room imports only those before its own line, whose rooms are siblings. */
const layers = [
  "errors concurrency network",
  ...["telemetry", "address", "origin verification store", "trust", "mirror"],
  "server",
].map((rooms) => rooms.split(" "));

/** Above them all, by who may import each; those of a room may import one another. */
const above: Readonly<Record<string, readonly string[]>> = {
  config: ["commands", "wiring"],
  wiring: ["commands"],
  commands: ["main"],
  main: [],
};

const files = globSync("**/*.ts", { cwd: source }).map((path) => ({
  path,
  text: readFileSync(join(source, path), "utf8"),
}));

interface Import {
  readonly from: string;
  readonly to: string;
}

const imports: readonly Import[] = files.flatMap(({ path, text }) =>
  [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map(([, target]) => ({
    from: path,
    to: relative(source, join(source, path, "..", target ?? "")),
  })),
);

/** The first folder of a path; `main.ts` stands for `main/`. */
function roomOf(path: string): string {
  return (path.split("/")[0] ?? "").replace(/\.ts$/, "");
}

/** The folders of a room from the lowest up: each imports only those before its own line, whose folders are siblings. */
const storeys: Readonly<Record<string, readonly string[]>> = {
  origin: ["guard", "http", "git", "registries", "folder"],
  verification: ["archives", "."],
  store: [".", "database", "records blobs", "bucket"],
  mirror: [
    ...["cache", "archives", "versions", "releases", "trust", "standings"],
    ...["providers modules", "bundles upkeep", "why"],
  ],
  server: ["http tls", "access", "protocols", "requests", "web", "."],
  commands: [
    ...["inputs", "output", ".", "packages", "lock", "store"],
    ...["trust", "audit", "operate"],
  ],
};

const folderOf = (path: string) =>
  dirname(path).split("/").slice(1).join("/") || ".";

function storeyOf(path: string): number {
  return (
    storeys[roomOf(path)]?.findIndex((folders) =>
      folders.split(" ").includes(folderOf(path)),
    ) ?? 0
  );
}

function climbs({ from, to }: Import): boolean {
  return (
    roomOf(from) === roomOf(to) &&
    folderOf(from) !== folderOf(to) &&
    storeyOf(to) >= storeyOf(from)
  );
}

/** The files that a file leads back to itself through, types included. */
function circleFrom(start: string): readonly string[] {
  const ways: string[][] = [[start]];
  const met = new Set<string>();
  for (const way of ways)
    for (const { to } of imports.filter(({ from }) => from === way.at(-1))) {
      if (to === start) return way;
      if (!met.has(to)) ways.push([...way, to]);
      met.add(to);
    }
  return [];
}

function layerOf(path: string): number {
  const room = roomOf(path);
  if (room in above) return layers.length;
  return layers.findIndex((rooms) => rooms.includes(room));
}

function isForbidden({ from, to }: Import): boolean {
  if (roomOf(from) === roomOf(to)) return false;
  const users = above[roomOf(to)];
  if (users !== undefined) return !users.includes(roomOf(from));
  return layerOf(to) >= layerOf(from);
}

/** By name: the files of the whole project that import it, and those that let a thread find it. */
const importers = new Map<string, Set<string>>();
for (const path of globSync("{src,test,packaging,bench,soak,demo}/**/*.ts", {
  cwd: dirname(source),
})) {
  const text = readFileSync(join(source, "..", path), "utf8");
  const taken = text.matchAll(
    /(?:import|export|const)(?: type)? \{([^}]*)\} (?:from|= await import)|import\([^)]*\)(?:\)?\.|, ")(\w+)/g,
  );
  for (const [, list = "", member = ""] of taken)
    for (const name of `${list},${member}`.matchAll(
      /(\w+)(?: as \w+)?\s*(?:,|$)/g,
    ))
      noteImporter(name[1] ?? "", relative("src", path));
  for (const [, name = ""] of text.matchAll(
    /readingBy\(\s*import\.meta\.url,\s*(\w+)/g,
  ))
    noteImporter(name, "a thread");
}

function noteImporter(name: string, path: string): void {
  importers.set(name, (importers.get(name) ?? new Set()).add(path));
}

function findUnusedExports({ path, text }: (typeof files)[number]) {
  const exported = text.matchAll(
    /^export (?:abstract |async )*(?:type|interface|class|function\*?|const) (\w+)/gm,
  );
  return [...exported]
    .map(([, name = ""]) => name)
    .filter(
      (name) => ![...(importers.get(name) ?? [])].some((by) => by !== path),
    )
    .map((name) => `${path}: ${name}`);
}

describe("the house", () => {
  it("has a layer for every room, and a storey for every folder in it", () => {
    const homeless = files.filter(
      ({ path }) => layerOf(path) < 0 || storeyOf(path) < 0,
    );
    expect(homeless.map(({ path }) => path)).toEqual([]);
  });

  it("lets a file import only from below, in the house and in its room", () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(imports.filter(isForbidden)).toEqual([]);
    expect(imports.filter(climbs)).toEqual([]);
  });

  it("has no circle of imports, types included", () => {
    const circles = files
      .map(({ path }) => circleFrom(path))
      .filter((circle) => circle.length > 0);
    expect(circles).toEqual([]);
  });

  it("keeps every test in the room of what it tests", () => {
    const rooms = new Set(files.map(({ path }) => dirname(path)));
    const strays = globSync("**/*.test.ts", { cwd: tests }).filter(
      (path) => !rooms.has(dirname(path)) && !apart.has(dirname(path)),
    );
    expect(strays).toEqual([]);
  });

  it("exports only what another file imports", () => {
    expect(files.flatMap(findUnusedExports)).toEqual([]);
  });

  it.each<[string, RegExp, (path: string) => boolean]>([
    [
      "the environment in the configuration",
      /process\.env/,
      (path) => roomOf(path) === "config",
    ],
    [
      "statuses of HTTP in the table of errors, server, origin and the bucket",
      /\bstatus(?:Code)?\s*(?:===?|:|=)\s*[1-5]\d\d\b/,
      (path) =>
        ["errors", "server", "origin"].includes(roomOf(path)) ||
        path.startsWith("store/bucket/"),
    ],
    [
      "the paths of the store in its layout",
      /["'`](?:blobs|records|staging|tls)\//,
      (path) => roomOf(path) !== "store" || path === "store/layout.ts",
    ],
    [
      "network, processes and clocks outside of verification",
      /Date\.now\(|new Date\(\)|from "node:(?:net|http|https|child_process)"/,
      (path) => roomOf(path) !== "verification",
    ],
  ])("keeps %s", (_, pattern, belongs) => {
    const strays = files.filter(
      ({ path, text }) => !belongs(path) && pattern.test(text),
    );
    expect(strays.map(({ path }) => path)).toEqual([]);
  });
});
