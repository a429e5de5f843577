import { dirname } from "node:path";
import type * as z from "zod";
import { failure, type Failure } from "../errors/index.ts";
import { findNearest } from "../errors/nearest.ts";
import {
  defaultSearchPath,
  parseNotify,
  parseProxy,
  readSurroundings,
  type Surroundings,
} from "./environment.ts";
import { describeKind } from "./leaf.ts";
import { configurationSchema, listKeys, type s3Schema } from "./schema.ts";
import { readSource } from "./source.ts";
import {
  parseYaml,
  type Path,
  type Problem,
  type YamlDocument,
} from "./yaml-document.ts";
import type { makeOrigin } from "./origins.ts";

const mostProblems = 5;

type Asked = { readonly file: string | undefined } & Partial<Surroundings>;

/**
 * The configuration of `file` (the value of --config), else of $PROVENDER_CONFIG, ./provender.yaml or
 * /etc/provender/config.yaml, else the defaults; CA files and tokens are read.
 * Throws a configuration error with the first problems, each with FILE:LINE.
 */
export function loadConfiguration(asked: Asked): Configuration {
  const { configuration, problem } = loadUsable(asked);
  if (problem !== undefined) throw problem;
  return configuration;
}

/** The same for a look at what runs: where something is wrong, `problem` says what, and all but `listen` and `storage` is as by default. */
export function loadUsable({ file, ...given }: Asked): {
  readonly configuration: Configuration;
  readonly problem: Failure<"configuration"> | undefined;
} {
  const from = { ...readSurroundings(), ...given };
  const { env, cwd } = from;
  const source = readSource(file, from);
  const schema = configurationSchema(source ? dirname(source.path) : cwd, from);
  const document = parseYaml(source?.text ?? "");
  const { value } = document;
  const parsed = schema.safeParse(value, { reportInput: true });
  const issues = parsed.error?.issues ?? [];
  const problems =
    document.problems.length > 0
      ? document.problems
      : explainIssues(issues, document, schema);
  const { listen, storage } = Object(value) as Record<string, unknown>;
  return {
    configuration: {
      ...(parsed.data ??
        schema.safeParse({ listen, storage }).data ??
        schema.parse({})),
      proxy: parseProxy(env),
      notify: parseNotify(env),
      searchPath: env.PATH ?? defaultSearchPath,
      source: source?.path,
    },
    problem:
      problems.length === 0 ? undefined : refuse(source?.path ?? "", problems),
  };
}

/** The first problems in the order of the file, each once and on a line of its own. */
function refuse(
  file: string,
  problems: readonly Problem[],
): Failure<"configuration"> {
  const found = problems
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
    .map(({ line, message }) => {
      const where = line === undefined ? file : `${file}:${line}`;
      return `${where}: ${/[.?!]$/.test(message) ? message : `${message}.`}`;
    });
  const [first = "", ...others] = new Set(found);
  const more = others.length + 1 - mostProblems;
  const [where = ""] = /^.*?(?=: )/.exec(first) ?? [];
  const lines = [
    first.slice(where.length + 2),
    ...others.slice(0, mostProblems - 1),
    ...(more > 0 ? [`(and ${more} more)`] : []),
  ];
  return failure("configuration", where, lines.join("\n"), undefined);
}

type Issue = z.core.$ZodIssue;

/** Explains what the schema refused, in sentences that name key, expected and got, with their lines. */
function explainIssues(
  issues: readonly Issue[],
  document: YamlDocument,
  schema: z.ZodType,
): readonly Problem[] {
  const known = [...listKeys(schema).keys()];
  const explain = (issue: Issue, above: Path): readonly Problem[] => {
    const path = [...above, ...(issue.path as Path)];
    if (issue.code === "unrecognized_keys")
      return issue.keys.map((key) => ({
        line: document.lineOf([...path, key]),
        message: explainUnknown(key, path, known),
      }));
    if (issue.code === "invalid_union")
      return unionBranch(issue).flatMap((inner) => explain(inner, path));
    const subject = path.length === 0 ? "the file" : `"${formatPath(path)}"`;
    const message = `${subject} ${explainValue(issue)}`;
    return [{ line: document.lineOf(path), message }];
  };
  return issues.flatMap((issue) => explain(issue, []));
}

