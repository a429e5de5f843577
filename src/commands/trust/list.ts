import type { RecordUnreadable } from "../../errors/index.ts";
import type { TrustLedger } from "../../mirror/trust/ledger.ts";
import type { NamespaceTrust } from "../../mirror/trust/namespace-trust.ts";
import { formatDocument } from "../output/json-document.ts";
import type { Output } from "../output/streams.ts";
import { formatTable } from "../output/table.ts";

/** One namespace as `trust list --json` shows it. */
interface ListedNamespace extends NamespaceTrust {
  readonly namespace: string;
}

/** One of which nothing can be told. */
interface UnknownNamespace {
  readonly namespace: string;
  readonly problem: RecordUnreadable;
}

type Listed = ListedNamespace | UnknownNamespace;

/** `provender trust list`: keys, held back and replaced releases, approvals, by namespace. Returns the exit status, 1 when a record cannot be believed; each is named. */
export async function listTrust(
  ledger: TrustLedger,
  { json }: { readonly json: boolean },
  output: Output,
): Promise<number> {
  const listed: Listed[] = [];
  for await (const one of ledger.readAll()) {
    const { hostname, namespace } = one.namespace;
    const name = { namespace: `${hostname}/${namespace}` };
    listed.push(
      "problem" in one
        ? { ...name, problem: one.problem }
        : { ...name, ...one.trust },
    );
  }
  const unknown = listed.filter(isUnknown);
  output.stdout(json ? formatJson(listed) : formatTrust(listed));
  for (const { problem } of unknown) output.stderr(`${problem.message}\n`);
  return unknown.length > 0 ? 1 : 0;
}

function isUnknown(one: Listed): one is UnknownNamespace {
  return "problem" in one;
}

function formatJson(listed: readonly Listed[]): string {
  return formatDocument({
    namespaces: listed.filter((one) => !isUnknown(one)),
    problems: listed
      .filter(isUnknown)
      .map(({ namespace, problem: { code, message } }) => ({
        ...{ namespace, code, message },
      })),
  });
}

/** The trust ledger for people: tables by namespace. */
function formatTrust(listed: readonly Listed[]): string {
  if (listed.length === 0) return "Nothing has been seen yet.\n";
  return listed
    .map((one) =>
      isUnknown(one) ? `${one.namespace}\n  unknown\n` : formatNamespace(one),
    )
    .join("\n");
}

function formatNamespace(listed: ListedNamespace): string {
  const { namespace } = listed;
  const sections = [...listKeys(listed), ...listReleases(listed)];
  return `${namespace}\n${sections.map(formatTable).join("")}`;
}

type Row = readonly string[];

/** By what they count for: all of the namespace, one provider, single releases. */
function listKeys(listed: ListedNamespace): readonly Row[][] {
  const { seen, decisions } = listed;
  const learnt = (scope: string) =>
    seen.keys
      .filter((key) => key.scope === scope)
      .map((key) => [
        key.fingerprint,
        decisionOn(listed, key) ?? key.because,
        day(key.since),
        `${key.type} ${key.version}`,
      ]);
  const decided = (ofNamespace: boolean) =>
    decisions.keys
      .filter(({ type }) => (type === null) === ofNamespace)
      .filter((key) => !isShown(listed, key))
      .map((key) => [
        key.fingerprint,
        key.decision,
        day(key.at),
        key.type ?? "-",
      ]);
  return [
    [
      ["KEY", "STATE", "SINCE", "FIRST FOR"],
      ...learnt("namespace"),
      ...decided(true),
    ],
    [
      ["KEY OF ONE PROVIDER", "STATE", "SINCE", "FIRST FOR"],
      ...learnt("provider"),
      ...decided(false),
    ],
    [
      ["KEY OF SINGLE RELEASES", "STATE", "SINCE", "FIRST FOR"],
      ...learnt("release"),
    ],
  ];
}

type Key = NamespaceTrust["seen"]["keys"][number];
type KeyDecision = NamespaceTrust["decisions"]["keys"][number];

function decisionOn(
  { decisions }: ListedNamespace,
  key: Key,
): KeyDecision["decision"] | undefined {
  return decisions.keys.find((one) => isAbout(one, key))?.decision;
}

/** True when a key that was learnt shows the decision in its own row. */
function isShown({ seen }: ListedNamespace, decided: KeyDecision): boolean {
  return seen.keys.some(
    (key) =>
      isAbout(decided, key) &&
      (key.scope === "namespace") === (decided.type === null),
  );
}

/** A word for one provider says nothing of a key that counts for the namespace. */
function isAbout({ fingerprint, type }: KeyDecision, key: Key): boolean {
  return (
    fingerprint === key.fingerprint &&
    (type === null || (type === key.type && key.scope !== "namespace"))
  );
}

function listReleases({ seen, decisions }: NamespaceTrust): readonly Row[][] {
  const nameOf = ({ type, version }: Key | { type: string; version: string }) =>
    `${type} ${version}`;
  return [
    [
      ["HELD BACK", "KEY", "SINCE", "BECAUSE"],
      ...seen.quarantined.map((held) => [
        nameOf(held),
        held.fingerprint,
        day(held.since),
        held.reason,
      ]),
    ],
    [
      ["RE-CREATED", "OFFERED SHA256SUMS", "SINCE", "KEY"],
      ...seen.replaced.map((entry) => [
        nameOf(entry),
        entry.offered,
        day(entry.since),
        entry.fingerprint ?? "none",
      ]),
    ],
    [
      ["FALLEN", "BECAUSE", "SINCE"],
      ...seen.fallen.map((entry) => [
        nameOf(entry),
        entry.reason,
        day(entry.since),
      ]),
    ],
    [
      ["APPROVED", "SHA256SUMS", "KEY", "SINCE", "BY", "BECAUSE"],
      ...decisions.releases.map((entry) => [
        `${entry.type}@${entry.version}`,
        entry.offered ?? "ahead",
        entry.fingerprint ?? "-",
        day(entry.at),
        entry.by ?? "-",
        entry.why ?? "-",
      ]),
    ],
  ];
}

function day(moment: string): string {
  return moment.slice(0, 10);
}
