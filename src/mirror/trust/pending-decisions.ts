import { moduleAddress, typeOfModule } from "../../address/module-address.ts";
import {
  providerAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseVersion, type Version } from "../../address/version.ts";
import { remembered } from "../../concurrency/remembered.ts";
import {
  type Failure,
  formatApproval,
  formatKeyApproval,
  isFailure,
  isModuleType,
  nameContent,
} from "../../errors/index.ts";
import { findKnownKey } from "../../trust/key-verdict.ts";
import { needsDecision, type Candidate } from "../../trust/candidates.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import { findExclusion, type AdmissionRules } from "./admission-rules.ts";
import type {
  KnownNamespace,
  NamedCandidate,
  Namespace,
  TrustStore,
} from "./trust-store.ts";

/** A candidate that waits for an operator; the type of a module is NAME/SYSTEM. */
export interface PendingDecision extends ReleaseAddress, Candidate {
  readonly version: Version;
  /** Its content in words. */
  readonly content: string;
  /** Command that approves exactly this content; undefined while the configuration excludes its key. */
  readonly command: string | undefined;
  /** Command that approves its key for the provider, where that is unknown. */
  readonly keyCommand: string | undefined;
  /** Key of the configuration that comes first; undefined where `command` works. */
  readonly setting: string | undefined;
}

/** Milliseconds for which a list is good enough: it is read from every namespace's records. */
const rememberedFor = 10_000;

/** Lists what needs a decision in every namespace, for readers that ask often. */
export function watchPending(store: TrustStore, rules: () => AdmissionRules) {
  return remembered(rememberedFor, async () => {
    const pending: PendingDecision[] = [];
    /** Why those of other namespaces are not known. */
    const unreadable: Failure<"record-unreadable" | "malformed-address">[] = [];
    for await (const one of store.readAll())
      try {
        if ("problem" in one) unreadable.push(one.problem);
        else pending.push(...listPending(one, rules()));
      } catch (error) {
        // A row whose key is no namespace.
        if (!isFailure(error, "malformed-address")) throw error;
        unreadable.push(error);
      }
    return { pending, unreadable };
  });
}

/** Lists what needs a decision in one namespace. */
export function listPending(
  { namespace, trust, candidates }: KnownNamespace,
  rules: AdmissionRules,
): readonly PendingDecision[] {
  return candidates
    .filter((one) => needsDecision(trust.decisions, one, one))
    .map((one) => describe(namespace, one, rules));
}

/** Lists what needs a decision of one provider. */
export async function readPending(
  store: TrustStore,
  provider: ProviderAddress,
  rules: AdmissionRules,
): Promise<readonly PendingDecision[]> {
  const trust = await store.read(provider);
  const { type } = provider;
  const list = await store.readCandidates(provider);
  const candidates = list.map((one) => ({ ...one, type }));
  return listPending({ namespace: provider, trust, candidates }, rules);
}

/** Says in a few words why a candidate is not admitted. */
export function explainPending({
  provider,
  reason,
  fingerprint,
}: Pick<PendingDecision, "provider" | "reason" | "fingerprint">): string {
  if (isModuleType(provider.type)) return "other content than the pinned one";
  const key = fingerprint === undefined ? "unsigned" : `key ${fingerprint}`;
  const own = findKnownKey(provider);
  const words = {
    "other-content": "other content than the pinned checksums",
    unknown: own
      ? `not by the publisher's key ${own}`
      : fingerprint && "not known",
    "not-pinned": "not pinned",
    revoked: "revoked",
    "revoked-content": "content revoked",
  } as const;
  return [key, words[reason]].filter(Boolean).join(", ");
}

function describe(
  { hostname, namespace }: Namespace,
  { type, ...candidate }: NamedCandidate,
  rules: AdmissionRules,
): PendingDecision {
  const [name = "", system] = type.split("/");
  const provider =
    system === undefined
      ? providerAddress(hostname, namespace, type)
      : typeOfModule(moduleAddress(hostname, namespace, name, system));
  const release = { provider, version: parseVersion(candidate.version) };
  const { sha256sums, fingerprint, reason } = candidate;
  const setting = findExclusion(rules, provider, fingerprint);
  const isDecidable = setting === undefined;
  const isOfKey = isDecidable && reason === "unknown";
  return {
    ...{ ...candidate, ...release, setting },
    content: nameContent(release, sha256sums),
    command: isDecidable ? formatApproval(release, sha256sums) : undefined,
    keyCommand:
      isOfKey && fingerprint !== undefined
        ? formatKeyApproval(release, fingerprint)
        : undefined,
  };
}
