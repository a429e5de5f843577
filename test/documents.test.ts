import { existsSync, globSync, readdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { makeProgram } from "../src/main/program.ts";
import {
  documents,
  listShellCommands,
  readDocument as read,
} from "./scenes/documents.ts";

const root = join(import.meta.dirname, "..");

/** GitHub's name of a heading. */
function anchorOf(heading: string): string {
  const text = heading.replaceAll(/[`*]/g, "").trim().toLowerCase();
  return text.replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}

function anchorsOf(path: string): readonly string[] {
  const text = read(path).replaceAll(/^```.*?^```/gms, "");
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, name = ""]) =>
    anchorOf(name),
  );
}

/** Whether a link of a document leads to a file, and to a heading of it. */
function leadsSomewhere(from: string, link: string): boolean {
  const [file = "", anchor] = link.split("#");
  const path = file === "" ? from : join(dirname(from), file);
  if (!existsSync(join(root, path))) return false;
  return anchor === undefined || anchorsOf(path).includes(anchor);
}

/** The options of each command, by its words. */
function listOptions(
  command: Command,
  words: readonly string[] = [],
): readonly (readonly [string, ReadonlySet<string>])[] {
  const flags = command.options.map(({ long }) => long ?? "");
  const below = command.commands.flatMap((one) =>
    listOptions(one, [...words, one.name()]),
  );
  return [[words.join(" "), new Set([...flags, "--help"])], ...below];
}

const known = new Map(listOptions(makeProgram()));

/** Finds the parts of a command that the program does not know: its name or options. */
function unknownIn(command: string): readonly string[] {
  const words = command.split(/[\s=]+/);
  const name = [2, 1].map((count) => words.slice(0, count).join(" "));
  const options = name.map((one) => known.get(one)).find((one) => one);
  if (options === undefined) return name.slice(-1);
  return words.filter((word) => word.startsWith("--") && !options.has(word));
}

describe("the documents", () => {
  it.each(documents)("%s links to what is there", (path) => {
    const text = read(path).replaceAll(/^```.*?^```/gms, "");
    const links = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)];
    const dead = links.filter(([, link = ""]) => !leadsSomewhere(path, link));
    expect(dead.map(([, link]) => link)).toEqual([]);
  });

  it.each(documents)("%s names commands and options that there are", (path) => {
    const named = [...read(path).matchAll(/`provender ([a-z][^`\n]*)`/g)];
    const run = listShellCommands(path).flatMap((line) => [
      ...line.matchAll(/(?:^|\| |sudo )provender ([a-z][^|>]*)/g),
    ]);
    for (const [, one = ""] of [...named, ...run])
      expect(unknownIn(one.trim())).toEqual([]);
  });

  it.each([
    ["README.md", "docs/*.md"],
    ["docs/design/README.md", "docs/design/!(README).md"],
  ])("%s leads to all of %s", (list, pattern) => {
    const text = read(list);
    const missing = globSync(pattern, { cwd: root }).filter(
      (path) => !text.includes(`](${relative(dirname(list), path)})`),
    );
    expect(missing).toEqual([]);
  });

  it("have each fake and scene on the list of them", () => {
    const files = globSync("{fakes,scenes}/*.ts", {
      cwd: join(root, "test"),
      exclude: ["**/*.test.ts"],
    });
    const listed = read("test/README.md").matchAll(/^\| `(.*?)`/gm);
    const expected = files.map((name) => basename(name));
    expect([...listed].map(([, name]) => name).toSorted()).toEqual(
      expected.toSorted(),
    );
  });

  it("tell of every command", () => {
    const all = documents.map(read).join("\n");
    const names = makeProgram().commands.map((one) => one.name());
    const untold = names.filter((name) => !all.includes(`provender ${name}`));
    expect(untold).toEqual([]);
  });

  it("have every room on the map, and no other", () => {
    const [, map = ""] =
      /^```\n(src\/\n[^`]+)^```/m.exec(read("docs/glossary.md")) ?? [];
    const mapped = [...map.matchAll(/\b([a-z]+)\//g)].map(([, room]) => room);
    const names = (room: string) =>
      readdirSync(join(root, "src", room), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name);
    const rooms = ["", "origin", "mirror", "server", "commands"].flatMap(names);
    expect(rooms.filter((room) => !mapped.includes(room))).toEqual([]);
    const all = [...rooms, ...names("store"), ...names("verification"), "src"];
    expect(mapped.filter((room) => !all.includes(room ?? ""))).toEqual([]);
  });

  it("are short where people begin", () => {
    expect(read("README.md").split("\n").length).toBeLessThanOrEqual(121);
  });
});
