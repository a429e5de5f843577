import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answeredCodes } from "../../../src/server/http/error-response.ts";
import { takeApart } from "../../mirror/bundles/bundles.ts";
import type { CommandRun } from "../../running-command.ts";
import { scratch } from "../../running-mirror.ts";
import { Violation } from "../oracle/violation.ts";
import type { Answer } from "../world/answers.ts";
import { platformOf, platforms, type ReleaseName } from "../world/documents.ts";
import { hostname, namespace } from "../world/settings.ts";

/** A command of provender, as the shell of a machine runs it. */
export type Run = (...args: readonly string[]) => Promise<CommandRun>;

const flags = platforms.flatMap((platform) => ["--platform", platform]);
const failures = new Set<string>(answeredCodes.failures);

/** Commands that name one version, each of which says what the mirror has of it. */
const ways = [askPrefetch, askLock, askExport];

/** Has one command after the other ask for a version. */
export class AskingCommands {
  #count = 0;

  async ask(run: Run, name: ReleaseName): Promise<Answer> {
    const way = ways[this.#count++ % ways.length] ?? askPrefetch;
    return way(run, name);
  }
}

interface Prefetched {
  readonly packages: readonly {
    readonly platform: string;
    readonly sha256?: string;
    readonly error?: { readonly code: string };
  }[];
  readonly problems: readonly { readonly code: string }[];
}

async function askPrefetch(run: Run, name: ReleaseName): Promise<Answer> {
  const ran = await run("prefetch", "--json", ...flags, specOf(name));
  const printed = readPrinted(ran);
  if (printed === undefined) return readFailed(ran);
  const { packages, problems } = printed as Prefetched;
  const codes = [...problems, ...packages.flatMap(({ error }) => error ?? [])];
  const undecided = codes.find(({ code }) => failures.has(code));
  if (undecided !== undefined) return { kind: "failed", code: undecided.code };
  return asAnswer(
    packages.flatMap(({ error, sha256 }) =>
      sha256 === undefined || error !== undefined ? [] : sha256,
    ),
    codes[0]?.code,
  );
}

async function askLock(run: Run, { type, version }: ReleaseName) {
  const directory = scratch("root");
  const source = `"${hostname}/${namespace}/${type}"`;
  writeFileSync(
    join(directory, "main.tf"),
    `terraform {\n  required_providers {\n    ${type} = { source = ${source}, version = "${version}" }\n  }\n}\n`,
  );
  const ran = await run("lock", "--platform", "linux_amd64", directory);
  if (ran.status !== 0) return readFailed(ran);
  const text = readFileSync(join(directory, ".terraform.lock.hcl"), "utf8");
  const hashes = [...text.matchAll(/"zh:([0-9a-f]{64})"/g)];
  // Clients lock every line of a SHA256SUMS, those of other files included.
  const archives = hashes
    .map(([, sha256 = ""]) => sha256)
    .filter((sha256) => platformOf(sha256) !== undefined);
  return asAnswer(archives, "not-locked");
}

async function askExport(run: Run, name: ReleaseName): Promise<Answer> {
  const bundle = join(scratch("bundle"), "bundle.tar");
  const ran = await run("export", "--bundle", bundle, ...flags, specOf(name));
  const failed = ran.status === 0 ? undefined : readFailed(ran);
  // An export without one platform still writes the bundle.
  if (failed?.kind === "failed") return failed;
  if (failed !== undefined && !existsSync(bundle)) return failed;
  const { manifest } = takeApart(readFileSync(bundle));
  const [release] = manifest.releases;
  return asAnswer(Object.values(release?.archives ?? {}), "not-exported");
}

function asAnswer(
  digests: readonly string[],
  code: string | undefined,
): Answer {
  if (digests.length === 0) return { kind: "refused", code: code ?? "nothing" };
  const packages = digests.map(
    (sha256) => [platformOf(sha256) ?? "unknown", sha256] as const,
  );
  return { kind: "packages", packages: new Map(packages) };
}

/** True for a command that was killed, itself or the daemon that did its work. */
export function isKilled({ status, stderr }: CommandRun): boolean {
  return status === null || stderr.includes("ended before this command did");
}

/** Reads why a command failed from what it says, which has no code. */
export function readFailed(ran: CommandRun): Answer {
  const { stderr } = ran;
  if (isKilled(ran)) return { kind: "dead" };
  if (/ at .*\.ts:\d+/.test(stderr)) throw new Violation(0, stderr);
  const code = stderr.split("\n")[0] ?? "";
  const isUndecided =
    /does not answer|could not be reached|suspended|try again|cannot be used|is busy|cannot store|nothing that can be read/i;
  return { kind: isUndecided.test(stderr) ? "failed" : "refused", code };
}

/** Reads the document that a command printed; undefined where it failed as a whole. */
export function readPrinted({ stdout }: CommandRun): object | undefined {
  if (stdout === "") return undefined;
  const printed = JSON.parse(stdout) as object;
  return "error" in printed ? undefined : printed;
}

function specOf({ type, version }: ReleaseName): string {
  return `${hostname}/${namespace}/${type}@${version}`;
}
