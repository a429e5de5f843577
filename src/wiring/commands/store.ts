import type { Configuration } from "../../config/load.ts";
import type { BundleLimits } from "../../mirror/bundles/bundle-file.ts";
import { originLimits } from "../../origin/guard/origin-settings.ts";
import { largestProof } from "../../mirror/bundles/manifest.ts";
import type { StoreLayout } from "../../store/layout.ts";
import { openStorageDirectory } from "../../store/storage-directory.ts";
import { wireCore, wireRules } from "../core.ts";
import type { Kept } from "../kept.ts";
import { openArchiveBucket } from "../store/archive-bucket.ts";
import { wireTelemetry, type Telemetry } from "../telemetry.ts";
import type { OpenMirror } from "../verbs/verb.ts";

/** Opens the mirror for a command, beside a daemon and other commands or without them. */
export async function openMirror(
  configuration: Configuration,
): Promise<OpenMirror & AsyncDisposable> {
  const rules = wireRules(configuration);
  const { layout, telemetry, bucket, close } = await openStore(configuration);
  const parts = { bucket, close };
  const core = wireCore(configuration, rules, layout, telemetry, parts);
  return closing(Object.assign(core, { configuration, layout, telemetry }));
}

/**
 * Returns size limits for the parts of a bundle, the same as for an origin's
 * answers.
 */
export function wireBundleLimits({ limits }: Configuration): BundleLimits {
  const parts = originLimits(limits);
  const { originJson: manifest, archive } = parts;
  return { manifest, archive, proof: largestProof(parts) };
}

/** Closed at the end of the block that uses it. */
export function closing<T extends { close(): Promise<unknown> }>(
  one: T,
): T & AsyncDisposable {
  return Object.assign(one, {
    [Symbol.asyncDispose]: async () => {
      await one.close();
    },
  });
}

/** Opens the store of a command; `close` closes `kept` first. */
async function openStore(configuration: Configuration) {
  const layout = await openStorageDirectory(configuration.storage.directory);
  const telemetry = wireCommandTelemetry(configuration, layout);
  const bucket = openArchiveBucket(configuration, telemetry);
  const close = async (kept: Pick<Kept, "close" | "nearest">) => {
    await kept.nearest?.drain();
    await kept.close();
    await bucket?.close();
    await telemetry.close();
  };
  return { layout, telemetry, bucket, close };
}

/** Standard error belongs to the command. */
function wireCommandTelemetry(
  configuration: Configuration,
  layout: StoreLayout,
): Telemetry {
  const log = { ...configuration.log, level: "error" } as const;
  return wireTelemetry({ ...configuration, log }, layout);
}
