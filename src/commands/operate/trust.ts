import type { ProviderAddress } from "../../address/provider-address.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
} from "../../address/provider-address.ts";
import { parseHostname } from "../../address/hostname.ts";
import { parseVersion, type Version } from "../../address/version.ts";
import { MalformedAddress } from "../../errors/index.ts";
import {
  isSameRelease,
  type NamespaceTrust,
} from "../../mirror/trust/namespace-trust.ts";
import type { Namespace, TrustLedger } from "../../mirror/trust/ledger.ts";
import type { AuditLog } from "../../telemetry/audit-log.ts";
import { parseFingerprint } from "../../verification/openpgp/keys/signing-key.ts";
import { formatTable } from "../progress/table.ts";

export interface TrustParts {
  readonly ledger: TrustLedger;
  readonly audit: AuditLog;
  readonly now: () => Date;
  readonly stdout: (text: string) => void;
}

/** One namespace as `trust list --json` shows it. */
export interface ListedNamespace extends NamespaceTrust {
  readonly namespace: string;
}

/** `provender trust list`: keys, held back and replaced releases, by namespace. */
export async function listTrust(
  { ledger, stdout }: TrustParts,
  { json }: { readonly json: boolean },
): Promise<void> {
  const listed: ListedNamespace[] = [];
  for (const namespace of await ledger.list())
    listed.push({
      namespace: `${namespace.hostname}/${namespace.namespace}`,
      ...(await ledger.read(namespace)),
    });
  stdout(json ? `${JSON.stringify(listed, null, 2)}\n` : formatTrust(listed));
}

/**
 * `provender trust approve SPEC@VERSION`: the release is served although its
 * key was unknown, and that key is known from now on; a release that was
 * re-created is taken with the content that the origin offered last.
 */
export async function approveRelease(
  { ledger, audit, now, stdout }: TrustParts,
  spec: string,
): Promise<void> {
  const { provider, version } = parseReleaseSpec(spec);
  const name = { type: provider.type, version };
  const { seen } = await ledger.read(provider);
  const held = seen.quarantined.find((entry) => isSameRelease(entry, name));
  const replaced = seen.replaced.find((entry) => isSameRelease(entry, name));
  const offered = isDigest(replaced?.offered) ? replaced.offered : null;
  const fingerprint = replaced?.fingerprint ?? held?.fingerprint;
  const at = now().toISOString();
  await ledger.decide(provider, (decisions) => ({
    keys: withKey(decisions.keys, fingerprint, "approved", at),
    releases: [
      ...decisions.releases.filter((entry) => !isSameRelease(entry, name)),
      { ...name, offered, at },
    ],
  }));
  await record(audit, "approved", provider, version, fingerprint);
  const refused = offered === null ? replaced?.offered : undefined;
  stdout(
    `${formatProviderAddress(provider)} ${version} is approved${describeOffer(offered)}${describeKey(fingerprint)}${describeRefusal(refused)}.\n`,
  );
}

/** `provender trust approve --key FINGERPRINT HOSTNAME/NAMESPACE`: the key is known from now on. */
export async function decideKey(
  { ledger, audit, now, stdout }: TrustParts,
  namespaceText: string,
  fingerprintText: string,
  decision: "approved" | "revoked",
): Promise<void> {
  const namespace = parseNamespace(namespaceText);
  const fingerprint = parseFingerprint(fingerprintText);
  const at = now().toISOString();
  await ledger.decide(namespace, ({ keys, releases }) => ({
    keys: withKey(keys, fingerprint, decision, at),
    releases,
  }));
  await audit.record(
    {
      event: decision,
      verdict: decision === "approved" ? "accepted" : "refused",
      provider: namespaceText,
      fingerprint,
    },
    { durable: true },
  );
  stdout(`${fingerprint} is ${decision} for ${namespaceText}.\n`);
}

/** `provender trust revoke SPEC@VERSION`: takes an approval back. */
export async function withdrawApproval(
  { ledger, audit, stdout }: TrustParts,
  spec: string,
): Promise<void> {
  const { provider, version } = parseReleaseSpec(spec);
  const name = { type: provider.type, version };
  await ledger.decide(provider, ({ keys, releases }) => ({
    keys,
    releases: releases.filter((entry) => !isSameRelease(entry, name)),
  }));
  await record(audit, "revoked", provider, version, undefined);
  stdout(
    `${formatProviderAddress(provider)} ${version} is approved no more; a key that was approved with it stays known until "provender trust revoke --key".\n`,
  );
}

