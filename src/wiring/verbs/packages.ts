import { runExport } from "../../commands/packages/export.ts";
import { runImport } from "../../commands/packages/import.ts";
import { runPrefetch } from "../../commands/packages/prefetch.ts";
import type { BundleFile } from "../../mirror/bundles/bundle-file.ts";
import type { BundleManifest } from "../../mirror/bundles/manifest.ts";
import { wireBundleLimits } from "../commands/store.ts";
import { wireCore, type Core } from "../core.ts";
import { type SelectionFlags, selectionOf } from "./selection.ts";
import type { JsonFlag, OpenMirror, VerbIo } from "./verb.ts";

export async function prefetch(
  {
    check: checks = false,
    json = false,
    ...flags
  }: SelectionFlags & JsonFlag & { readonly check?: boolean },
  opened: OpenMirror,
  { stdout, stderr, signal, makeProgress }: VerbIo,
): Promise<number> {
  const input = selectionOf(flags, opened.configuration);
  const progress = makeProgress();
  const run = (mirror: Core) => {
    const parts = { mirror, progress, signal, inspects: false, checks };
    return runPrefetch({ input, json }, parts, { stdout, stderr });
  };
  if (!checks) {
    await measureStore(opened);
    return run(opened);
  }
  const offline = goOffline(opened);
  return run(offline).finally(() => offline.close());
}

export function exportPackages(
  {
    to,
    since,
    ...flags
  }: SelectionFlags & { readonly to: string; readonly since?: BundleManifest },
  mirror: OpenMirror,
  { stderr, signal, makeProgress }: VerbIo,
): Promise<number> {
  const { configuration } = mirror;
  const options = {
    ...{ to, since },
    input: selectionOf(flags, configuration),
    limits: wireBundleLimits(configuration),
  };
  const progress = makeProgress();
  const ways = { inspects: true, checks: false };
  const parts = { mirror, progress, signal, ...ways, store: mirror };
  return runExport(options, parts, stderr);
}

export async function importFile(
  { file, bundle }: { readonly file: string; readonly bundle: BundleFile },
  mirror: OpenMirror,
  { stderr, signal }: VerbIo,
): Promise<number> {
  await measureStore(mirror);
  return runImport(mirror, { file, bundle, signal }, stderr);
}

/** Room is made by what is stored. */
async function measureStore({
  retention,
  configuration,
}: OpenMirror): Promise<void> {
  if (configuration.storage.maxSize !== undefined) await retention.measure();
}

/** The same store without its origins. */
function goOffline(mirror: OpenMirror): Core {
  const { records, clock, layout, telemetry, admission, bucket } = mirror;
  return wireCore(
    { ...mirror.configuration, offline: true },
    { ...admission.rules, offline: true },
    layout,
    { ...telemetry, metrics: undefined },
    { records, clock, bucket },
  );
}
