import type { Sha256 } from "../../address/hash.ts";
import type { Generated } from "kysely";

const provider = ["hostname", "namespace", "type"] as const;
const module = ["hostname", "namespace", "name", "system"] as const;

/** The tables of records: what the mirror knows, by the columns of its key. */
export const recordTables = {
  /** First and later keys of a namespace, and what operators decided in it. */
  namespaces: ["hostname", "namespace"],
  first_contacts: provider,
  /** What is offered in place of pinned content; of a module, `type` is NAME/SYSTEM. */
  candidates: provider,
  version_lists: provider,
  /** Versions that clients did not get when they were asked for last. */
  refused_versions: provider,
  /** The pinned content of a release, with the evidence of all that was offered. */
  releases: [...provider, "version"],
  /** What came last in place of an archive. */
  wrong_archives: [...provider, "sha256"],
  /** The h1 of an archive, or why it has none. */
  package_hashes: ["sha256"],
  module_lists: module,
  /** Where the registry says that a module is. */
  module_releases: [...module, "version"],
  module_pins: [...module, "version"],
  /** What signs URLs of archives. */
  secrets: ["name"],
} as const;

export type RecordTable = keyof typeof recordTables;

/** Tables of a store. */
export interface Schema extends Readonly<Record<RecordTable, RecordRow>> {
  readonly changes: ChangeTable;
  readonly packages: PackageRow;
  readonly uses: UseRow;
  readonly events: EventRow & { readonly id: Generated<number> };
}

/** A row of one of these tables, beside the columns of its key. */
export interface RecordRow extends Readonly<
  Record<(typeof recordTables)[RecordTable][number], string>
> {
  /** Differs after each change. */
  readonly revision: number;
  /** JSON of what is never asked by its parts. */
  readonly body: string;
}

/** The records that changed last, in order, so that other processes know what to read again. Triggers write it. */
interface ChangeTable {
  /** Counts all changes. */
  readonly number: number;
  readonly record: string;
}

/** An entry of the audit log; null is what is not known. */
export interface EventRow {
  /** RFC 3339, in UTC. */
  readonly at: string;
  readonly event: string;
  readonly verdict: string;
  readonly client: string | null;
  readonly token: string | null;
  readonly operator: string | null;
  readonly provider: string | null;
  readonly module: string | null;
  readonly version: string | null;
  /** JSON of what is never asked by its parts. */
  readonly rest: string;
  /** Names what is counted in this row; null for an event of its own. */
  readonly counted: string | null;
  readonly times: number;
}

/** A package of the pinned content of a release, written with its record. */
interface PackageRow {
  readonly hostname: string;
  readonly namespace: string;
  readonly type: string;
  readonly version: string;
  /** OS_ARCH. */
  readonly platform: string;
  readonly sha256: Sha256;
  /** RFC 3339, in UTC. */
  readonly first_seen: string;
  /** Fingerprint of the primary key that it was admitted under. */
  readonly signed_by: string | null;
}

/** When an archive was last used. */
export interface UseRow {
  readonly sha256: Sha256;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Bytes; null where it was used, and not stored, since that is noted. */
  readonly size: number | null;
}

/** SQL of the table of packages, the same for every database. */
export const packageTable = `CREATE TABLE packages (
  hostname TEXT NOT NULL,
  namespace TEXT NOT NULL,
  type TEXT NOT NULL,
  version TEXT NOT NULL,
  platform TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  first_seen TEXT NOT NULL,
  signed_by TEXT,
  PRIMARY KEY (hostname, namespace, type, version, platform)
);
CREATE INDEX packages_by_digest ON packages (sha256);`;

/** SQL of a record's name in `changes`: TABLE/PART/…, of a row of a trigger. */
export function nameRecord(
  table: string,
  key: readonly string[],
  row: string,
): string {
  const parts = key.map((column) => `${row}.${column}`);
  return [`'${table}'`, ...parts].join(" || '/' || ");
}
