import pLimit from "p-limit";
import { formatArchiveHash } from "../../address/hash.ts";
import type { SpecHosts } from "../../address/specs/spec.ts";
import { isFailure } from "../../errors/index.ts";
import type { HeldPackage, HeldParts } from "../../mirror/upkeep/held.ts";
import { formatRelease } from "../../mirror/releases/release.ts";
import type { HttpClient } from "../../origin/http/http-client.ts";
import { absentOn404 } from "../../origin/registries/provider-registry.ts";
import {
  documentPath,
  readerOf,
  readVersionDocument,
} from "../lock/from-mirror.ts";
import { formatDocument } from "../output/json-document.ts";
import { formatTable } from "../output/table.ts";
import { findHeldPackages, namePackage } from "./held.ts";

interface CompareParts extends HeldParts {
  readonly http: Pick<HttpClient, "fetchJson">;
}

interface CompareOptions {
  /** The base of the other mirror's network mirror protocol. */
  readonly base: URL;
  /** SPECs to compare; all stored packages without any. */
  readonly specs: readonly string[];
  readonly hosts: SpecHosts;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

/**
 * Comparison of one package. `there` is a `zh:` of the other mirror, and
 * `because` the reason for its absence.
 */
interface Compared {
  readonly held: HeldPackage;
  readonly there?: string;
  readonly because?: string;
  /** True when the other mirror failed; false when it has no such package. */
  readonly failed?: boolean;
}

/** Releases that are asked for at once. */
const atOnce = 8;
/** Packages that could not be compared and that the text for people names. */
const mostNamed = 20;

/**
 * Runs `provender compare --with URL`. It compares the pinned digests here with
 * those that another mirror publishes for the same packages. Returns the exit
 * status: 1 when some differ, when the other mirror failed for some, and when
 * nothing could be compared. Throws errors that concern the whole other mirror.
 */
export async function runCompare(
  parts: CompareParts,
  options: CompareOptions,
  stdout: (text: string) => void,
): Promise<number> {
  const { base, specs, hosts, json, signal } = options;
  const { packages, problems } = await gather(parts, specs, hosts);
  const [problem] = problems;
  if (problem !== undefined) throw problem;
  const ask = readerOf(parts.http, base, signal);
  const releases = [...Map.groupBy(packages, formatRelease).values()];
  const found = await pLimit(atOnce).map(releases, (release) =>
    compareRelease(release, ask),
  );
  const compared = found.flat();
  const comparable = compared.filter(({ because }) => because === undefined);
  const differing = comparable.filter(isDifferent);
  const missing = compared.filter(({ because }) => because !== undefined);
  const counts = { compared: comparable.length, differing, missing };
  stdout(json ? formatJson(base, counts) : formatText(base, counts));
  const isDone = comparable.length > 0 && !missing.some(({ failed }) => failed);
  return isDone && differing.length === 0 ? 0 : 1;
}

async function gather(
  parts: HeldParts,
  specs: readonly string[],
  hosts: SpecHosts,
) {
  const asked = specs.length === 0 ? [undefined] : specs;
  const answers = [];
  for (const spec of asked)
    answers.push(await findHeldPackages(parts, spec, hosts));
  const named = new Map(
    answers
      .flatMap(({ packages }) => packages)
      .map((held) => [`${formatRelease(held)} ${held.filename}`, held]),
  );
  const problems = answers.flatMap((answer) => answer.problems);
  return { packages: [...named.values()], problems };
}

async function compareRelease(
  release: readonly HeldPackage[],
  ask: ReturnType<typeof readerOf>,
): Promise<readonly Compared[]> {
  const [first] = release;
  if (first === undefined) return [];
  try {
    const { archives } = await absentOn404(formatRelease(first), () =>
      ask(documentPath(first), readVersionDocument),
    );
    return release.map((held) => {
      const { platform } = namePackage(held);
      return { held, ...pickHash(held, archives[platform]?.hashes) };
    });
  } catch (error) {
    const { because, failed } = explain(error);
    return release.map((held) => ({ held, because, failed }));
  }
}

/** Picks our own digest if the other mirror lists it among several. */
function pickHash(
  { sha256 }: HeldPackage,
  hashes: readonly string[] | undefined,
): Pick<Compared, "there" | "because"> {
  if (hashes === undefined) return { because: "it has none for the platform" };
  const all = hashes.filter((hash) => hash.startsWith("zh:"));
  const own = formatArchiveHash(sha256);
  const there = all.includes(own) ? own : all[0];
  return there === undefined
    ? { because: "it lists no zh: for it" }
    : { there };
}

/** Throws what is no word on one release. */
function explain(error: unknown) {
  if (isFailure(error, "not-found"))
    return { because: "it does not have the release", failed: false };
  const isOfRelease = isFailure(
    error,
    ...(["origin-status", "origin-timeout", "origin-busy"] as const),
    "origin-answer",
  );
  if (!isOfRelease) throw error;
  const { message } = error as Error;
  return { because: message.replace(/\.$/, ""), failed: true };
}

function isDifferent({ held, there }: Compared): boolean {
  return there !== formatArchiveHash(held.sha256);
}

interface Counts {
  readonly compared: number;
  readonly differing: readonly Compared[];
  readonly missing: readonly Compared[];
}

function formatJson(
  base: URL,
  { compared, differing, missing }: Counts,
): string {
  return formatDocument({
    with: base.href,
    compared,
    differences: differing.map(({ held, there }) => ({
      ...namePackage(held),
      firstSeen: held.firstSeen?.toISOString() ?? null,
      there: there?.slice("zh:".length),
    })),
    uncompared: missing.map(({ held, because, failed = false }) => {
      const { provider, version, platform } = namePackage(held);
      return { provider, version, platform, because, failed };
    }),
  });
}

function formatText(
  base: URL,
  { compared, differing, missing }: Counts,
): string {
  const rows = differing.map(({ held, there = "" }) => {
    const { provider, version, platform, sha256 } = namePackage(held);
    return [provider, version, platform, `zh:${sha256}`, there];
  });
  const head = ["PROVIDER", "VERSION", "PLATFORM", "SEEN FIRST HERE", "THERE"];
  const table = formatTable([head, ...rows]);
  const named = missing
    .slice(0, mostNamed)
    .map(({ held, because }) => `${held.filename}: ${because}.\n`);
  const more = missing.length - named.length;
  const rest = more > 0 ? `and ${more} more that could not be compared.\n` : "";
  const sum = `${compared} packages compared with ${base.href}: ${differing.length} differ; ${missing.length} could not be compared.\n`;
  const advice =
    differing.length > 0
      ? "Ask the publisher which ones are right: one of the two sites was shown other files.\n"
      : "";
  return table + named.join("") + rest + sum + advice;
}
