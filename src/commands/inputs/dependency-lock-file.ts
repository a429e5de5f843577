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
import { lineFinder } from "./declarations.ts";

/** The name that clients give to the file. */
export const lockFileName = ".terraform.lock.hcl";

/** The content of a `provider` block. */
export interface LockEntry {
  /** HOSTNAME/NAMESPACE/TYPE. */
  readonly name: string;
  readonly version: Version;
  /** Constraints in canonical form; undefined when any version is allowed. */
  readonly constraints: string | undefined;
  readonly hashes: readonly string[];
}

/** One that was read; `where` is FILE:LINE. */
export interface ProviderLock extends LockEntry {
  readonly provider: ProviderAddress;
  readonly where: string;
}

/** A dependency lock file as it is written and as it is understood. */
export interface DependencyLockFile {
  readonly text: string;
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
  constraints: plain
    .refine(isCanonical)
    .optional()
    .transform((text) => (text === "" ? undefined : text)),
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
): Omit<DependencyLockFile, "text"> {
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
  const isBuiltIn = label.startsWith("terraform.io/builtin/");
  if (!read.success || isBuiltIn || displayProvider(name) !== label)
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
    return text === "";
  }
}

/** OpenTofu means another registry by a source without a hostname, so the traces that it leaves decide. */
export function clientOf(
  { text, locks }: Omit<DependencyLockFile, "problems"> = noFile,
  names: readonly string[] = [],
): "terraform" | "tofu" {
  const [, writer] =
    /^# This file is maintained .* "(terraform|tofu) init"/m.exec(text) ?? [];
  const isTofu =
    writer === undefined
      ? names.some((name) => /\.tofu(\.json)?$/.test(name)) ||
        locks.some(({ name }) => name.startsWith("registry.opentofu.org/"))
      : writer === "tofu";
  return isTofu ? "tofu" : "terraform";
}

const noFile = { text: "", locks: [] };

/** Writes a whole file as `client` does (depsfile, "SaveLocksToBytes"). */
export function formatLockFile(
  client: "terraform" | "tofu",
  entries: readonly LockEntry[],
): string {
  // By hostname, then namespace, then type.
  const keyOf = ({ name }: LockEntry) => name.replaceAll("/", "\0");
  const blocks = entries
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .map(formatEntry);
  return `# This file is maintained automatically by "${client} init".\n# Manual edits may be lost in future updates.\n${blocks.join("")}`;
}

function formatEntry(entry: LockEntry): string {
  const { name, version, constraints, hashes } = entry;
  const sorted = [...new Set(hashes)].toSorted();
  const items = sorted.map((hash) => `    "${hash}",\n`).join("");
  const list = items === "" ? "" : `  hashes = [\n${items}  ]\n`;
  const chosen =
    constraints === undefined
      ? `  version = "${version}"\n`
      : `  version     = "${version}"\n  constraints = "${constraints}"\n`;
  return `\nprovider "${displayProvider(name)}" {\n${chosen}${list}}\n`;
}

/** HOSTNAME/NAMESPACE/TYPE as lock files have it. */
function displayProvider(name: string): string {
  const [hostname = "", ...names] = name.split("/");
  return [displayHostname(hostname), ...names].join("/");
}
