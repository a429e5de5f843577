import { displayHostname, hostnameAsWritten } from "../../address/hostname.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import {
  formatVersionConstraint,
  parseVersionConstraint,
} from "../../address/version-constraint.ts";
import { parseVersion, type Version } from "../../address/version.ts";
import { failure, type Failure, isFailure } from "../../errors/index.ts";

/** The name that clients give to the file. */
export const lockFileName = ".terraform.lock.hcl";

/** One `provider` block; `where` is FILE:LINE. */
export interface ProviderLock {
  readonly provider: ProviderAddress;
  /** HOSTNAME/NAMESPACE/TYPE. */
  readonly name: string;
  readonly version: Version;
  readonly constraints: string | undefined;
  readonly hashes: readonly string[];
  readonly where: string;
}

/** A dependency lock file as it is written and as it is understood. */
export interface DependencyLockFile extends LockFileContent {
  readonly text: string;
}

export interface LockFileContent {
  readonly locks: readonly ProviderLock[];
  /** Entries that no client could use, or why the whole file is not understood. */
  readonly problems: readonly Failure<"input">[];
}

/** Providers in one file; no configuration has a hundred. */
const mostLocks = 1_000;

/**
 * Reads the entries of a lock file that was parsed; `text` is only for line
 * numbers. What makes clients refuse the file is a problem (depsfile,
 * "LoadLocksFromBytes"). Throws an input error.
 */
export function readLocks(
  file: string,
  text: string,
  root: unknown,
): LockFileContent {
  const { provider: blocks, ...foreign } = root as Record<string, unknown>;
  const locks: ProviderLock[] = [];
  const problems: Failure<"input">[] = [];
  if (typeof (blocks ?? {}) !== "object") foreign.provider = blocks;
  for (const [name, value] of Object.entries(foreign))
    // Clients only warn of blocks for modules.
    if (name !== "module" || typeof value !== "object")
      problems.push(
        failure(
          "input",
          `${file}:${lineOfArgument(text, name)}`,
          "it has an entry that clients do not know there",
          rewrite,
        ),
      );
  const labelled: unknown = Array.isArray(blocks) ? { "": blocks } : blocks;
  const places = findBlocks(text);
  if (Object.keys(labelled ?? {}).length > mostLocks)
    throw failure(
      "input",
      file,
      `it locks more than ${mostLocks} providers`,
      "look which file this is",
    );
  for (const [label, bodies] of Object.entries(labelled ?? {})) {
    const lines = places.get(label) ?? [];
    const place = (index: number) => `${file}:${lines[index] ?? lines[0] ?? 1}`;
    try {
      locks.push(readLock(place(0), label, bodies));
      if ((bodies as unknown[]).length > 1)
        throw failure(
          "input",
          place(1),
          `${label} is locked already at ${place(0)}`,
          "remove one of the two",
        );
    } catch (error) {
      if (!isFailure(error, "input")) throw error;
      problems.push(error);
    }
  }
  return { locks, problems };
}

function lineOfArgument(text: string, name: string): number {
  const at = text.split("\n").findIndex((line) => line.trim().startsWith(name));
  return Math.max(at, 0) + 1;
}

/** Finds the lines of `provider` blocks by label, for messages alone. */
function findBlocks(text: string): ReadonlyMap<string, readonly number[]> {
  const lines = text.split("\n").flatMap((line, index) => {
    const [, label = ""] = /^\s*provider\s*(?:"([^"]*)")?/.exec(line) ?? [];
    return line.includes("provider") ? [{ label, line: index + 1 }] : [];
  });
  const blocks = Map.groupBy(lines, ({ label }) => label);
  return new Map(
    [...blocks].map(([label, all]) => [label, all.map(({ line }) => line)]),
  );
}

