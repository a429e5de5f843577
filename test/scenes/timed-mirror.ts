import { hash } from "node:crypto";
import { pino } from "pino";
import type { Platform } from "../../src/address/platform.ts";
import { providerAddress } from "../../src/address/provider-address.ts";
import { parseVersion } from "../../src/address/version.ts";
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
import { readAll } from "../origin/clients.ts";
import { TestClock } from "../fakes/clock.ts";

const hostname = "registry.terraform.io";
const linux: Platform = { os: "linux", arch: "amd64" };

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
  const addressOf = (type: string, version: string) => ({
    provider: providerAddress(hostname, "acme", type),
    version: parseVersion(version),
  });
  return {
    ...{ clock, log, directory },
    exposition: async () => (await metrics.render()).text,
    index: (type: string) =>
      tell(async () => {
        const { provider } = addressOf(type, "1.0.0");
        const answer = await core.providers.listVersions(provider);
        return { ...answer, value: answer.value.versions };
      }),
    version: (type: string, version: string) =>
      tell(async () => {
        const address = addressOf(type, version);
        const answer = await core.providers.findRelease(address);
        const value = await core.providers.describePackages(answer.value);
        return { ...answer, value };
      }),
    archive: (type: string, version: string) =>
      tell(async () => {
        const address = addressOf(type, version);
        const { value } = await core.providers.findPackage(address, linux);
        const archive = await core.providers.openArchive(value);
        try {
          const digest = hash("sha256", await readAll(archive.read()));
          await archive.stored;
          const { outcome } = archive;
          return { value: digest, outcome, age: 0, originTime: 0 };
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

/** A value and whether it was stale, or the status of a refusal. */
async function tell<V>(ask: () => Promise<Answer<V>>) {
  try {
    const { value, outcome, age } = await ask();
    return { status: 200, value, outcome, age };
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    return { status: statusOf(error), code: code ?? String(error), message };
  }
}
