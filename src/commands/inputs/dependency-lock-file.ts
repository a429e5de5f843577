import { z } from "zod";
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
import { isVersion, type Version } from "../../address/version.ts";
import { failure, type Failure } from "../../errors/index.ts";
import { noteProblem } from "./input-file.ts";
import { lineFinder } from "./required-providers.ts";

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

/** Without templates and anything that would have to be escaped, which no version and no hash has. */
const plain = z.string().regex(/^(?!.*[$%]\{)[ !#-[\]-~]*$/);

/** What clients read, in the form that they write. */
const shape = z.strictObject({
  version: plain.refine(isVersion),
  constraints: plain.refine(isCanonical).optional(),
  hashes: z
    .array(plain.regex(/^[^:]+:/))
    .min(1)
    .default([]),
});

/** Reads the entries of a lock file that was parsed; `text` is only for line numbers. */
export function readLocks(
  file: string,
  text: string,
  root: unknown,
): LockFileContent {
  // Clients only warn of blocks for modules.
  const known = z.strictObject({
    provider: z.record(z.string(), z.unknown()).default({}),
    module: z.looseObject({}).optional(),
  });
  const problems: Failure<"input">[] = [];
  const { data, success } = known.safeParse(root);
  if (!success)
    problems.push(unlike(file, "something in it besides its providers"));
  const blocks = Object.entries(data?.provider ?? {});
  const many = `it locks more than ${mostLocks} providers`;
  if (blocks.length > mostLocks)
    throw failure("input", file, many, "look which file this is");
  const at = lineFinder(file, text);
  const locks = blocks.flatMap(([label, bodies]) => {
    const where = at(label, "provider");
    try {
      return [readLock(where, label, bodies)];
    } catch (error) {
      noteProblem(problems, where, error);
      return [];
    }
  });
  return { locks, problems };
}

function readLock(where: string, label: string, bodies: unknown): ProviderLock {
  const [hostname = "", ...names] = label.split("/");
  const address = [hostnameAsWritten(hostname), ...names].join("/");
  const provider = parseProviderAddress(address);
  const name = formatProviderAddress(provider);
  const read = z.tuple([shape]).safeParse(bodies);
  if (!read.success || displayProvider(name) !== label)
    throw unlike(where, `the entry of ${label}`);
  const [{ version, constraints, hashes }] = read.data;
  return { provider, name, version, constraints, hashes, where };
}

function unlike(where: string, what: string): Failure<"input"> {
  const problem = `${what} is not as clients write it`;
  return failure("input", where, problem, 'let "init" write it again');
}

function isCanonical(text: string): boolean {
  try {
    return formatVersionConstraint(parseVersionConstraint(text)) === text;
  } catch {
    return false;
  }
}

/** HOSTNAME/NAMESPACE/TYPE as lock files have it. */
export function displayProvider(name: string): string {
  const [hostname = "", ...names] = name.split("/");
  return [displayHostname(hostname), ...names].join("/");
}