/** `origins.registry.example.com.url`, `trust.keys[0].match`. */
function formatPath(path: Path): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
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

/** A key whose value is fixed now. */
const constant = (value: string) => `leave it out; it is fixed: ${value}`;

/** Keys of earlier versions, and what takes their place. */
const removed: Readonly<Record<string, string>> = {
  "limits.connectionsPerClient":
    'use "limits.connections", the connections of all clients together',
  "limits.metadataPerClient":
    "leave it out; a proxy in front can hold clients to a rate",
  "origins.*.networkMirror":
    'a mirror upstream is a registry of each of its origins, with signatures: "url: https://MIRROR/registry/HOSTNAME/"',
  "limits.gitRepository": constant("1GiB for a module's repository"),
  "limits.gitMemory": constant("512MiB for each process of git"),
  "limits.firstByte": constant("10 s until an answer of an origin begins"),
  "limits.answer": constant("metadata is answered within 7 s"),
  "limits.rate": constant("64 KiB a second, over a minute, at least"),
  "limits.fillsPerOrigin": constant("8 archives from one origin at once"),
  "limits.stop": constant("25 s for answers to finish"),
  "freshness.notFound": constant(
    '30 s, or "freshness.versions" where that is less',
  ),
  "auth.archiveUrls": constant("an hour"),
  "auth.metrics":
    "leave it out; where authentication is on, /metrics needs a token too, which Prometheus sends as its credentials",
  "auth.oidc.scopes": constant("openid"),
  "auth.oidc.*.scopes": constant("openid"),
  "policy.otherHosts":
    "leave it out; hostnames that are not origins are refused with 451, so let the clients' configuration send those elsewhere",
  "policy.undated":
    'leave it out; a rule with "minimumAge: 0" lets in an unsigned provider that nothing dates',
  discovery:
    "leave it out; the first of the origins is this mirror's own registry",
  "log.format": "leave it out; lines are JSON, which jq shows to people",
  "origins.*.verification": 'use "profile", with the same values',
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
  const siblings = known
    .map((one) => one.split("."))
    .filter((steps) => matches(steps.slice(0, -1), path))
    .map((steps) => steps.at(-1) ?? "");
  const elsewhere = known.find((one) => `.${one}`.endsWith(`.${key}`));
  const nearest = findNearest(key, siblings) ?? elsewhere;
  return nearest === undefined
    ? `unknown key "${key}"${where}: expected one of ${siblings.join(", ")}`
    : `unknown key "${key}"${where}: did you mean "${nearest}"?`;
}

function matches(pattern: readonly string[], path: Path): boolean {
  return (
    pattern.length === path.length &&
    pattern.every((step, at) => step === "*" || step === path[at])
  );
}

/** A value with all that is in it read-only. */
type Frozen<T> = T extends
  string | number | boolean | bigint | URL | null | undefined
  ? T
  : T extends ReadonlyMap<infer K, infer V>
    ? ReadonlyMap<K, Frozen<V>>
    : { readonly [K in keyof T]: Frozen<T[K]> };

/** The effective configuration: parsed once; sizes in bytes, durations in milliseconds, paths absolute. */
export type Configuration = Frozen<
  z.output<ReturnType<typeof configurationSchema>>
> & {
  /** From HTTPS_PROXY and NO_PROXY, or their lower-case forms; the URL may hold credentials. */
  readonly proxy: Frozen<ReturnType<typeof parseProxy>>;
  /** From NOTIFY_SOCKET and WATCHDOG_USEC (sd_notify(3), sd_watchdog_enabled(3)). */
  readonly notify: Frozen<ReturnType<typeof parseNotify>>;
  /** From PATH: where `git` and `ssh` are looked for. */
  readonly searchPath: string;
  /** The file that was read; undefined when there is none. */
  readonly source: string | undefined;
};

export type OriginConfiguration = Frozen<ReturnType<typeof makeOrigin>>;
export type S3Configuration = Frozen<z.output<ReturnType<typeof s3Schema>>>;
