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

/** A record's table, and the values of its key. */
export type RecordKey = readonly [table: RecordTable, ...parts: string[]];

export function isKeyPart(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._:+/-]*$/.test(text);
}

/** True for records that can be made again: the hashes of archives, and the keys of their URLs. All others are trust and decisions. */
export function isRebuildable([table]: RecordKey): boolean {
  return ["package_hashes", "wrong_archives", "secrets"].includes(table);
}
