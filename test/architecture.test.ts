import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const source = join(root, "src");

/** Lower imports nothing above it; rooms of one layer are siblings and never import one another. */
const layers: Readonly<Record<string, number>> = {
  errors: 0,
  telemetry: 1,
  address: 2,
  origin: 3,
  verification: 3,
  store: 3,
  mirror: 4,
  server: 5,
  commands: 5,
  config: 6,
  wiring: 6,
  main: 6,
};

const top = 6;

/** A face may show what another face is made of only here: `serve` runs the server. */
const allowedSiblings = new Set([
  "commands/operate/serve.ts -> server/daemon.ts",
]);

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

/** A folder, or the file beside it that opens it: `config.ts` and `config/`. */
function roomOf(path: string): string {
  return (path.split("/")[0] ?? "").replace(/\.ts$/, "");
}

function layerOf(path: string): number {
  return layers[roomOf(path)] ?? -1;
}

function isForbidden({ from, to }: Import): boolean {
  if (roomOf(from) === roomOf(to)) return false;
  if (allowedSiblings.has(`${from} -> ${to}`)) return false;
  return layerOf(to) >= layerOf(from) && layerOf(from) < top;
}

describe("the house", () => {
  it("has a layer for every room", () => {
    const homeless = files.filter(({ path }) => layerOf(path) < 0);
    expect(homeless.map(({ path }) => path)).toEqual([]);
  });

  it("lets a file import only from below and from its own room", () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(imports.filter(isForbidden)).toEqual([]);
  });

  it("lets only main and wiring import the configuration", () => {
    const readers = imports.filter(
      ({ from, to }) =>
        roomOf(to) === "config" &&
        roomOf(from) !== "config" &&
        !["main", "wiring"].includes(roomOf(from)),
    );
    expect(readers).toEqual([]);
  });

  it("lets nothing import main or wiring but main", () => {
    const users = imports.filter(
      ({ from, to }) =>
        ["main", "wiring"].includes(roomOf(to)) &&
        !["main", "wiring"].includes(roomOf(from)),
    );
    expect(users).toEqual([]);
  });

  it("reads the environment in the configuration only", () => {
    const readers = files.filter(
      ({ path, text }) =>
        roomOf(path) !== "config" && text.includes("process.env"),
    );
    expect(readers.map(({ path }) => path)).toEqual([]);
  });

  it("keeps statuses of HTTP in server and origin", () => {
    const knowing = files.filter(
      ({ path, text }) =>
        !["server", "origin"].includes(roomOf(path)) &&
        /\bstatus(?:Code)?\s*(?:===?|:|=)\s*[1-5]\d\d\b/.test(text),
    );
    expect(knowing.map(({ path }) => path)).toEqual([]);
  });

  it("keeps the paths of the store in its layout", () => {
    const knowing = files.filter(
      ({ path, text }) =>
        roomOf(path) === "store" &&
        path !== "store/layout.ts" &&
        /["'`](?:blobs|records|staging|tls)\//.test(text),
    );
    expect(knowing.map(({ path }) => path)).toEqual([]);
  });

  it("does no input or output and reads no clock in verification", () => {
    const clocks = files.filter(
      ({ path, text }) =>
        roomOf(path) === "verification" &&
        /Date\.now\(|new Date\(\)|from "node:(?:net|http|https|child_process)"/.test(
          text,
        ),
    );
    expect(clocks.map(({ path }) => path)).toEqual([]);
  });

  it("has no file over 300 lines", () => {
    const long = files.filter(({ text }) => text.split("\n").length > 301);
    expect(long.map(({ path }) => path)).toEqual([]);
  });
});
