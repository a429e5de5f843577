import { hash } from "node:crypto";
import { pino } from "pino";
import {
  type Configuration,
  loadConfiguration,
} from "../../src/config/load.ts";
import type { Answer } from "../../src/mirror/cache/metadata-cache.ts";
import { statusOf } from "../../src/server/http/error-response.ts";
import { layOutStore } from "../../src/store/layout.ts";
import { prepareStorageDirectory } from "../../src/store/storage-directory.ts";
import { Alarms } from "../../src/telemetry/alarms.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";
import { wireCore } from "../../src/wiring/core.ts";
import { wireTelemetry } from "../../src/wiring/telemetry.ts";
import { makeStorage } from "../commands/storage.ts";
import { TestClock } from "../fakes/clock.ts";
import { readAll } from "../origin/clients.ts";
import { providerOf, releaseOf } from "./composed-mirror.ts";

/** The mirror as the daemon wires it, without a face, on a clock that tests set. */
export async function startTimedMirror(
  config: Readonly<Record<string, unknown>>,
  env: NodeJS.ProcessEnv = {},
  limits: Partial<Configuration["limits"]> = {},
) {
  const { configFile: file, directory } = makeStorage(config);
  const loaded = loadConfiguration({ file, env, cwd: "/", home: "/" });
  const configuration = { ...loaded, limits: { ...loaded.limits, ...limits } };
  const layout = layOutStore(directory);
  await prepareStorageDirectory(layout);
  const clock = new TestClock();
  const log: string[] = [];
  const logger = pino({ level: "info" }, { write: (line) => log.push(line) });
  const metrics = new Metrics("");
  const wired = wireTelemetry(configuration, layout, metrics);
  const alarms = new Alarms(logger, metrics);
  const watch = { ...wired, logger, metrics, alarms };
  const core = wireCore(configuration, layout, watch, clock);
  const { providers } = core;
  return {
    ...{ clock, log, directory },
    exposition: async () => (await metrics.render()).text,
    index: (type: string) =>
      tell(async () => {
        const answer = await providers.listVersions(providerOf(type));
        return { ...answer, value: answer.value.versions };
      }),
    version: (type: string, version: string) =>
      tell(async () => {
        const answer = await providers.findRelease(releaseOf(type, version));
        const value = await providers.describePackages(answer.value);
        return { ...answer, value };
      }),
    archive: (type: string, version: string) =>
      tell(async () => {
        const linux = { os: "linux", arch: "amd64" };
        const address = releaseOf(type, version);
        const { value } = await providers.findPackage(address, linux);
        const archive = await providers.openArchive(value);
        try {
          const digest = hash("sha256", await readAll(archive.read()));
          await archive.stored;
          return { value: digest, outcome: archive.outcome };
        } finally {
          await archive.close();
        }
      }),
    close: async () => {
      await core.close();
      await watch.close();
    },
  };
}

/** A value and how it came about, or the status of a refusal. */
async function tell<V>(
  ask: () => Promise<Pick<Answer<V>, "value" | "outcome">>,
) {
  try {
    const { value, outcome } = await ask();
    return { status: 200, value, outcome };
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    return { status: statusOf(error), code: code ?? String(error), message };
  }
}
