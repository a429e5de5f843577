import { ProviderChanges } from "../../src/mirror/cache/provider-changes.ts";
import {
  namespaceKey,
  TrustEntry,
  TrustStore,
} from "../../src/mirror/trust/trust-store.ts";
import type { RecordKey } from "../../src/store/records/record-tables.ts";
import type { Decisions } from "../../src/trust/decisions.ts";
import type { FirstContact } from "../../src/trust/state.ts";
import { makeLayout } from "../store/stores.ts";
import { K, keyDecision } from "../trust/releases.ts";
import { address } from "./release-sketches.ts";
import { FailingRecords, Writes } from "./failing-writes.ts";

const { hostname, namespace } = address.provider;
export const acme = { hostname, namespace };
export const place = {
  namespace: namespaceKey(acme),
  release: (type = "thing", version = "1.0.0"): RecordKey => [
    ...(["releases", hostname, namespace, type, version] as const),
  ],
};

export const asItIs = (body: unknown) => body;

/** Revokes K for the namespace. */
export const revokeK = ({ contents }: Decisions): Decisions => ({
  keys: [keyDecision(K, "revoked", { type: null })],
  contents,
});

/** Writes a first contact alone. */
export function meet(entry: TrustEntry, made: FirstContact, type = "thing") {
  const nothing = () => Promise.resolve();
  return entry.createContact(type, made, (namespace) => namespace, nothing);
}

/** Trust records of a store of its own. */
export async function prepareTrust() {
  const layout = await makeLayout();
  const writes = new Writes();
  const records = new FailingRecords(layout, writes);
  return {
    layout,
    records,
    writes,
    /** An entry as another process has it. */
    open: (of = records) => new TrustEntry(of, acme, new ProviderChanges(of)),
    /** The records as the next process has them. */
    reopen: () => new FailingRecords(layout, new Writes()),
    openStore: () => new TrustStore(records, new ProviderChanges(records)),
  };
}
