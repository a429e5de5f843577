import { z } from "zod";
import { describeKind } from "./leaf.ts";
import { findNearest } from "../errors/nearest.ts";
import type { Path, Problem, YamlDocument } from "./yaml-document.ts";

type Issue = z.core.$ZodIssue;
interface Located {
  readonly path: Path;
  readonly message: string;
}

/** Explains what the schema refused, in sentences that name key, expected and got, with their lines. */
export function explainIssues(
  issues: readonly Issue[],
  document: YamlDocument,
  schema: z.ZodType,
): Problem[] {
  const known = listKeys(schema);
  return issues
    .flatMap((issue) => explainIssue(issue, [], known))
    .map(({ path, message }) => ({ line: document.lineOf(path), message }));
}

/** Every key that the schema knows: `listen.tls.key`, `origins.*.url`, `trust.keys.*.match`. */
export function listKeys(schema: z.ZodType): string[] {
  const root = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return keysOf(root, []);
}

/** `origins.registry.example.com.url`, `trust.keys[0].match`. */
function formatPath(path: Path): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
}

function explainIssue(
  issue: Issue,
  parent: Path,
  known: readonly string[],
): Located[] {
  const path = [...parent, ...issue.path.map(asStep)];
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: explainUnknown(key, path, known),
    }));
  if (issue.code === "invalid_union")
    return unionBranch(issue).flatMap((inner) =>
      explainIssue(inner, path, known),
    );
  return [{ path, message: `${subject(path)} ${explainValue(issue)}` }];
}

/** Takes the branch that fits but for a part of it; else unions have a word or a list first and a mapping second. */
function unionBranch(issue: z.core.$ZodIssueInvalidUnion): readonly Issue[] {
  const isMapping = describeKind(issue.input) === "a mapping";
  const fitting = issue.errors.find((branch) =>
    branch.every(({ path }) => path.length > 0),
  );
  return fitting ?? issue.errors[isMapping ? 1 : 0] ?? [];
}

function explainValue(issue: Issue): string {
  if (issue.code === "invalid_type")
    return `is ${describeKind(issue.input)}: expected ${issue.expected === "array" ? "a list such as [ … ]" : "a mapping of keys to values"}`;
  if (issue.code === "too_small") return "is empty: expected at least one";
  return issue.message;
}

/** Keys of earlier versions, and what takes their place. */
const removed: Readonly<Record<string, string>> = {
  "limits.connectionsPerClient":
    'use "limits.connections", the connections of all clients together',
  "limits.metadataPerClient":
    "leave it out; a proxy in front can hold clients to a rate",
};

function explainUnknown(
  key: string,
  path: Path,
  known: readonly string[],
): string {
  const name = formatPath([...path, key]);
  const instead = Object.hasOwn(removed, name) ? removed[name] : undefined;
  if (instead !== undefined)
    return `there is no key "${name}" any longer: ${instead}`;
  const where = path.length === 0 ? "" : ` in "${formatPath(path)}"`;
  const siblings = childrenOf(path, known);
  const elsewhere = known.find((name) => `.${name}`.endsWith(`.${key}`));
  const nearest = findNearest(key, siblings) ?? elsewhere;
  return nearest === undefined
    ? `unknown key "${key}"${where}: expected one of ${siblings.join(", ")}`
    : `unknown key "${key}"${where}: did you mean "${nearest}"?`;
}

function childrenOf(path: Path, known: readonly string[]): string[] {
  return known
    .map((name) => name.split("."))
    .filter(
      (steps) =>
        steps.length === path.length + 1 &&
        path.every((step, at) => steps[at] === "*" || steps[at] === step),
    )
    .map((steps) => steps.at(-1) ?? "");
}

function keysOf(node: z.core.JSONSchema._JSONSchema, path: Path): string[] {
  if (typeof node === "boolean") return [];
  const inside: [string, z.core.JSONSchema._JSONSchema][] = Object.entries(
    node.properties ?? {},
  );
  for (const every of [node.additionalProperties, node.items])
    if (typeof every === "object" && !Array.isArray(every))
      inside.push(["*", every]);
  return [
    ...(node.anyOf ?? []).flatMap((variant) => keysOf(variant, path)),
    ...inside.flatMap(([key, child]) => [
      ...(key === "*" ? [] : [[...path, key].join(".")]),
      ...keysOf(child, [...path, key]),
    ]),
  ];
}

function subject(path: Path): string {
  return path.length === 0 ? "the file" : `"${formatPath(path)}"`;
}

function asStep(step: PropertyKey): string | number {
  return typeof step === "symbol" ? String(step) : step;
}
