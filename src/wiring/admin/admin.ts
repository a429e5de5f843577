import type { Readiness } from "../../server/web/operations.ts";
import type { DaemonTelemetry } from "../telemetry.ts";
import type { Core } from "../core.ts";
import type { OpenMirror } from "../verbs/verb.ts";
import { AdminSocket } from "./socket.ts";

/** Sets up the daemon's socket for commands; `listen` gets the URL for clients, and never rejects. */
export function wireAdmin(
  core: Core,
  opened: Pick<OpenMirror, "configuration" | "layout"> & {
    readonly telemetry: DaemonTelemetry;
  },
  readiness: Readiness,
  version: string,
) {
  const { logger, metrics } = opened.telemetry;
  let url = "";
  const daemon = {
    get url() {
      return url;
    },
    checkReady: () => readiness.check(),
    readSamples: () => metrics.read(),
  };
  const mirror = Object.assign(core, { ...opened, daemon });
  const socket = new AdminSocket({
    ...{ layout: opened.layout, version },
    // Loaded with the first command, since most daemons never run one.
    run: async (command) => {
      const { runVerb } = await import("../verbs/run.ts");
      return runVerb(command.verb, mirror, command);
    },
    onRefused: (err) => logger.warn({ err }, "a command was refused"),
  });
  return {
    listen: async (at: string) => {
      url = at;
      await socket.listen().catch((err: unknown) => {
        logger.error({ err }, "commands cannot reach this daemon");
      });
    },
    close: () => socket.close(),
  };
}
