import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import {
  changeMarked,
  readMarked,
  removeMarked,
  type MarkedRecord,
} from "../../store/records/marked-record.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Kept, MetadataRecords } from "../cache/metadata-records.ts";
import { joinLists, type VersionList } from "./version-list.ts";
import { isSameList } from "./version-list-changes.ts";
import {
  readVersionListBody,
  writeVersionListBody,
} from "./version-list-body.ts";

/** Names of one kind of version list, in text and on disk. */
interface VersionNaming<A> {
  readonly format: (address: A) => string;
  readonly record: (address: A) => MarkedRecord;
}

/** A lost list is made again: which versions existed at first contact is on record apart. */
export const providerVersionNaming: VersionNaming<ProviderAddress> = {
  format: formatProviderAddress,
  record: ({ hostname, namespace, type }) => ({
    key: ["providers", hostname, namespace, type, "versions"],
    mark: undefined,
  }),
};

/** The lists of versions on disk, one record a provider or module. */
export class VersionRecords<A> implements MetadataRecords<A, VersionList> {
  readonly #records: RecordStore;
  readonly #naming: VersionNaming<A>;

  constructor(records: RecordStore, naming: VersionNaming<A>) {
    this.#records = records;
    this.#naming = naming;
  }

  format(address: A): string {
    return this.#naming.format(address);
  }

  /** Versions share their lists of platforms. */
  weigh({ versions }: VersionList): number {
    const lists = new Set(versions.values().map(({ platforms }) => platforms));
    let sum = 256 + 400 * versions.size;
    for (const list of lists) sum += 90 * (list?.length ?? 0);
    return sum;
  }

  async read(address: A): Promise<Kept<VersionList> | undefined> {
    const record = this.#naming.record(address);
    return readMarked(this.#records, record, readVersionListBody);
  }

  /** Joined to what other replicas wrote meanwhile, which is returned. */
  async write(
    address: A,
    kept: Kept<VersionList>,
    known: VersionList | undefined,
  ): Promise<Kept<VersionList>> {
    let joined = kept;
    const record = this.#naming.record(address);
    await changeMarked(this.#records, record, readVersionListBody, (before) => {
      const continues = isSameList(before?.value, known);
      joined = before === undefined || continues ? kept : join(kept, before);
      return writeVersionListBody(joined);
    });
    return joined;
  }

  /** Forgets a list, as an operator decided. */
  forget(address: A): Promise<void> {
    return removeMarked(this.#records, this.#naming.record(address));
  }
}

function join(
  ours: Kept<VersionList>,
  before: Kept<VersionList>,
): Kept<VersionList> {
  const isNewer = ours.confirmedAt >= before.confirmedAt;
  const [newer, older] = isNewer ? [ours, before] : [before, ours];
  return { ...newer, value: joinLists(newer.value, older.value) };
}
