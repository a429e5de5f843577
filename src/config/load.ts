import { dirname } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";
import { formatPlatform } from "../address/platform.ts";
import { formatDuration, formatSize } from "../address/units.ts";
import { formatVersionConstraint } from "../address/version-constraint.ts";
import { failure } from "../errors/index.ts";
import { findNearest } from "../errors/nearest.ts";
import type { TlsChoice } from "../server/tls/certificate-source.ts";
import type {
  Configuration,
  OidcConfiguration,
  OriginConfiguration,
} from "./configuration.ts";
import {
  defaultSearchPath,
  findHostToken,
  parseNotify,
  parseProxy,
  readSurroundings,
  type Surroundings,
} from "./environment.ts";
import { describeKind } from "./leaf.ts";
import { formatLimit, limitTable } from "./limits.ts";
import { configurationSchema } from "./schema.ts";
import { readSource } from "./source.ts";
import {
  parseYaml,
  type Path,
  type Problem,
  type YamlDocument,
} from "./yaml-document.ts";

export type * from "./configuration.ts";
export type { Limits } from "./limits.ts";
export { systemFile } from "./source.ts";

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

type Issue = z.core.$ZodIssue;
interface Located {
  readonly path: Path;
  readonly message: string;
}

/** Explains what the schema refused, in sentences that name key, expected and got, with their lines. */
function explainIssues(
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
  "origins.*.networkMirror":
    'a mirror upstream is a registry of each of its origins, with signatures: "url: https://MIRROR/registry/HOSTNAME/"',
  "origins.*.reportedHashes":
    "leave it out; only an h1 that this mirror computed itself is published",
};

function explainUnknown(
  key: string,
  path: Path,
  known: readonly string[],
): string {
  const name = formatPath([...path, key]);
  const [, instead] =
    Object.entries(removed).find(([pattern]) =>
      matches(pattern.split("."), [...path, key]),
    ) ?? [];
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
        steps.length === path.length + 1 && matches(steps.slice(0, -1), path),
    )
    .map((steps) => steps.at(-1) ?? "");
}

function matches(pattern: readonly string[], path: Path): boolean {
  return (
    pattern.length === path.length &&
    pattern.every((step, at) => step === "*" || step === path[at])
  );
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

/**
 * The effective configuration as YAML that reads back to the same, secrets as the place they come from;
 * comments say which file and proxy are used.
 */
export function formatConfiguration(configuration: Configuration): string {
  const { proxy, source } = configuration;
  const comments = [
    `# ${source ?? "no file: built-in defaults"}`,
    ...(proxy.https ? [`# HTTPS_PROXY: ${proxy.https.origin}`] : []),
    ...(proxy.no === undefined ? [] : [`# NO_PROXY: ${proxy.no}`]),
  ];
  const yaml = stringify(plainConfiguration(configuration), {
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
  return `${comments.map(oneLine).join("\n")}\n${yaml}`;
}

/** The keys whose values differ, such as `limits.stop`; in the order of the schema. */
export function listChangedKeys(
  before: Configuration,
  after: Configuration,
): readonly string[] {
  const [old, now] = [before, after].map((one) =>
    flatten("", { ...plainConfiguration(one), ...secretsOf(one) }),
  );
  const names = new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])]);
  return [...names].filter((name) => old?.get(name) !== now?.get(name));
}

/** Lists the secrets that the YAML names by their place alone; they are compared and never shown. */
function secretsOf({ origins, storage: { s3 } }: Configuration) {
  return {
    "the bucket's files": [s3?.ca, s3?.secretAccessKey?.secret],
    "origins' files": Array.from(origins.values(), ({ ca, token }) => [
      ca,
      token?.secret,
    ]),
  };
}

/** The two upper levels by name, and what is below as text. */
function flatten(prefix: string, value: object): Map<string, string> {
  return new Map(
    Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
      const isSection =
        prefix === "" &&
        typeof inner === "object" &&
        inner !== null &&
        !Array.isArray(inner);
      return isSection
        ? [...flatten(`${name}.`, inner)]
        : [[prefix + name, JSON.stringify(inner)] as [string, string]];
    }),
  );
}

function plainConfiguration(from: Configuration) {
  const { listen, storage, discovery, policy, auth } = from;
  return plain("", {
    listen: { ...listen, tls: plainTls(listen.tls) },
    publicUrl: from.publicUrl ?? null,
    storage: {
      directory: storage.directory,
      maxSize: storage.maxSize ?? "unlimited",
      minFree: storage.minFree,
      s3: storage.s3 ? withCaFile(storage.s3) : null,
    },
    origins: Object.fromEntries(
      Array.from(from.origins, ([name, origin]) => [name, plainOrigin(origin)]),
    ),
    discovery: { origin: discovery.origin ?? null },
    freshness: from.freshness,
    offline: from.offline,
    platforms: from.platforms.map(formatPlatform),
    policy: { ...policy, rules: policy.rules.map(plainRule) },
    trust: from.trust,
    auth: {
      // An empty list cannot be read back.
      tokens: auth.tokens.length > 0 ? auth.tokens : undefined,
      archiveUrls: auth.archiveUrls,
      metrics: auth.metrics,
      oidc: plainIssuers(auth.oidc),
    },
    limits: from.limits,
    log: from.log,
  }) as object;
}

/** How the numbers of a key are written. */
const numbers: Readonly<Record<string, (value: number) => string>> = {
  maxSize: formatSize,
  minFree: formatSize,
  versions: formatDuration,
  staleFor: formatDuration,
  notFound: formatDuration,
  minimumAge: formatDuration,
  archiveUrls: formatDuration,
  expires: (moment) => new Date(moment).toISOString(),
  ...Object.fromEntries(
    Object.entries(limitTable).map(([name, limit]) => [
      name,
      (value: number) => formatLimit(limit, value),
    ]),
  ),
};

/** Writes the value of a key, and those in it, in the form in which they are read; a secret as its place. */
function plain(name: string, value: unknown): unknown {
  if (typeof value === "number") return plainNumber(name, value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof URL) return value.href;
  if (Array.isArray(value)) return value.map((one) => plain(name, one));
  if ("source" in value) return plainPlace(String(value.source));
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, one]: [string, unknown]) => [key, plain(key, one)]),
  );
}

/** Digits alone are a number in YAML, without quotes. */
function plainNumber(name: string, value: number): string | number {
  const text = numbers[name]?.(value) ?? String(value);
  return /^[0-9]+$/.test(text) ? Number(text) : text;
}

function plainPlace(source: string) {
  const space = source.indexOf(" ");
  return { [source.slice(0, space)]: source.slice(space + 1) };
}

function plainTls({ kind, ...files }: TlsChoice) {
  return kind === "files" ? files : kind;
}

function withCaFile<T extends { readonly caFile: string | undefined }>({
  caFile,
  ...rest
}: T) {
  return { ...rest, ca: caFile };
}

function plainOrigin({ urlConfigured, ...origin }: OriginConfiguration) {
  const url = urlConfigured ? origin.url : undefined;
  return withCaFile({ ...origin, url, hostname: undefined });
}

function plainRule({
  versions,
  minimumAge,
  ...rule
}: Configuration["policy"]["rules"][number]) {
  const range = versions && formatVersionConstraint(versions);
  return { ...rule, versions: range, minimumAge };
}

function plainIssuers(issuers: readonly OidcConfiguration[]) {
  const [first, ...others] = issuers.map((issuer) => ({
    ...withCaFile(issuer),
    claims: issuer.claims.size > 0 ? issuer.claims : undefined,
  }));
  return others.length > 0 ? [first, ...others] : (first ?? null);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}
