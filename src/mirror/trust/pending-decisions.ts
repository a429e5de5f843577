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
  Namespace,
  ProviderCandidates,
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

/** Lists what needs a decision in every namespace, for readers that ask often; `dropped` counts candidates that the bounds dropped. */
export function watchPending(store: TrustStore, rules: () => AdmissionRules) {
  return remembered(rememberedFor, async () => {
    const pending: PendingDecision[] = [];
    /** Why those of other namespaces are not known. */
    const unreadable: Failure<"record-unreadable" | "malformed-address">[] = [];
    let dropped = 0;
    for await (const one of store.readAll())
      try {
        if ("problem" in one) unreadable.push(one.problem);
        else {
          pending.push(...listPending(one, rules()));
          dropped += countDropped(one.candidates);
        }
      } catch (error) {
        // A row whose key is no namespace.
        if (!isFailure(error, "malformed-address")) throw error;
        unreadable.push(error);
      }
    return { pending, dropped, unreadable };
  });
}

/** Lists what needs a decision in one namespace. */
export function listPending(
  { namespace, trust, candidates }: KnownNamespace,
  rules: AdmissionRules,
): readonly PendingDecision[] {
  return candidates.flatMap(({ type, list }) =>
    list
      .filter((one) => needsDecision(trust.decisions, type, one))
      .map((one) => describe(namespace, type, one, rules)),
  );
}

/** Lists what needs a decision of one provider. */
export async function readPending(
  store: TrustStore,
  provider: ProviderAddress,
  rules: AdmissionRules,
): Promise<readonly PendingDecision[]> {
  const trust = await store.read(provider);
  const { type } = provider;
  const own = { type, ...(await store.readCandidates(provider)) };
  return listPending({ namespace: provider, trust, candidates: [own] }, rules);
}

export function countDropped(
  candidates: readonly ProviderCandidates[],
): number {
  return candidates.reduce((sum, { dropped }) => sum + dropped, 0);
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
  type: string,
  candidate: Candidate,
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
