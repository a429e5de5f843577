import type { AdmissionRules } from "../../mirror/trust/admission-rules.ts";
import {
  countDropped,
  listPending,
} from "../../mirror/trust/pending-decisions.ts";
import type {
  ReadContact,
  ReadNamespace,
  TrustStore,
} from "../../mirror/trust/trust-store.ts";
import { describeError, formatDocument } from "../output/json-document.ts";
import type { Output } from "../output/streams.ts";
import {
  formatTrust,
  type ListedNamespace,
  type UnknownTrust,
} from "./list-tables.ts";

/** `provender trust list`: prints keys, decisions, first contacts and what needs a decision, by namespace. Returns the exit status, 1 when a record cannot be read; each is named. */
export async function listTrust(
  trust: TrustStore,
  rules: AdmissionRules,
  { json }: { readonly json: boolean },
  output: Output,
): Promise<number> {
  const listed: ListedNamespace[] = [];
  const unknown: UnknownTrust[] = [];
  for await (const one of trust.readAll()) {
    const { hostname, namespace } = one.namespace;
    const name = `${hostname}/${namespace}`;
    if ("problem" in one) {
      unknown.push({ subject: name, problem: one.problem });
      continue;
    }
    const contacts = await trust.readContacts(one.namespace);
    unknown.push(...listLost(name, contacts));
    listed.push(describe(name, one, contacts, rules));
  }
  output.stdout(
    json ? formatJson(listed, unknown) : formatTrust(listed, unknown),
  );
  for (const { problem } of unknown) output.stderr(`${problem.message}\n`);
  return unknown.length > 0 ? 1 : 0;
}

function describe(
  namespace: string,
  read: Exclude<ReadNamespace, { readonly problem: unknown }>,
  contacts: readonly ReadContact[],
  rules: AdmissionRules,
): ListedNamespace {
  return {
    namespace,
    trust: read.trust,
    contacts: contacts.filter((one) => "contact" in one),
    pending: listPending(read, rules),
    dropped: countDropped(read.candidates),
  };
}

function listLost(
  namespace: string,
  contacts: readonly ReadContact[],
): readonly UnknownTrust[] {
  return contacts.flatMap((one) =>
    "problem" in one
      ? [{ subject: `${namespace}/${one.type}`, problem: one.problem }]
      : [],
  );
}

function formatJson(
  listed: readonly ListedNamespace[],
  unknown: readonly UnknownTrust[],
): string {
  return formatDocument({
    namespaces: listed.map(describeInJson),
    problems: unknown.map(({ subject, problem }) => ({
      ...{ subject, ...describeError(problem) },
    })),
  });
}

function describeInJson({
  namespace,
  trust: { firstKey, providerKeys, decisions },
  contacts,
  pending,
  dropped,
}: ListedNamespace) {
  return {
    namespace,
    firstKey: firstKey
      ? { fingerprint: firstKey.fingerprint ?? null, type: firstKey.type }
      : null,
    providerKeys,
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
      setting: one.setting ?? null,
    })),
    dropped,
  };
}
