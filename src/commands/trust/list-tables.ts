import type { Failure } from "../../errors/index.ts";
import {
  explainPending,
  type PendingDecision,
} from "../../mirror/trust/pending-decisions.ts";
import type { NamespaceBody } from "../../mirror/trust/trust-records.ts";
import type { ReadContact } from "../../mirror/trust/trust-store.ts";
import { formatTable } from "../output/table.ts";

/** A namespace as `trust list` shows it. */
export interface ListedNamespace {
  readonly namespace: string;
  readonly trust: NamespaceBody;
  readonly contacts: readonly Extract<
    ReadContact,
    { readonly contact: unknown }
  >[];
  readonly pending: readonly PendingDecision[];
  readonly dropped: number;
}

/** Namespace or provider with unreadable records. */
export interface UnknownTrust {
  /** HOSTNAME/NAMESPACE, or a provider of it. */
  readonly subject: string;
  readonly problem: Failure<"record-unreadable">;
}

type Row = readonly string[];

/** Writes `trust list` for people: tables by namespace. */
export function formatTrust(
  listed: readonly ListedNamespace[],
  unknown: readonly UnknownTrust[],
): string {
  if (listed.length + unknown.length === 0)
    return "Nothing has been seen yet.\n";
  return [
    ...listed.map(formatNamespace),
    ...unknown.map(({ subject }) => `${subject}\n  unknown\n`),
  ].join("\n");
}

function formatNamespace(listed: ListedNamespace): string {
  const tables = [listKeys(listed), listContacts(listed), listContents(listed)];
  return [
    `${listed.namespace}\n`,
    ...tables.map(formatTable),
    formatPending(listed),
  ].join("");
}

function listKeys({
  trust: { firstKey, providerKeys, decisions },
}: ListedNamespace): readonly Row[] {
  const first = firstKey && [
    ...[firstKey.fingerprint ?? "none", "first key", "namespace"],
    ...["-", "-", `first contact with ${firstKey.type}`],
  ];
  return [
    ["KEY", "STATE", "FOR", "SINCE", "BY", "BECAUSE"],
    ...(first ? [first] : []),
    ...providerKeys.map(({ fingerprint, type }) => [
      ...[fingerprint, "first signer", type, "-", "-"],
      "the first contact was unsigned",
    ]),
    ...decisions.keys.map(
      ({ fingerprint, decision, at, by, why, ...scope }) => [
        ...[fingerprint, decision, nameScope(scope), dayOf(at)],
        ...[by ?? "-", why ?? "-"],
      ],
    ),
  ];
}

function listContacts({ contacts }: ListedNamespace): readonly Row[] {
  return [
    ["FIRST CONTACT", "KEY", "SINCE", "BY", "NEWEST"],
    ...contacts.map(({ type, contact: { key, at, by, newest } }) => [
      ...[type, key ?? "none", dayOf(at.toISOString()), by, newest],
    ]),
  ];
}

function listContents({ trust }: ListedNamespace): readonly Row[] {
  return [
    ["APPROVED", "CONTENT", "SINCE", "BY", "BECAUSE"],
    ...trust.decisions.contents.map((one) => [
      ...[`${one.type}@${one.version}`, one.sha256sums, dayOf(one.at)],
      ...[one.by ?? "-", one.why ?? "-"],
    ]),
  ];
}

/** A command stands below its row, whole, so that it can be copied. */
function formatPending({ pending, dropped }: ListedNamespace): string {
  const rows = pending.map(
    (one) =>
      `  ${one.provider.type} ${one.version}: ${explainPending(one)}, ${one.content}, since ${dayOf(one.since)}\n    ${nameRemedy(one)}\n`,
  );
  const more =
    dropped === 0 ? "" : `  ${dropped} more candidates are not kept\n`;
  const head = rows.length === 0 ? "" : "  NEEDS A DECISION\n";
  return `${head}${rows.join("")}${more}`;
}

function nameRemedy({ command, setting }: PendingDecision): string {
  return command ?? `change "${setting}" in the configuration if it is good`;
}

function nameScope({
  type,
  version,
}: {
  readonly type: string | null;
  readonly version: string | null;
}): string {
  if (type === null) return "namespace";
  return version === null ? type : `${type}@${version}`;
}

function dayOf(moment: string): string {
  return moment.slice(0, 10);
}
