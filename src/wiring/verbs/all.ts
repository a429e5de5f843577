import { exportPackages, importFile, prefetch } from "./packages.ts";
import { explain, status } from "./status.ts";
import { approve, forget, list as listTrust, reset, revoke } from "./trust.ts";
import { audit, list, prune, verify } from "./store.ts";

/** The verbs by name; one module, because each that is loaded by itself adds files to the program's bundle. */
export const all = {
  ...{ audit, explain },
  export: exportPackages,
  import: importFile,
  ...{ list, prefetch, prune, status, verify },
  "trust approve": approve,
  "trust forget": forget,
  "trust list": listTrust,
  "trust reset": reset,
  "trust revoke": revoke,
} as const;
