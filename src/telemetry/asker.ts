import { AsyncLocalStorage } from "node:async_hooks";

/** Client of the daemon for which something is done. */
export interface Asker {
  readonly requestId: string;
  readonly client: string;
  /** Name of the token, once it has been checked. */
  token?: string | undefined;
}

/** On whose behalf something is done, also what goes on after the answer; none for what the mirror does by itself. */
export const askers = new AsyncLocalStorage<Asker>();
