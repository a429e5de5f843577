/** The commands that open the store: one module, because each that is loaded by itself adds files to the program's bundle. */
export { audit } from "../commands/audit/audit.ts";
export { explain } from "../commands/operate/explain.ts";
export { exportPackages } from "../commands/packages/export.ts";
export { importFile } from "../commands/packages/import.ts";
export { prefetch } from "../commands/packages/prefetch.ts";
export { list } from "../commands/store/list.ts";
export { prune } from "../commands/store/prune.ts";
export { verify } from "../commands/store/verify.ts";
export { approve, forget, revoke } from "../commands/trust/decide.ts";
export { listTrust } from "../commands/trust/list.ts";
