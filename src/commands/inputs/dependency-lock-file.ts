import * as z from "zod";
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
import { failure, type Failure, isFailure } from "../../errors/index.ts";
import { lineFinder } from "./declarations.ts";
import { noteProblem, readInputFile } from "./input-file.ts";
import { parseHcl } from "./parser.ts";

export const lockFileName = ".terraform.lock.hcl";

/** A `provider` block. */
export interface ProviderLock {
  readonly provider: ProviderAddress;
  /** HOSTNAME/NAMESPACE/TYPE. */
  readonly name: string;
  readonly version: Version;
  /** Constraints in canonical form; undefined when any version is allowed. */
  readonly constraints: string | undefined;
  readonly hashes: readonly string[];
  /** FILE:LINE. */
  readonly where: string;
}

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

// Clients only warn of blocks for modules.
const whole = z.strictObject({
  provider: z.record(z.string(), z.unknown()).default({}),
  module: z.looseObject({}).optional(),
});

/** Reads a lock file; that it cannot be read or parsed is a problem, too. */
export async function readLockFile(path: string): Promise<DependencyLockFile> {
  try {
    return await parseLockFile(path, await readInputFile(path));
  } catch (error) {
    if (!isFailure(error, "input")) throw error;
    return { text: "", locks: [], problems: [error] };
  }
}

/** Reads what the clients' loader accepts (depsfile, "LoadLocksFromBytes"); entries that it refuses are problems. */
export async function parseLockFile(
  path: string,
  text: string,
): Promise<DependencyLockFile> {
  const problems: Failure<"input">[] = [];
  const { data, success } = whole.safeParse(await parseHcl(path, text));
  if (!success)
    problems.push(unlike(path, "something in it besides its providers"));
  const blocks = Object.entries(data?.provider ?? {});
  const many = `it locks more than ${mostLocks} providers`;
  if (blocks.length > mostLocks)
    throw failure("input", path, many, "look which file this is");
  const at = lineFinder(path, text);
  const locks = blocks.flatMap(([label, bodies]) => {
    const where = at(label, "provider");
    try {
      return [readLock(where, label, bodies)];
    } catch (error) {
      noteProblem(problems, where, error);
      return [];
    }
  });
  return { text, locks, problems };
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
  lockFile: DependencyLockFile | undefined,
  names: readonly string[] = [],
): "terraform" | "tofu" {
  const { text = "", locks = [] } = lockFile ?? {};
  const [, writer] =
    /^# This file is maintained .* "(terraform|tofu) init"/m.exec(text) ?? [];
  const isTofu =
    writer === undefined
      ? names.some((name) => /\.tofu(\.json)?$/.test(name)) ||
        locks.some(({ name }) => name.startsWith("registry.opentofu.org/"))
      : writer === "tofu";
  return isTofu ? "tofu" : "terraform";
}

/** Writes a whole file as `client` does (depsfile, "SaveLocksToBytes"). */
export function formatLockFile(
  client: "terraform" | "tofu",
  locks: readonly ProviderLock[],
): string {
  // By hostname, then namespace, then type.
  const keyOf = ({ name }: ProviderLock) => name.replaceAll("/", "\0");
  const blocks = locks
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .map(({ name, version, constraints, hashes }) => {
      const sorted = [...new Set(hashes)].toSorted();
      const items = sorted.map((hash) => `    "${hash}",\n`).join("");
      const list = items === "" ? "" : `  hashes = [\n${items}  ]\n`;
      const chosen =
        constraints === undefined
          ? `  version = "${version}"\n`
          : `  version     = "${version}"\n  constraints = "${constraints}"\n`;
      return `\nprovider "${displayProvider(name)}" {\n${chosen}${list}}\n`;
    });
  return `# This file is maintained automatically by "${client} init".\n# Manual edits may be lost in future updates.\n${blocks.join("")}`;
}

/** HOSTNAME/NAMESPACE/TYPE as lock files have it. */
function displayProvider(name: string): string {
  const [hostname = "", ...names] = name.split("/");
  return [displayHostname(hostname), ...names].join("/");
}