type KeyDecision = NamespaceTrust["decisions"]["keys"][number];

function withKey(
  keys: readonly KeyDecision[],
  fingerprint: string | undefined,
  decision: "approved" | "revoked",
  at: string,
): KeyDecision[] {
  if (fingerprint === undefined || fingerprint === "none") return [...keys];
  const others = keys.filter((key) => key.fingerprint !== fingerprint);
  return [...others, { fingerprint, decision, at }];
}

async function record(
  audit: AuditLog,
  event: "approved" | "revoked",
  provider: ProviderAddress,
  version: Version,
  fingerprint: string | undefined,
): Promise<void> {
  await audit.record(
    {
      event,
      verdict: event === "approved" ? "accepted" : "refused",
      provider: formatProviderAddress(provider),
      version,
      fingerprint,
    },
    { durable: true },
  );
}

function describeOffer(offered: string | null): string {
  return offered === null ? "" : ` with SHA256SUMS ${offered}`;
}

/** Only signed content can be approved; what is refused by itself is named by the code of its refusal. */
function describeRefusal(reason: string | undefined): string {
  return reason === undefined
    ? ""
    : `, as it was first seen: what the origin offers now is refused by itself (${reason})`;
}

function isDigest(offered: string | undefined): offered is string {
  return offered !== undefined && /^[0-9a-f]{64}$/.test(offered);
}

function describeKey(fingerprint: string | undefined): string {
  return fingerprint === undefined || fingerprint === "none"
    ? ""
    : `, and its signing key ${fingerprint} is known from now on`;
}

function parseReleaseSpec(spec: string): {
  readonly provider: ProviderAddress;
  readonly version: Version;
} {
  const [address = "", version, ...rest] = spec.split("@");
  if (version === undefined || rest.length > 0)
    throw new MalformedAddress(
      "release",
      spec,
      "[HOSTNAME/]NAMESPACE/TYPE@VERSION",
    );
  return {
    provider: parseProviderAddress(address),
    version: parseVersion(version),
  };
}

function parseNamespace(text: string): Namespace {
  const [hostname = "", namespace = "", ...rest] = text.split("/");
  if (rest.length > 0 || !/^[a-z0-9][a-z0-9-]{0,63}$/.test(namespace))
    throw new MalformedAddress("namespace", text, "HOSTNAME/NAMESPACE");
  return { hostname: parseHostname(hostname), namespace };
}

/** The trust ledger for people: a table a namespace. */
function formatTrust(listed: readonly ListedNamespace[]): string {
  if (listed.length === 0) return "Nothing has been seen yet.\n";
  return listed.map(formatNamespace).join("\n");
}

function formatNamespace(listed: ListedNamespace): string {
  const { namespace, seen } = listed;
  const sections = [
    [["KEY", "STATE", "SINCE", "FIRST FOR"], ...keyRows(listed)],
    [
      ["HELD BACK", "KEY", "SINCE", "BECAUSE"],
      ...seen.quarantined.map((held) => [
        `${held.type} ${held.version}`,
        held.fingerprint,
        day(held.since),
        held.reason,
      ]),
    ],
    [
      ["RE-CREATED", "OFFERED SHA256SUMS", "SINCE", "KEY"],
      ...seen.replaced.map((entry) => [
        `${entry.type} ${entry.version}`,
        entry.offered,
        day(entry.since),
        entry.fingerprint ?? "none",
      ]),
    ],
    [
      ["FALLEN", "BECAUSE", "SINCE"],
      ...seen.fallen.map((entry) => [
        `${entry.type} ${entry.version}`,
        entry.reason,
        day(entry.since),
      ]),
    ],
  ];
  const tables = sections
    .filter((rows) => rows.length > 1)
    .map((rows) => formatTable(rows));
  return `${namespace}\n${tables.join("")}`;
}

function keyRows({ seen, decisions }: ListedNamespace): string[][] {
  const decided = new Map(
    decisions.keys.map((key) => [key.fingerprint, key.decision]),
  );
  const known = seen.keys.map((key) => [
    key.fingerprint,
    decided.get(key.fingerprint) ?? key.because,
    day(key.since),
    `${key.type} ${key.version}`,
  ]);
  const seenKeys = new Set(seen.keys.map((key) => key.fingerprint));
  const others = decisions.keys
    .filter((key) => !seenKeys.has(key.fingerprint))
    .map((key) => [key.fingerprint, key.decision, day(key.at), "-"]);
  return [...known, ...others];
}

function day(moment: string): string {
  return moment.slice(0, 10);
}
