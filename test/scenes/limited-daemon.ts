import { loadConfiguration } from "../../src/config/load.ts";
import { run } from "../../src/commands/operate/serve.ts";
import { version } from "../../src/commands/version.ts";
import { listenerLimits } from "../../src/server/http/listener.ts";
import { wireDaemon } from "../../src/wiring/daemon.ts";

// `serve --config FILE` with other values of the limits that are fixed.
const changed = JSON.parse(process.env.LIMITS ?? "{}") as object;
const file = process.argv.at(-1);
const load = () => {
  const configuration = loadConfiguration({ file });
  const limits = { ...configuration.limits, ...changed };
  return { ...configuration, limits };
};
const within = { ...listenerLimits, ...changed };
process.exitCode = await run(await wireDaemon(load, version, within));
