import { formatPlatform, type Platform } from "../../address/platform.ts";
import { providerAddress } from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { failure, isFailure, ProvenderError } from "../../errors/index.ts";
import { OriginFolder } from "../../origin/folder/origin-folder.ts";
import { describeError, formatDocument } from "../output/json-document.ts";
import { findDistName, judgeDist, readDist, type DistParts } from "./dist.ts";
import type { Judge, PublishDirectory } from "./publish-directory.ts";

interface PublishOptions {
  /** Folder that goreleaser wrote. */
  readonly from: string;
  readonly to: PublishDirectory;
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
 * Runs `provender publish DIR --to DIRECTORY`. It checks a release as the
 * mirror will, and moves it into place in one step. Returns the exit status: 1
 * for a refused release, which is named on standard error. Throws nothing-asked
 * for an unknown namespace, and malformed-address for an invalid one.
 */
export async function runPublish(
  options: PublishOptions,
  parts: DistParts,
  output: {
    readonly stdout: (text: string) => void;
    readonly stderr: (text: string) => void;
  },
): Promise<number> {
  const result = await publish(options, parts).catch((error: unknown) => {
    const isForeseen =
      error instanceof ProvenderError &&
      !isFailure(error, "nothing-asked", "malformed-address");
    if (!isForeseen) throw error;
    return error;
  });
  const isRefused = result instanceof ProvenderError;
  output.stderr(
    isRefused ? `provender: ${result.message}\n` : formatOutcome(result),
  );
  if (options.json)
    output.stdout(
      formatDocument({
        releases: isRefused ? [] : [describe(result)],
        problems: isRefused ? [describeError(result)] : [],
      }),
    );
  return isRefused ? 1 : 0;
}

function formatOutcome({ path, outcome }: Published): string {
  return outcome === "published"
    ? `${path} is published.\n`
    : `${path} is there already, with this content.\n`;
}

function describe({ platforms, ...one }: Published) {
  return { ...one, platforms: platforms.map(formatPlatform) };
}

async function publish(
  { from, to, signal, ...options }: PublishOptions,
  parts: DistParts,
): Promise<Published> {
  const { root } = to;
  const namespace = options.namespace ?? (await findNamespace(root));
  const { type, version } = await findDistName(from);
  const provider = providerAddress(parts.hostname, namespace, type);
  const address = { provider, version };
  const source = new OriginFolder(from);
  const dist = await readDist(source, [], address, parts);
  const judge: Judge = async (...place) =>
    judgeDist(await readDist(...place, address, parts), root, parts);
  const outcome = await to.put(dist, judge, signal);
  const path = root.show(dist.place);
  if (outcome === "present")
    await judge(root, dist.place).catch(refuseHeld(path));
  const { packages } = dist.release;
  const platforms = [...packages.values()].map((one) => one.platform);
  const name = `${namespace}/${type}`;
  return { provider: name, version, platforms, path, outcome };
}

/** Throws nothing-asked unless one namespace has keys. */
async function findNamespace(root: OriginFolder): Promise<string> {
  const entries = (await root.list([])) ?? [];
  const found: string[] = [];
  for (const { name } of entries) {
    const below = (await root.list([name]).catch(() => undefined)) ?? [];
    const hasKeys = below.some((one) => one.name === "keys");
    if (hasKeys && name !== "modules") found.push(name);
  }
  const [namespace, ...others] = found;
  if (namespace === undefined || others.length > 0)
    throw failure(
      "nothing-asked",
      `publish into, since ${found.length} namespaces of ${root.show([])} have keys`,
      "--namespace NAMESPACE, and its keys in DIRECTORY/NAMESPACE/keys/*.asc",
    );
  return namespace;
}

/**
 * Throws for an invalid release in the same place, though it has the same
 * SHA256SUMS.
 */
function refuseHeld(path: string) {
  return (cause: unknown): never => {
    if (!(cause instanceof ProvenderError)) throw cause;
    const problem = `it is there and would be refused (${cause.sentence})`;
    throw failure("input", path, problem, "take it away and publish again", {
      cause,
    });
  };
}
