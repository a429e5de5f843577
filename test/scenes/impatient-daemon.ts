import { runServe } from "../../src/commands/operate/serve.ts";
import { loadConfiguration } from "../../src/config/load.ts";
import { version } from "../../src/main/version.ts";
import { listenerLimits } from "../../src/server/http/listener.ts";
import { wireDaemon } from "../../src/wiring/daemon.ts";

// `serve --config FILE` by a daemon that waits PATIENCE milliseconds for slow clients.
const patience = Number(process.env.PATIENCE);
const file = process.argv.at(-1);
const daemon = await wireDaemon(() => loadConfiguration({ file }), version, {
  ...listenerLimits,
  clientHeaders: patience,
  rateWindow: patience,
});
process.exitCode = await runServe(daemon, process);
