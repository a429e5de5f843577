import { readFileSync, statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { parse } from "yaml";
import type { Release } from "../fakes/release.ts";
import {
  runCommand as runProcess,
  type CommandRun,
} from "../running-command.ts";
import { runHere } from "../running-here.ts";
import {
  type Answer,
  type GetOptions,
  type RunningMirror,
  writeConfiguration,
} from "../running-mirror.ts";
import { layOutStore } from "../../src/store/layout.ts";
import { type AuditLine, readAuditOf } from "../store/stores.ts";

export type ProviderRequests = ReturnType<typeof requestsFor>;

interface ArchiveOptions extends GetOptions {
  readonly platform?: string;
}

/** Requests of a network mirror's client for one provider. */
export function requestsFor(
  mirror: Pick<RunningMirror, "get">,
  type: string,
  namespace = "acme",
  hostname = "registry.terraform.io",
) {
  const base = `/providers/${hostname}/${namespace}/${type}/`;
  const index = () => mirror.get(`${base}index.json`);
  const version = (version: string) => mirror.get(`${base}${version}.json`);
  const archive = (
    version: string,
    { platform = "linux_amd64", ...options }: ArchiveOptions = {},
  ) =>
    mirror.get(
      `${base}terraform-provider-${type}_${version}_${platform}.zip`,
      options,
    );
  return {
    ...{ index, version, archive },
    /** Versions of the index, or the code of its refusal. */
    listed: async () => listedIn(await index()),
    /** Of VERSION.json, such as "200" and "451 key-refused". */
    outcome: async (...asked: Parameters<typeof version>) =>
      outcomeOf(await version(...asked)),
    /** The same of an archive. */
    delivery: async (...asked: Parameters<typeof archive>) =>
      outcomeOf(await archive(...asked)),
  };
}

/** The versions of an `index.json` or of a registry's `versions`, or the code of an error. */
export function listedIn(answer: Answer): readonly string[] | string {
  if (answer.status !== 200) return codeOf(answer);
  const { versions } = answer.json() as {
    versions: object | { version: string }[];
  };
  const names = Array.isArray(versions)
    ? versions.map(({ version }: { version: string }) => version)
    : Object.keys(versions);
  return names.toSorted();
}

/** `zh:` by platform of a `VERSION.json`, or the code of an error. */
export function digestsIn(
  answer: Answer,
): Readonly<Record<string, string | undefined>> | string {
  if (answer.status !== 200) return codeOf(answer);
  const { archives } = answer.json() as {
    archives: Record<string, { hashes: string[] }>;
  };
  return Object.fromEntries(
    Object.entries(archives).map(([platform, { hashes }]) => [
      platform,
      hashes.find((hash) => hash.startsWith("zh:"))?.slice(3),
    ]),
  );
}

/** What `digestsIn` reads where a release is served whole. */
export function digestsOf(release: Release): Readonly<Record<string, string>> {
  return Object.fromEntries(
    release.archives.map(({ platform, sha256 }) => [platform, sha256]),
  );
}

/** `STATUS CODE` of an error, such as "451 key-refused"; only the status of others. */
export function outcomeOf(answer: Answer): string {
  return answer.status < 400
    ? String(answer.status)
    : `${answer.status} ${codeOf(answer)}`;
}

export function codeOf(answer: Answer): string {
  return answer.body.length === 0
    ? "no body"
    : (answer.json() as { code: string }).code;
}

/** Asks again until the answer is as wanted; fails with the last one when it is not in time. */
export async function eventually<T>(
  ask: () => Promise<T>,
  isWanted: (answer: T) => boolean,
  milliseconds = 60_000,
): Promise<T> {
  const deadline = performance.now() + milliseconds;
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (performance.now() > deadline)
      throw new Error(`not in time, last: ${JSON.stringify(answer)}`);
  }
}

/** A command with the configuration of a mirror: in this process, unless it has an environment of its own or would become another user. */
export function runCommand(
  {
    configFile,
    directory = ".",
    env,
  }: {
    readonly configFile: string;
    readonly directory?: string;
    readonly env?: Readonly<Record<string, string>>;
  },
  ...args: readonly string[]
): Promise<CommandRun> {
  const all = [...args, "--config", configFile];
  const isOurs = statSync(directory).uid === process.getuid?.();
  return env === undefined && isOurs
    ? runHere(all)
    : runProcess(all, { env: env ?? {} });
}

export type { AuditLine } from "../store/stores.ts";

/** Reads the audit log, by time; refusals and deliveries are in it a second later. */
export function readAudit({
  directory,
}: Pick<RunningMirror, "directory">): readonly AuditLine[] {
  return readAuditOf(layOutStore(directory));
}

/** The lines of the audit log that match, once there are so many. */
export async function awaitAudit(
  mirror: Pick<RunningMirror, "directory">,
  matches: (line: AuditLine) => boolean,
  count = 1,
): Promise<readonly AuditLine[]> {
  return eventually(
    async () => {
      await pause(50);
      return readAudit(mirror).filter(matches);
    },
    (lines) => lines.length >= count,
  );
}

export async function countAlarms(
  mirror: RunningMirror,
  kind: string,
): Promise<number> {
  const series = `provender_alarms_total{kind="${kind}"}`;
  return (await readMetric(mirror, series)) || 0;
}

/** The number of a series; NaN of one that is not there. */
export async function readMetric(
  mirror: RunningMirror,
  series: string,
): Promise<number> {
  const text = (await mirror.get("/metrics")).body.toString();
  return Number(text.split(`\n${series} `)[1]?.split("\n")[0] ?? NaN);
}

/** Changes keys of the configuration of a running mirror, which hears of it by SIGHUP. */
export function reconfigure(
  mirror: RunningMirror,
  changes: Readonly<Record<string, unknown>>,
): void {
  const before = parse(readFileSync(mirror.configFile, "utf8")) as object;
  writeConfiguration(mirror.configFile, { ...before, ...changes });
  mirror.process.kill("SIGHUP");
}
