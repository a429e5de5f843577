import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

export const documents = globSync(
  "{*.md,docs/*.md,docs/design/*.md,packaging/**/*.md,test/*.md}",
  { cwd: root },
).sort();

export function readDocument(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** The commands in a document's shell blocks, without the comments behind them. */
export function listShellCommands(path: string): readonly string[] {
  const blocks = readDocument(path).matchAll(/^ *```sh\n(.*?)^ *```/gms);
  return [...blocks]
    .flatMap(([, block = ""]) => block.replaceAll("\\\n", " ").split("\n"))
    .map((line) => line.replace(/(?:^|\s+)#.*$/, "").trim())
    .filter((line) => line !== "");
}

/** Links of documents below a folder to files that are not there. */
export function findDeadLinks(folder: string): readonly string[] {
  return globSync("{*.md,docs/**/*.md}", { cwd: folder }).flatMap((name) => {
    const text = readFileSync(join(folder, name), "utf8");
    return [...text.matchAll(/\]\((?![a-z]+:)([^)#\s]+)/g)]
      .map(([, link = ""]) => join(dirname(name), link))
      .filter((path) => !existsSync(join(folder, path)));
  });
}
