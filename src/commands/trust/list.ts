import { formatProviderAddress } from "../../address/provider-address.ts";
import type { Failure } from "../../errors/index.ts";
import {
  countDropped,
  explainPending,
  listPending,
  type PendingDecision,
} from "../../mirror/trust/pending-decisions.ts";
import {
  findUndone,
  type UndoneDecision,
} from "../../mirror/trust/undone-decisions.ts";
import type { ReadContact } from "../../mirror/trust/trust-store.ts";
import { findKnownKey } from "../../trust/key-verdict.ts";
import type { NamespaceTrust } from "../../trust/state.ts";
import { type Flags, onStore } from "../command.ts";
import {
  describeError,
  formatDocument,
  stderr,
  stdout,
} from "../output/report.ts";
import { formatTable } from "../output/table.ts";

type Contact = Extract<ReadContact, { readonly contact: unknown }>;

/** A namespace as `trust list` shows it. */
interface ListedNamespace {
  /** HOSTNAME/NAMESPACE. */
  readonly namespace: string;
  /** The key that this program knows; where there is one, no key of a first contact counts. */
  readonly known: string | undefined;
  readonly trust: NamespaceTrust;
  readonly contacts: readonly Contact[];
  readonly pending: readonly PendingDecision[];
  readonly dropped: number;
}

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
    const listed: ListedNamespace[] = [];
    /** Namespaces, or providers of one, with unreadable records. */
    const unknown: {
      subject: string;
      problem: Failure<"record-unreadable">;
    }[] = [];
    for await (const one of trust.readAll()) {
      const { hostname, namespace } = one.namespace;
      const name = `${hostname}/${namespace}`;
      if ("problem" in one) {
        unknown.push({ subject: name, problem: one.problem });
        continue;
      }
      const contacts: Contact[] = [];
      for (const read of await trust.readContacts(one.namespace))
        if ("contact" in read) contacts.push(read);
        else
          unknown.push({
            subject: `${name}/${read.type}`,
            problem: read.problem,
          });
      listed.push({
        ...{ namespace: name, known: findKnownKey(one.namespace) },
        ...{ trust: one.trust, contacts },
        pending: listPending(one, admission.rules),
        dropped: countDropped(one.candidates),
      });
    }
    if (json)
      stdout(
        formatDocument({
          namespaces: listed.map(describeInJson),
          undone: undone.map(({ subject, decision, at, by, repeat }) => ({
            ...{ subject, decision, at, by, command: repeat },
          })),
          problems: unknown.map(({ subject, problem }) => ({
            ...{ subject, ...describeError(problem) },
          })),
        }),
      );
    else {
      stdout(formatPending(listed, undone));
      const tables = [
        ...listed.map(formatNamespace),
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

function describeInJson({
  namespace,
  known,
  trust: { firstKey, providerKeys, decisions },
  contacts,
  pending,
  dropped,
}: ListedNamespace) {
  const counts = known === undefined;
  return {
    namespace,
    knownKey: known ?? null,
    firstKey:
      firstKey && counts
        ? { fingerprint: firstKey.fingerprint ?? null, type: firstKey.type }
        : null,
    providerKeys: counts ? providerKeys : [],
    keys: decisions.keys,
    contents: decisions.contents,
    contacts: contacts.map(({ type, contact }) => ({
      type,
      at: contact.at.toISOString(),
      by: contact.by,
      key: contact.key ?? null,
      newest: contact.newest,
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
    dropped,
  };
}

function formatNamespace({
  namespace,
  known,
  trust: { firstKey, providerKeys, decisions },
  contacts,
}: ListedNamespace): string {
  const { fingerprint = "none", type } = firstKey ?? {};
  const met = [
    ...(type === undefined
      ? []
      : [
          [
            ...[fingerprint, "first key", "namespace", "-", "-"],
            `first contact with ${type}`,
          ],
        ]),
    ...providerKeys.map(({ fingerprint, type }) => [
      ...[fingerprint, "first signer", type, "-", "-"],
      "the first contact was unsigned",
    ]),
  ];
  const keys = [
    ["KEY", "STATE", "FOR", "SINCE", "BY", "BECAUSE"],
    ...(known === undefined
      ? met
      : [[known, "known", "namespace", "-", "-", "this program knows it"]]),
    ...decisions.keys.map(
      ({ fingerprint, decision, at, by, why, ...scope }) => [
        ...[fingerprint, decision, nameScope(scope), dayOf(at)],
        ...[by ?? "-", why ?? "-"],
      ],
    ),
  ];
  const made = [
    ["FIRST CONTACT", "KEY", "SINCE", "BY", "NEWEST"],
    ...contacts.map(({ type, contact: { key, at, by, newest } }) => [
      ...[type, key ?? "none", dayOf(at.toISOString()), by, newest],
    ]),
  ];
  const contents = [
    ["RELEASE", "STATE", "CONTENT", "SINCE", "BY", "BECAUSE"],
    ...decisions.contents.map((one) => [
      ...[`${one.type}@${one.version}`, one.decision, one.sha256sums],
      ...[dayOf(one.at), one.by ?? "-", one.why ?? "-"],
    ]),
  ];
  return `${namespace}\n${[keys, made, contents].map(formatTable).join("")}`;
}

/** Writes what needs a decision. Commands stand below their row, whole, so that they can be copied. */
function formatPending(
  listed: readonly ListedNamespace[],
  undone: readonly UndoneDecision[],
): string {
  const pending = listed.flatMap((one) => one.pending);
  const dropped = listed.reduce((sum, one) => sum + one.dropped, 0);
  const rows = pending.map((one) => {
    const { keyCommand, command, setting } = one;
    const remedy =
      command ?? `change "${setting}" in the configuration if it is good`;
    const key = keyCommand && `  ${keyCommand}  # all that this key signs\n`;
    return `${formatProviderAddress(one.provider)} ${one.version}: ${explainPending(one)}, ${one.content}, since ${dayOf(one.since)}\n  ${remedy}\n${key ?? ""}`;
  });
  const more =
    dropped === 0 ? "" : `${dropped} more candidates are not kept.\n`;
  const lost = undone.map(
    ({ subject, decision, at, by = "an operator", repeat }) =>
      `${subject}: ${decision} by ${by} on ${dayOf(at)}\n  ${repeat}\n`,
  );
  if (lost.length > 0)
    lost.unshift("TAKEN BACK by an older backup: decide again with\n");
  return pending.length === 0
    ? `${lost.join("") || "Nothing needs a decision.\n"}${more}`
    : `${lost.join("")}NEEDS A DECISION: clients do not get these; "revoke" in place of "approve" refuses one for good.\n${rows.join("")}${more}`;
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
