import { runList } from "../../commands/store/list.ts";
import { ModuleTrustRecords } from "../../mirror/modules/records.ts";
import { anyHostOf } from "./hosts.ts";
import { flag, text, verb, type OpenMirror } from "./verb.ts";

/** The records of modules are read without their mirror. */
export function heldPartsOf(mirror: OpenMirror) {
  const { records, releases, versions, trust, blobs, clock, judge } = mirror;
  const modules = new ModuleTrustRecords(records);
  return { records, releases, versions, trust, blobs, clock, judge, modules };
}

export const list = verb(
  { spec: text, json: flag },
  ({ spec, json }, mirror, io) => {
    const hosts = anyHostOf(mirror.configuration);
    return runList(heldPartsOf(mirror), { spec, hosts, json }, io);
  },
);
