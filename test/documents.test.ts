import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeProgram } from "../src/main/program.ts";

const root = join(import.meta.dirname, "..");
const documents = globSync("{*.md,docs/*.md,packaging/**/*.md}", { cwd: root });
const read = (path: string) => readFileSync(join(root, path), "utf8");

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

/** Commands as their words, a line of the shell each; variables, pipes and comments left out. */
function commandsIn(text: string): readonly (readonly string[])[] {
  const blocks = [...text.matchAll(/^ *```sh\n(.*?)^ *```/gms)];
  return blocks
    .flatMap(([, block = ""]) => block.replaceAll("\\\n", " ").split("\n"))
    .flatMap((line) => line.split(/\s&&\s|\s\|\s/))
    .map((line) => line.replace(/\s+#.*$/, "").trim())
    .filter((line) => /^(?:sudo )?provender /.test(line))
    .map((line) =>
      line
        .replace(/^sudo /, "")
        .split(/\s+/)
        .slice(1),
    );
}

/** What of a command the program does not know: its name or one of its options. */
function unknownIn(words: readonly string[]): string | undefined {
  let command = makeProgram();
  for (const word of words) {
    if (word === ">" || word === "2>") break;
    const below = command.commands.find((one) => one.name() === word);
    if (below !== undefined) command = below;
    const [option = ""] = word.split("=");
    const isKnown =
      !option.startsWith("--") ||
      ["--help", "--version"].includes(option) ||
      command.options.some(({ long }) => long === option);
    if (!isKnown) return option;
  }
  return command.parent === null ? words[0] : undefined;
}

describe("the documents", () => {
  it.each(documents)("%s links to what is there", (path) => {
    const text = read(path).replaceAll(/^```.*?^```/gms, "");
    const links = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)];
    const dead = links.filter(([, link = ""]) => !leadsSomewhere(path, link));
    expect(dead.map(([, link]) => link)).toEqual([]);
  });

  it.each(documents)("%s tells commands that there are", (path) => {
    const unknown = commandsIn(read(path)).flatMap((words) => {
      const what = unknownIn(words);
      return what === undefined ? [] : [`${words.join(" ")}: ${what}`];
    });
    expect(unknown).toEqual([]);
  });

  it("lead to every document from the README", () => {
    const readme = read("README.md");
    const missing = documents.filter(
      (path) => path.startsWith("docs/") && !readme.includes(`](${path})`),
    );
    expect(missing).toEqual([]);
  });

  it("tell of every command", () => {
    const all = documents.map(read).join("\n");
    const names = makeProgram().commands.map((one) => one.name());
    const untold = names.filter((name) => !all.includes(`provender ${name}`));
    expect(untold).toEqual([]);
  });

  it("are short where people begin", () => {
    expect(read("README.md").split("\n").length).toBeLessThanOrEqual(121);
  });
});
