import { createHash } from "node:crypto";
import {
  chmod,
  copyFile,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import { providerAddress } from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { describeFailure } from "../../store/file-failure.ts";
import {
  InputInvalid,
  MalformedAddress,
  NothingAsked,
  ProvenderError,
} from "../../errors/index.ts";
import { formatDocument } from "../progress/json-document.ts";
import {
  findDistName,
  judgeDist,
  listDistFiles,
  readDist,
  type DistParts,
} from "./dist.ts";

interface PublishOptions {
  /** What goreleaser made. */
  readonly from: string;
  /** A folder that stands for a registry. */
  readonly to: string;
  /** Undefined for the only one that has keys there. */
  readonly namespace: string | undefined;
  readonly json: boolean;
  /** Aborted when it is to end in order. */
  readonly signal: AbortSignal;
}

interface Published {
  readonly provider: string;
  readonly version: Version;
  readonly platforms: readonly Platform[];
  readonly path: string;
  readonly outcome: "published" | "present";
}

/**
 * `provender publish DIR --to DIRECTORY`: checks a release as the mirror will, and puts it in its place by one rename. Returns the exit
 * status: 1 when it is refused, which is named on standard error. Throws NothingAsked where nobody can tell the namespace, and
 * MalformedAddress for one that is none.
 */
export async function runPublish(
  options: PublishOptions,
  parts: DistParts,
  output: {
    readonly stdout: (text: string) => void;
    readonly stderr: (text: string) => void;
  },
): Promise<number> {
  const releases: Published[] = [];
  const problems: { readonly code: string; readonly message: string }[] = [];
  try {
    releases.push(await publish(options, parts));
  } catch (error) {
    const isForeseen =
      error instanceof ProvenderError &&
      !(error instanceof NothingAsked || error instanceof MalformedAddress);
    if (!isForeseen) throw error;
    problems.push({ code: error.code, message: error.message });
  }
  for (const { path, outcome } of releases)
    output.stderr(
      outcome === "published"
        ? `${path} is published.\n`
        : `${path} is there already, with this content.\n`,
    );
  for (const { message } of problems) output.stderr(`provender: ${message}\n`);
  if (options.json) output.stdout(formatPublished(releases, problems));
  return problems.length === 0 ? 0 : 1;
}

function formatPublished(
  releases: readonly Published[],
  problems: readonly object[],
): string {
  const told = releases.map(({ platforms, ...one }) => ({
    ...one,
    platforms: platforms.map(formatPlatform),
  }));
  return formatDocument({ releases: told, problems });
}

async function publish(
  options: PublishOptions,
  parts: DistParts,
): Promise<Published> {
  const { from, to, signal } = options;
  const namespace = options.namespace ?? (await findNamespace(to));
  const { type, version } = await findDistName(from);
  const provider = providerAddress(parts.hostname, namespace, type);
  const dist = await readDist(from, provider, version, parts);
  const path = join(to, namespace, type, version);
  const staged = await stage(join(to, namespace), version);
  try {
    for (const name of await listDistFiles(from, dist, type, version)) {
      goOn(from, signal);
      const source = join(from, name);
      const copied = copyDurably(source, join(staged, name));
      await copied.catch(refuse(source, `copied to ${staged}`));
    }
    const judge = async (folder: string) => {
      const release = await readDist(folder, provider, version, parts);
      await judgeDist(folder, to, { provider, version }, release, parts);
      return release;
    };
    const release = await judge(staged);
    goOn(from, signal);
    const platforms = [...release.packages.values()].map((one) => one.platform);
    const outcome = await place(staged, path, release.checksums);
    if (outcome === "present") await judge(path).catch(refuseHeld(path));
    const name = `${namespace}/${type}`;
    return { provider: name, version, platforms, path, outcome };
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

/** Throws NothingAsked unless one namespace has keys. */
async function findNamespace(to: string): Promise<string> {
  const entries = await readdir(to).catch((): string[] => []);
  const found: string[] = [];
  for (const name of entries) {
    const below = await readdir(join(to, name)).catch((): string[] => []);
    if (below.includes("keys") && name !== "modules") found.push(name);
  }
  const [namespace, ...others] = found;
  if (namespace === undefined || others.length > 0)
    throw new NothingAsked(
      `publish into, since ${found.length} namespaces of ${to} have keys`,
      "--namespace NAMESPACE, and its keys in DIRECTORY/NAMESPACE/keys/*.asc",
    );
  return namespace;
}

function goOn(from: string, { aborted }: AbortSignal): void {
  if (aborted)
    throw new InputInvalid(from, "it was interrupted: publish it again.");
}

/** On the same file system, and under no name that the mirror asks for. What killed processes left there goes after a day. */
async function stage(namespace: string, version: Version): Promise<string> {
  const names = await readdir(namespace).catch(refuse(namespace));
  for (const name of names.filter((one) => /^\..*\.partial$/.test(one))) {
    const left = join(namespace, name);
    const { mtimeMs } = await stat(left).catch(() => ({ mtimeMs: Infinity }));
    if (Date.now() - mtimeMs > dayMs)
      await rm(left, { recursive: true, force: true });
  }
  const staged = join(namespace, `.${version}.${crypto.randomUUID()}.partial`);
  await makeFolder(staged);
  return staged;
}

const dayMs = 86_400_000;

/** To be read by the daemon, which is another user, whatever umask holds here. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
    const { mode } = await stat(folder);
    await chmod(folder, (mode & 0o7777) | 0o555);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST")
      refuse(folder)(error);
  }
}

async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  await using file = await open(to, "r+");
  await file.chmod(0o644);
  await file.sync();
}

/** Throws InputInvalid where another release has the place. */
async function place(
  staged: string,
  path: string,
  checksums: string,
): Promise<Published["outcome"]> {
  const above = dirname(path);
  await makeFolder(above);
  try {
    await rename(staged, path);
    await using folder = await open(above);
    await folder.sync();
    return "published";
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "EEXIST") refuse(path)(error);
    const [ours, theirs] = await Promise.all(
      [staged, path].map((folder) => digestOf(join(folder, checksums))),
    );
    if (ours === theirs) return "present";
    throw new InputInvalid(
      path,
      `it is there with other content (SHA256SUMS ${theirs}, not ${ours}): a version is published once, make a new one.`,
    );
  }
}

/** What has the place is no release, though it has the same SHA256SUMS. */
function refuseHeld(path: string) {
  return (cause: unknown): never => {
    if (!(cause instanceof ProvenderError)) throw cause;
    const problem = `it is there and would be refused, so take it away and publish again: ${cause.message}`;
    throw new InputInvalid(path, problem, { cause });
  };
}

function refuse(path: string, what = "made") {
  return (cause: unknown): never => {
    const problem = `it cannot be ${what} (${describeFailure(cause)}).`;
    throw new InputInvalid(path, problem, { cause });
  };
}

async function digestOf(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return "of nothing";
  await using handle = file;
  return createHash("sha256")
    .update(await handle.readFile())
    .digest("hex");
}
