import { exportPackages, importFile, prefetch } from "./packages.ts";
import { explain } from "./explain.ts";
import { approve, forget, list as listTrust, revoke } from "./trust.ts";
import { audit, list, prune, verify } from "./store.ts";

export { openMirror } from "../commands/store.ts";

/** What works on an open store, by name; one module, because each that is loaded by itself adds files to the program's bundle. */
export const all = {
  ...{ audit, explain },
  export: exportPackages,
  import: importFile,
  ...{ list, prefetch, prune, verify },
  "trust approve": approve,
  "trust forget": forget,
  "trust list": listTrust,
  "trust revoke": revoke,
} as const;

export type VerbName = keyof typeof all;
