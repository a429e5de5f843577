import { z } from "zod";
import { runCompare } from "../../commands/store/compare.ts";
import { runList } from "../../commands/store/list.ts";
import { runPurge } from "../../commands/store/purge.ts";
import { ModuleTrustRecords } from "../../mirror/modules/records.ts";
import { wireNamedHost } from "../clients.ts";
import { anyHostOf } from "./hosts.ts";
import { flag, text, texts, verb, type OpenMirror } from "./verb.ts";

/** The records of modules are read without their mirror. */
function partsOf(mirror: OpenMirror) {
  const { records, releases, versions, trust, blobs, clock, judge } = mirror;
  const modules = new ModuleTrustRecords(records);
  return { records, releases, versions, trust, blobs, clock, judge, modules };
}

export const list = verb(
  { spec: text, json: flag },
  ({ spec, json }, mirror, io) => {
    const hosts = anyHostOf(mirror.configuration);
    return runList(partsOf(mirror), { spec, hosts, json }, io);
  },
);

export const purge = verb(
  { spec: z.string(), json: flag },
  async ({ spec, json }, mirror, { stdout }) => {
    const hosts = anyHostOf(mirror.configuration);
    const parts = { ...partsOf(mirror), shared: mirror.replica?.blobs };
    await runPurge(parts, { spec, hosts, json }, stdout);
    return 0;
  },
);

/** The other mirror is as the command's own machine knows it. */
const otherMirror = { base: z.url(), ca: text, token: text };

export const compare = verb(
  { spec: texts, ...otherMirror, json: flag },
  async (
    { spec: specs, base: href, ca, token, json },
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
  },
);
