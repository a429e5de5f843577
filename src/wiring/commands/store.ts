import type { Configuration } from "../../config/load.ts";
import type { BundleLimits } from "../../mirror/bundles/bundle-file.ts";
import { originLimits } from "../../origin/guard/origin-settings.ts";
import { largestProof } from "../../mirror/bundles/proof.ts";
import { ModuleTrustRecords } from "../../mirror/modules/records.ts";
import { TrustStore } from "../../mirror/trust/trust-store.ts";
import type { StoreLayout } from "../../store/layout.ts";
import { wireCore, type Core } from "../core.ts";
import { wireKept, type Kept } from "../kept.ts";
import { openReplica } from "../store/replica.ts";
import { wireRecords } from "../store/records.ts";
import { wireRules } from "../rules.ts";
import { wireTelemetry, type Telemetry } from "../telemetry.ts";
import { openLayout } from "./layout.ts";

/** The mirror for a command, beside a daemon or without one: the same store, origins and rules. */
export async function wireMirror(
  configuration: Configuration,
): Promise<Core & AsyncDisposable> {
  const rules = wireRules(configuration);
  const { layout, telemetry, replica, close } = await openStore(configuration);
  const parts = { replica, close };
  return closing(wireCore(configuration, rules, layout, telemetry, parts));
}

/**
 * Opens the stored content for a command that asks no origin and admits
 * nothing.
 */
export async function wireStored(configuration: Configuration) {
  const { layout, telemetry, replica, close } = await openStore(configuration);
  const kept = wireKept(configuration, layout, telemetry, { replica });
  const modules = new ModuleTrustRecords(kept.records);
  return closing({ ...kept, modules, close: () => close(kept) });
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

/** The trust of a store and the releases that it is about, for commands beside a running daemon. */
export async function wireTrust(configuration: Configuration) {
  const { layout, telemetry, replica, close } = await openStore(configuration);
  const records = wireRecords(layout, telemetry, replica);
  const trust = new TrustStore(records);
  const { audit, alarms } = telemetry;
  return closing({ trust, audit, alarms, records, close: () => close() });
}

/** Opens the store of a command; `close` closes `kept` first. */
async function openStore(configuration: Configuration) {
  const layout = await openLayout(configuration);
  const telemetry = wireCommandTelemetry(configuration, layout);
  const replica = await openReplica(configuration, layout, telemetry);
  const close = async (kept?: Pick<Kept, "close" | "nearest">) => {
    await kept?.nearest?.outbox.drain();
    await (kept ?? replica)?.close();
    telemetry.alarms.close();
    await telemetry.audit.close();
  };
  return { layout, telemetry, replica, close };
}

/** Standard error belongs to the command. */
function wireCommandTelemetry(
  configuration: Configuration,
  layout: StoreLayout,
): Telemetry {
  const log = { ...configuration.log, level: "error" } as const;
  return wireTelemetry({ ...configuration, log }, layout);
}
