import { z } from "zod";
import { runExport } from "../../commands/packages/export.ts";
import { runImport } from "../../commands/packages/import.ts";
import { runPrefetch } from "../../commands/packages/prefetch.ts";
import { wireBundleLimits } from "../commands/store.ts";
import { wireCore, type Core } from "../core.ts";
import { selection, selectionOf } from "./selection.ts";
import { flag, text, verb, type OpenMirror } from "./verb.ts";

export const prefetch = verb(
  { ...selection, check: flag, json: flag },
  async (
    { check: checks, json, ...flags },
    opened,
    { stdout, stderr, signal, makeProgress },
  ) => {
    const { configuration } = opened;
    const input = selectionOf(flags, configuration);
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
  },
);

const destination = { to: text, oci: text, bundle: text, since: text };

export const exportPackages = verb(
  { ...selection, ...destination },
  (
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
  },
);

export const importFile = verb(
  { file: z.string(), sha256: text },
  async ({ file, sha256 }, mirror, { stderr, openFile, signal }) => {
    const { configuration } = mirror;
    const limits = wireBundleLimits(configuration);
    await measureStore(mirror);
    return runImport(
      mirror,
      { file, sha256, limits, openFile, signal },
      stderr,
    );
  },
);

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
  const { logger, alarms, audit } = telemetry;
  const bucket = mirror.bucket && {
    ...mirror.bucket,
    close: () => Promise.resolve(),
  };
  return wireCore(
    { ...mirror.configuration, offline: true },
    { ...admission.rules, offline: true },
    layout,
    { logger, alarms, audit },
    { records, clock, bucket },
  );
}
