import { dirname } from "node:path";
import type { z } from "zod";
import { failure } from "../errors/index.ts";
import type { Configuration } from "./configuration.ts";
import {
  findHostToken,
  defaultSearchPath,
  parseNotify,
  parseProxy,
  readSurroundings,
  type Surroundings,
} from "./environment.ts";
import { explainIssues } from "./explain.ts";
import { configurationSchema } from "./schema.ts";
import { readSource } from "./source.ts";
import { parseYaml, type Problem, type YamlDocument } from "./yaml-document.ts";

export type * from "./configuration.ts";
export type { Limits } from "./limits.ts";
export { systemFile } from "./source.ts";
export { formatConfiguration, listChangedKeys } from "./format.ts";

/** The token that clients have in the environment for the host of `url`. */
export function loadHostToken(
  url: URL,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  return findHostToken(url, env);
}

type Schema = ReturnType<typeof configurationSchema>;

const mostProblems = 5;

/**
 * The configuration of `file` (the value of --config), else of $PROVENDER_CONFIG, ./provender.yaml or
 * /etc/provender/config.yaml, else the defaults; CA files and tokens are read, everything is frozen.
 * Throws a configuration error with the first problems, each with FILE:LINE.
 */
export function loadConfiguration({
  file,
  ...given
}: {
  readonly file: string | undefined;
} & Partial<Surroundings>): Configuration {
  const from = { ...readSurroundings(), ...given };
  const { env, cwd } = from;
  const source = readSource(file, from);
  const schema = configurationSchema(source ? dirname(source.path) : cwd, from);
  const document = parseYaml(source?.text ?? "");
  return deepFreeze({
    ...parseDocument(document, schema, source?.path ?? ""),
    proxy: parseProxy(env),
    notify: parseNotify(env),
    searchPath: env.PATH ?? defaultSearchPath,
    source: source?.path,
  });
}

function parseDocument(
  document: YamlDocument,
  schema: Schema,
  file: string,
): z.output<Schema> {
  if (document.problems.length > 0) refuse(file, document.problems);
  const parsed = schema.safeParse(document.value, { reportInput: true });
  if (!parsed.success)
    refuse(file, explainIssues(parsed.error.issues, document, schema));
  return parsed.data;
}

/** The first problems in the order of the file, each once and on a line of its own. */
function refuse(file: string, problems: readonly Problem[]): never {
  const found = problems
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
    .map(({ line, message }) => ({
      where: line === undefined ? file : `${file}:${line}`,
      sentence: /[.?!]$/.test(message) ? message : `${message}.`,
    }));
  const { where, sentence } = found[0] ?? { where: file, sentence: "" };
  const lines = [
    ...new Set(found.map((one) => `${one.where}: ${one.sentence}`)),
  ];
  const more = lines.length - mostProblems;
  const others = [
    ...lines.slice(1, mostProblems),
    ...(more > 0 ? [`(and ${more} more)`] : []),
  ];
  throw failure(
    "configuration",
    where,
    [sentence, ...others].join("\n"),
    undefined,
  );
}

/** URLs and the map itself are read-only by their types alone. */
function deepFreeze<T>(value: T): T {
  if (value instanceof URL || typeof value !== "object" || value === null)
    return value;
  const inner = value instanceof Map ? value.values() : Object.values(value);
  for (const child of inner) deepFreeze(child);
  return Object.freeze(value);
}
