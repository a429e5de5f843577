import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "./project.ts";

/** Package of node_modules, as its package.json describes it. */
export interface Component {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

export async function readComponent(folder: string): Promise<Component> {
  const text = await readFile(join(root, folder, "package.json"), "utf8");
  const { name, version, license } = JSON.parse(text) as Partial<Component>;
  if (name === undefined || version === undefined || license === undefined)
    throw new Error(`${folder} does not say what it is or its license.`);
  return { name, version, license };
}

/** The licenses of the program and of everything that it contains, in full. */
export async function formatLicenses(
  packages: readonly string[],
): Promise<string> {
  const own = await readFile(join(root, "LICENSE"), "utf8");
  const others = await Promise.all(packages.map(describe));
  return [
    "provender\n\n",
    own,
    heading(`Node.js ${process.version}`),
    "MIT and others: https://github.com/nodejs/node/blob/",
    `${process.version}/LICENSE\n`,
    ...others,
  ].join("");
}

async function describe(folder: string): Promise<string> {
  const { name, version, license } = await readComponent(folder);
  const files = await readdir(join(root, folder));
  const found = files.filter((file) => /^(licen[cs]e|notice)/i.test(file));
  const texts = await Promise.all(
    found.sort().map((file) => readFile(join(root, folder, file), "utf8")),
  );
  const title = heading(`${name} ${version} (${license})`);
  return title + texts.map((text) => `${text.trim()}\n`).join("\n");
}

function heading(text: string): string {
  return `\n${"-".repeat(78)}\n${text}\n\n`;
}
