import { readFileSync } from "node:fs";
import { configurationSchema, listKeys } from "../src/config/schema.ts";
import { makeFile } from "./made-file.ts";

const head = `# Configuration

Every key with its default. An unknown key is an error that names it, its line and the nearest known one. Sizes are \`512MiB\`,
\`200GiB\` or plain bytes; durations \`500ms\`, \`30s\`, \`5m\`, \`1h\`, \`7d\` or \`0\`. Relative paths start from the folder of the file.
Secrets are named in it, never written. [operate.md](operate.md) says where the file is looked for.

This page is made by \`node packaging/configuration-page.ts\` from the code and from
[config.example.yaml](../config.example.yaml), which says the same in the form of a file to start from.
`;

const example = readFileSync(
  new URL("../config.example.yaml", import.meta.url),
  "utf8",
);
/** Each with the comments that stand before it. */
const [, ...sections] = example.split(/\n\n(?=(?:# .*\n)*[a-zA-Z]+:)/);

const schema = configurationSchema("/", { env: {}, cwd: "/", home: "/" });
const defaults = listKeys(schema);
const keys = [...defaults.keys()];

/** Keys that a block needs before it is on. */
const isNeeded = new Set(["endpoint", "bucket", "issuer", "audience"]);

/** docs/configuration.md. */
export const configurationPage = await makeFile(
  "docs/configuration.md",
  import.meta,
  `${head}\n${sections.map(formatSection).join("\n")}`,
);

function formatSection(text: string): string {
  const [name = ""] = /^[a-zA-Z]+(?=:)/m.exec(text) ?? [];
  const above = /^(?:# .*\n)+/.exec(text)?.[0].replaceAll(/^# /gm, "") ?? "";
  const own = keys.filter((key) => key.startsWith(`${name}.`) && isRow(key));
  const rows = (own.length > 0 ? own : [name]).map((key) =>
    formatRow(key, text),
  );
  return `## ${name}\n\n${above}\n| key | default | what |\n| --- | --- | --- |\n${rows.join("\n")}\n`;
}

/** Leaves out the keys of a mapping that stands on one line. */
function isRow(key: string): boolean {
  const isInside = /\.(?:tls|token|secretAccessKey)\.|[a-z]\.\*\./i.test(key);
  return !isInside || /^origins\.\*\.\w+$/.test(key);
}

/** By the key's own line in the example; an item of a list is on the next one. */
function formatRow(key: string, section: string): string {
  const name = key.split(".").at(-1) ?? "";
  const line = `^ *(#?) *${name}:(?: ([^#].*?))?(?: # (.*))?$(?:\\n *# *- (.*?)(?: # (.*))?$)?`;
  const matches = [...section.matchAll(new RegExp(line, "gm"))];
  const [comment = "", written, words, item, itemWords] = [1, 2, 3, 4, 5].map(
    (group) => matches.find((one) => one[group])?.[group],
  );
  const fallback =
    comment === "" || matches.length > 1 ? written : defaultOf(key);
  const sample = item ?? (fallback === written ? undefined : written);
  const facts = [
    words?.replaceAll(/\bdocs\/(\S+\.md)/g, "[$1]($1)"),
    isNeeded.has(name) ? "needed" : undefined,
    sample === undefined ? undefined : `such as \`${sample}\``,
    itemWords,
  ].filter((one) => one !== undefined);
  const cells = [
    `\`${key}\``,
    fallback ? `\`${fallback}\`` : "",
    facts.join("; "),
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** Returns the default of a key that is commented out in the example. */
function defaultOf(key: string): string | undefined {
  if (isNeeded.has(key.split(".").at(-1) ?? "")) return undefined;
  const value = defaults.get(key);
  const isBlock = typeof value === "object" && !Array.isArray(value);
  return value === undefined || isBlock
    ? undefined
    : JSON.stringify(value).replaceAll('"', "");
}
