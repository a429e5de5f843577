import type { TrustLedger } from "../../mirror/trust/ledger.ts";
import type { NamespaceTrust } from "../../mirror/trust/namespace-trust.ts";
import { formatDocument } from "../output/json-document.ts";
import { formatTable } from "../output/table.ts";

/** One namespace as `trust list --json` shows it. */
interface ListedNamespace extends NamespaceTrust {
  readonly namespace: string;
}

/** `provender trust list`: keys, held back and replaced releases, approvals, by namespace. */
export async function listTrust(
  {
    ledger,
    stdout,
  }: {
    readonly ledger: TrustLedger;
    readonly stdout: (text: string) => void;
  },
  { json }: { readonly json: boolean },
): Promise<void> {
  const listed: ListedNamespace[] = [];
  for (const namespace of await ledger.list())
    listed.push({
      namespace: `${namespace.hostname}/${namespace.namespace}`,
      ...(await ledger.read(namespace)),
    });
  stdout(json ? formatDocument({ namespaces: listed }) : formatTrust(listed));
}

/** The trust ledger for people: tables by namespace. */
function formatTrust(listed: readonly ListedNamespace[]): string {
  if (listed.length === 0) return "Nothing has been seen yet.\n";
  return listed.map(formatNamespace).join("\n");
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
