import type { Configuration } from "../config/load.ts";
import type { StoreLayout } from "../store/layout.ts";
import { openStorageDirectory } from "../store/storage-directory.ts";
import { type Core, wireCore } from "./core.ts";
import { type Telemetry, wireTelemetry } from "./telemetry.ts";

/** An open store with its origins, beside a daemon or without one. */
export interface OpenMirror extends Core {
  readonly configuration: Configuration;
  readonly layout: StoreLayout;
  readonly telemetry: Telemetry;
}

/** Opens the mirror for a command, beside a daemon and other commands or without them. */
export async function openMirror(
  configuration: Configuration,
): Promise<OpenMirror & AsyncDisposable> {
  const layout = await openStorageDirectory(configuration.storage.directory);
  // Standard error belongs to the command.
  const log = { ...configuration.log, level: "error" } as const;
  const telemetry = wireTelemetry({ ...configuration, log }, layout);
  const core = wireCore(configuration, layout, telemetry);
  const close = async () => {
    await core.stopFetching();
    await core.nearest?.drain();
    await core.close();
    await telemetry.close();
  };
  const mirror = { ...core, configuration, layout, telemetry, close };
  // Closed at the end of the block that uses it.
  return Object.assign(mirror, { [Symbol.asyncDispose]: close });
}
