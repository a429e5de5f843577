import { formatProviderAddress } from "../../address/provider-address.ts";
import {
  explainPending,
  listPending,
  type PendingDecision,
} from "../../mirror/trust/pending-decisions.ts";
import {
  findUndone,
  type UndoneDecision,
} from "../../mirror/trust/undone-decisions.ts";
import type {
  KnownContact,
  KnownNamespace,
  Unknown,
} from "../../mirror/trust/trust-store.ts";
import { findKnownKey } from "../../trust/key-verdict.ts";
import { type Flags, onStore } from "../command.ts";
import {
  describeError,
  formatDocument,
  stderr,
  stdout,
} from "../output/report.ts";
import { formatTable } from "../output/table.ts";

/**
 * `provender trust list`: prints what needs a decision, and which ones an older backup took back; with `--all`, and in
 * JSON, also keys, decisions and first contacts, by namespace. Returns 1 when a record cannot be read; each is named.
 */
export function listTrust({
  json = false,
  all = false,
  ...flags
}: Flags & { readonly all?: boolean }): Promise<number> {
  return onStore(flags, async ({ trust, admission, layout }) => {
    const undone = await findUndone(layout.decisions, trust);
    const pending: PendingDecision[] = [];
    const namespaces: Described[] = [];
    /** Namespaces, or providers of one, with unreadable records. */
    const unknown: Unknown[] = [];
    for await (const one of trust.readAll()) {
      if ("problem" in one) {
        unknown.push(one);
        continue;
      }
      const contacts = await trust.readContacts(one.namespace);
      unknown.push(...contacts.filter((read) => "problem" in read));
      const known = contacts.filter((read) => "at" in read);
      const own = listPending(one, admission.rules);
      pending.push(...own);
      namespaces.push(describe(one, known, own));
    }
    if (json)
      stdout(
        formatDocument({
          namespaces,
          undone: undone.map(({ subject, decision, at, by, repeat }) => ({
            ...{ subject, decision, at, by, command: repeat },
          })),
          problems: unknown.map(({ subject, problem }) => ({
            ...{ subject, ...describeError(problem) },
          })),
        }),
      );
    else {
      stdout(formatPending(pending, undone));
      const tables = [
        ...namespaces.map(formatNamespace),
        ...unknown.map(({ subject }) => `${subject}\n  unknown\n`),
      ];
      if (all)
        stdout(["", ...(tables.length > 0 ? tables : [nothing])].join("\n"));
    }
    for (const { problem } of unknown) stderr(`${problem.message}\n`);
    return unknown.length > 0 ? 1 : 0;
  });
}

const nothing = "Nothing has been seen yet.\n";

type Described = ReturnType<typeof describe>;

/** A namespace as it is in JSON, and in tables but for its candidates. */
function describe(
  { namespace, trust }: KnownNamespace,
  contacts: readonly KnownContact[],
  pending: readonly PendingDecision[],
) {
  const known = findKnownKey(namespace);
  const { firstKey, providerKeys, decisions } = trust;
  // Where the program knows a key, none of a first contact counts.
  const counts = known === undefined;
  return {
    namespace: `${namespace.hostname}/${namespace.namespace}`,
    knownKey: known ?? null,
    firstKey:
      firstKey && counts
        ? { fingerprint: firstKey.fingerprint ?? null, type: firstKey.type }
        : null,
    providerKeys: counts ? providerKeys : [],
    keys: decisions.keys,
    contents: decisions.contents,
    contacts: contacts.map(({ type, at, by, key, newest }) => ({
      ...{ type, at: at.toISOString(), by, key: key ?? null, newest },
    })),
    candidates: pending.map((one) => ({
      type: one.provider.type,
      version: one.version,
      sha256sums: one.sha256sums,
      fingerprint: one.fingerprint ?? null,
      reason: one.reason,
      since: one.since,
      command: one.command ?? null,
      keyCommand: one.keyCommand ?? null,
      setting: one.setting ?? null,
    })),
  };
}

function formatNamespace({
  namespace,
  knownKey,
  firstKey,
  ...found
}: Described): string {
  const ofAll = ["namespace", "-", "-"];
  const keys = [
    ["KEY", "STATE", "FOR", "SINCE", "BY", "BECAUSE"],
    knownKey && [knownKey, "known", ...ofAll, "this program knows it"],
    firstKey && [
      ...[firstKey.fingerprint ?? "none", "first key", ...ofAll],
      `first contact with ${firstKey.type}`,
    ],
    ...found.providerKeys.map(({ fingerprint, type }) => [
      ...[fingerprint, "first signer", type, "-", "-"],
      "the first contact was unsigned",
    ]),
    ...found.keys.map(({ fingerprint, decision, type, version, ...made }) => [
      ...[fingerprint, decision, nameScope(type, version), dayOf(made.at)],
      ...[made.by ?? "-", made.why ?? "-"],
    ]),
  ].filter((row) => Array.isArray(row));
  const contacts = [
    ["FIRST CONTACT", "KEY", "SINCE", "BY", "NEWEST"],
    ...found.contacts.map(({ type, key, at, by, newest }) => [
      ...[type, key ?? "none", dayOf(at), by, newest],
    ]),
  ];
  const contents = [
    ["RELEASE", "STATE", "CONTENT", "SINCE", "BY", "BECAUSE"],
    ...found.contents.map((one) => [
      ...[`${one.type}@${one.version}`, one.decision, one.sha256sums],
      ...[dayOf(one.at), one.by ?? "-", one.why ?? "-"],
    ]),
  ];
  return `${namespace}\n${[keys, contacts, contents].map(formatTable).join("")}`;
}

/** Writes what needs a decision. Commands stand below their row, whole, so that they can be copied. */
function formatPending(
  pending: readonly PendingDecision[],
  undone: readonly UndoneDecision[],
): string {
  const rows = pending.map((one) => {
    const { keyCommand, command, setting } = one;
    const remedy =
      command ?? `change "${setting}" in the configuration if it is good`;
    const key = keyCommand && `  ${keyCommand}  # all that this key signs\n`;
    return `${formatProviderAddress(one.provider)} ${one.version}: ${explainPending(one)}, ${one.content}, since ${dayOf(one.since)}\n  ${remedy}\n${key ?? ""}`;
  });
  const lost = undone.map(
    ({ subject, decision, at, by = "an operator", repeat }) =>
      `${subject}: ${decision} by ${by} on ${dayOf(at)}\n  ${repeat}\n`,
  );
  if (lost.length > 0)
    lost.unshift("TAKEN BACK by an older backup: decide again with\n");
  return pending.length === 0
    ? lost.join("") || "Nothing needs a decision.\n"
    : `${lost.join("")}NEEDS A DECISION: clients do not get these; "revoke" in place of "approve" refuses one for good.\n${rows.join("")}`;
}

function nameScope(type: string | null, version: string | null): string {
  if (type === null) return "namespace";
  return version === null ? type : `${type}@${version}`;
}

function dayOf(moment: string): string {
  return moment.slice(0, 10);
}