function readLock(where: string, label: string, bodies: unknown): ProviderLock {
  const provider = readAddress(where, label, bodies);
  const name = formatProviderAddress(provider);
  const [body = {}] = bodies as readonly Body[];
  const { version, constraints, hashes, ...others } = body;
  if (version === undefined || version === null)
    throw failure("input", where, `${name} has no version`, rewrite);
  if (Object.keys(others).length > 0)
    throw failure(
      "input",
      where,
      `${name} has an entry that clients do not know there`,
      rewrite,
    );
  const text = readText(where, "version", version);
  return {
    provider,
    name,
    version: parsed(where, () => parseVersion(text)),
    constraints:
      constraints === undefined
        ? undefined
        : readConstraints(where, name, constraints),
    hashes: hashes === undefined ? [] : readHashes(where, hashes),
    where,
  };
}

/** Clients want the form that they write themselves. */
function readConstraints(where: string, name: string, value: unknown): string {
  const text = readText(where, "constraints", value);
  if (text === "") return text;
  const constraint = parsed(where, () => parseVersionConstraint(text));
  const normal = formatVersionConstraint(constraint);
  if (normal === text) return text;
  throw failure(
    "input",
    where,
    `clients refuse the constraints of ${name} in this form`,
    `write "${normal}"`,
  );
}

type Body = Readonly<Record<string, unknown>>;

const rewrite = 'let "init" write it again';

/** Clients want the address whole and in normal form. */
function readAddress(
  where: string,
  label: string,
  bodies: unknown,
): ProviderAddress {
  if (!Array.isArray(bodies) || label.split("/").length !== 3)
    throw failure(
      "input",
      where,
      `${JSON.stringify(label)} is not a provider address`,
      "give HOSTNAME/NAMESPACE/TYPE",
    );
  if (label.includes("/-/"))
    throw failure(
      "input",
      where,
      `${label} is a provider address of Terraform 0.12`,
      `name its namespace in required_providers and run "init"`,
    );
  const provider = parsed(where, () => readWritten(label));
  const name = displayProvider(formatProviderAddress(provider));
  if (name.startsWith("terraform.io/builtin/"))
    throw failure("input", where, `${name} is built in`, "remove its block");
  if (provider.type.startsWith("terraform-"))
    throw failure(
      "input",
      where,
      `the type of ${name} begins with "terraform-", which clients refuse`,
      "write the type without that",
    );
  if (name !== label)
    throw failure(
      "input",
      where,
      `${label} is not in the form that clients want`,
      `write "${name}"`,
    );
  return provider;
}

function readWritten(label: string): ProviderAddress {
  const [hostname = "", ...names] = label.split("/");
  const ascii = /^[ -~]*$/.test(hostname);
  return parseProviderAddress(
    [ascii ? hostname : hostnameAsWritten(hostname), ...names].join("/"),
  );
}

/** HOSTNAME/NAMESPACE/TYPE as lock files have it. */
export function displayProvider(name: string): string {
  const [hostname = "", ...names] = name.split("/");
  return [displayHostname(hostname), ...names].join("/");
}

function parsed<T>(where: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!isFailure(error, "malformed-address")) throw error;
    throw failure("input", where, error.sentence, error.remedy, {
      cause: error,
    });
  }
}

function readText(where: string, name: string, value: unknown): string {
  if (isPlain(value)) return value;
  throw failure("input", where, `"${name}" is not a plain string`, rewrite);
}

function readHashes(where: string, value: unknown): readonly string[] {
  if (!Array.isArray(value) || !value.every(isPlain))
    throw failure(
      "input",
      where,
      '"hashes" is not a list of plain strings',
      rewrite,
    );
  if (value.length === 0)
    throw failure("input", where, '"hashes" is empty', "remove it");
  if (!value.every((hash) => hash.indexOf(":") > 0))
    throw failure(
      "input",
      where,
      'one of its "hashes" has no scheme such as "h1:"',
      rewrite,
    );
  return value;
}

/** Without templates and anything that would have to be escaped, which no version and no hash has. */
function isPlain(value: unknown): value is string {
  return (
    typeof value === "string" &&
    /^[ -~]*$/.test(value) &&
    !/["\\]|[$%]\{/.test(value)
  );
}
