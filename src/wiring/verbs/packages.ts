import { lockFromStore } from "../../commands/lock/from-store.ts";
import { runLock } from "../../commands/lock/lock.ts";
import { runExport } from "../../commands/packages/export.ts";
import { runImport } from "../../commands/packages/import.ts";
import { ModulePackages } from "../../commands/packages/module-packages.ts";
import { runPrefetch } from "../../commands/packages/prefetch.ts";
import { wireBundleLimits } from "../commands/store.ts";
import { wireCore, type Core } from "../core.ts";
import { platformsOf, selectionOf, type SelectionFlags } from "./selection.ts";
import type { OpenMirror, Verb } from "./verb.ts";

const now = () => performance.now();

interface PrefetchInput extends SelectionFlags {
  readonly check?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export const prefetch: Verb<PrefetchInput> = async (
  { check: checks = false, json = false, ...flags },
  opened,
  { stdout, stderr, signal, makeProgress },
) => {
  const { configuration } = opened;
  const input = selectionOf(flags, configuration);
  const progress = makeProgress();
  const run = (mirror: Core) => {
    const parts = { mirror, progress, signal, inspects: false, checks };
    return runPrefetch({ input, json }, parts, { stdout, stderr, now });
  };
  if (!checks) {
    await measureStore(opened);
    return run(opened);
  }
  const offline = goOffline(opened);
  return run(offline).finally(() => offline.close());
};

interface ExportInput extends SelectionFlags {
  readonly to?: string | undefined;
  readonly oci?: string | undefined;
  readonly bundle?: string | undefined;
  readonly since?: string | undefined;
}

export const exportPackages: Verb<ExportInput> = (
  { to, oci, bundle, since, ...flags },
  mirror,
  { stderr, signal, makeProgress },
) => {
  const { configuration } = mirror;
  const options = {
    ...{ to, oci, bundle, since },
    input: selectionOf(flags, configuration),
    limits: wireBundleLimits(configuration),
  };
  const progress = makeProgress();
  const ways = { inspects: true, checks: false };
  const parts = { mirror, progress, signal, ...ways, store: mirror };
  return runExport(options, parts, stderr);
};

export const importFile: Verb<{ readonly file: string }> = async (
  { file },
  mirror,
  { stderr, openFile, signal },
) => {
  const { configuration } = mirror;
  const limits = wireBundleLimits(configuration);
  await measureStore(mirror);
  return runImport(mirror, { file, limits, openFile, signal }, stderr);
};

interface LockInput {
  readonly directories: readonly string[];
  readonly platform?: readonly string[] | undefined;
  readonly check?: boolean | undefined;
}

export const lock: Verb<LockInput> = (
  { directories, platform, check = false },
  mirror,
  { stderr, signal },
) => {
  const { platforms } = mirror.configuration;
  const modules = new ModulePackages(mirror, signal);
  const parts = { source: lockFromStore(mirror, signal), modules };
  const named = platformsOf(platform, platforms);
  return runLock({ directories, platforms: named, check }, parts, stderr);
};

/** Room is made by what is stored, which the daemon has counted. */
async function measureStore({
  retention,
  configuration,
  daemon,
}: OpenMirror): Promise<void> {
  const isBounded = configuration.storage.maxSize !== undefined;
  if (isBounded && daemon === undefined) await retention.measure();
}

/** The same store without its origins. */
function goOffline(mirror: OpenMirror): Core {
  const { records, clock, layout, telemetry, admission } = mirror;
  const { logger, alarms, audit, auditLogs } = telemetry;
  const replica = mirror.replica && {
    ...mirror.replica,
    close: () => Promise.resolve(),
  };
  return wireCore(
    { ...mirror.configuration, offline: true },
    { ...admission.rules, offline: true },
    layout,
    { logger, alarms, audit, auditLogs },
    { records, clock, replica },
  );
}
