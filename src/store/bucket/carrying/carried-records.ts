import { listRecords } from "../../records/listing.ts";
import { readSettled } from "../../records/record-copies.ts";
import { isTrust, type StoreLayout } from "../../layout.ts";
import type { Sealed } from "../../records/seal.ts";
import type { BucketRecords } from "../bucket-records.ts";
import { same, written, type Carried, type Outcome } from "./carried.ts";

interface RecordSides {
  readonly layout: StoreLayout;
  readonly records: BucketRecords;
}

/**
 * Lists the records of a directory for a push into a bucket; those in the
 * bucket stay. `onTrust` is called after each record of trust.
 */
export async function listRecordsToPush(
  { layout, records }: RecordSides,
  onTrust: () => Promise<void>,
): Promise<readonly Carried[]> {
  const there = new Set<string>();
  for await (const key of records.listAll()) there.add(key.join("/"));
  const all: Carried[] = [];
  for await (const key of listRecords(layout)) {
    const name = key.join("/");
    const carry = async (): Promise<Outcome> => {
      const here = await readSettled(layout, key);
      if (here.kind === "absent") return same;
      if (here.kind === "bad") return here;
      if (!there.has(name) && (await records.bring(key, here.sealed))) {
        if (isTrust(key)) await onTrust();
        return written;
      }
      const found = await records.look(key);
      if (found.kind === "bad") return found;
      return found.kind === "absent"
        ? { kind: "bad", problem: "it left the bucket meanwhile" }
        : compare(here.sealed, found.sealed);
    };
    all.push({ kind: "record", name, size: 0, carry });
  }
  return all;
}

function compare(local: Sealed, shared: Sealed): Outcome {
  if (local.body !== shared.body)
    return { kind: "differs", problem: "the bucket has another, which stays" };
  return { kind: local.revision > shared.revision ? "ahead" : "same" };
}
