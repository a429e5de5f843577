import { AsyncLocalStorage } from "node:async_hooks";

/** Client of the daemon for which something is done. */
export interface Asker {
  readonly requestId: string;
  readonly client: string;
  /** Name of the token, once it has been checked. */
  token?: string | undefined;
}

const askers = new AsyncLocalStorage<Asker>();

/** Everything that `work` starts is done on behalf of `asker`, also what goes on after it. */
export function onBehalfOf<T>(asker: Asker, work: () => T): T {
  return askers.run(asker, work);
}

/** Undefined for what the mirror does by itself. */
export function currentAsker(): Asker | undefined {
  return askers.getStore();
}
