import { runCompare } from "../../commands/store/compare.ts";
import { runList } from "../../commands/store/list.ts";
import { runPurge } from "../../commands/store/purge.ts";
import { ModuleTrustRecords } from "../../mirror/modules/records.ts";
import { wireNamedHost } from "../clients.ts";
import { anyHostOf } from "./hosts.ts";
import type { OpenMirror, Verb } from "./verb.ts";

interface HeldInput {
  readonly json?: boolean | undefined;
}

/** The records of modules are read without their mirror. */
function partsOf(mirror: OpenMirror) {
  const { records, releases, versions, trust, blobs, clock, judge } = mirror;
  const modules = new ModuleTrustRecords(records);
  return { records, releases, versions, trust, blobs, clock, judge, modules };
}

export const list: Verb<HeldInput & { readonly spec?: string | undefined }> = (
  { spec, json = false },
  mirror,
  io,
) => {
  const hosts = anyHostOf(mirror.configuration);
  return runList(partsOf(mirror), { spec, hosts, json }, io);
};

export const purge: Verb<HeldInput & { readonly spec: string }> = async (
  { spec, json = false },
  mirror,
  io,
) => {
  const hosts = anyHostOf(mirror.configuration);
  const parts = { ...partsOf(mirror), shared: mirror.replica?.blobs };
  await runPurge(parts, { spec, hosts, json }, io.stdout);
  return 0;
};

interface CompareInput extends HeldInput {
  readonly specs: readonly string[];
  /** The other mirror, as the command's own machine knows it. */
  readonly base: string;
  readonly ca?: string | undefined;
  readonly token?: string | undefined;
}

export const compare: Verb<CompareInput> = async (
  { specs, base: href, ca, token, json = false },
  mirror,
  { stdout, signal },
) => {
  const { configuration } = mirror;
  const base = new URL(href);
  const http = wireNamedHost(configuration, base, { ca, token });
  const hosts = anyHostOf(configuration);
  try {
    const options = { base, specs, hosts, json, signal };
    return await runCompare({ ...partsOf(mirror), http }, options, stdout);
  } finally {
    await http.close();
  }
};
