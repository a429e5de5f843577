import { providerAddress } from "../../address/provider-address.ts";
import { parseVersion } from "../../address/version.ts";
import { remembered } from "../../concurrency/remembered.ts";
import { MalformedAddress, type RecordUnreadable } from "../../errors/index.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import type { TrustLedger } from "./ledger.ts";
import type { Namespace } from "./ledger-entry.ts";
import {
  isApproved,
  isApprovedReplacement,
  knownKeys,
  type NamespaceTrust,
} from "./namespace-trust.ts";

/** A release that is refused, or of which the first content is served, until an operator decides or its origin mends. */
export interface OpenMatter extends ReleaseAddress {
  /** What is wrong: its key, other content than was seen first, or a signature that fell. */
  readonly because: "key" | "content" | "fall";
  /** "none" when nobody signed, undefined when that is not known. */
  readonly fingerprint: string | undefined;
  /** In the ledger's own words. */
  readonly reason: string;
  /** RFC 3339. */
  readonly since: string;
}

interface OpenMatters {
  readonly matters: readonly OpenMatter[];
  /** Namespaces whose ledger cannot be believed. */
  readonly unreadable: readonly (RecordUnreadable | MalformedAddress)[];
}

/** Milliseconds for which a list is good enough: it is read from every namespace's records. */
const rememberedFor = 10_000;

/** What waits for a decision, as a watcher may ask for it often. */
export function watchOpenMatters(
  ledger: TrustLedger,
): () => Promise<OpenMatters> {
  return remembered(rememberedFor, () => listOpenMatters(ledger));
}

async function listOpenMatters(ledger: TrustLedger): Promise<OpenMatters> {
  const matters: OpenMatter[] = [];
  const unreadable: OpenMatters["unreadable"][number][] = [];
  for await (const one of ledger.readAll())
    try {
      if ("problem" in one) unreadable.push(one.problem);
      else matters.push(...listOpen(one.namespace, one.trust));
    } catch (error) {
      // Sealed as anybody can who writes there, and of no provider.
      if (!(error instanceof MalformedAddress)) throw error;
      unreadable.push(error);
    }
  return { matters, unreadable };
}

/** Those of one namespace. */
export function listOpen(
  { hostname, namespace }: Namespace,
  trust: NamespaceTrust,
): readonly OpenMatter[] {
  const { quarantined, replaced, fallen } = trust.seen;
  const address = ({ type, version }: { type: string; version: string }) => ({
    provider: providerAddress(hostname, namespace, type),
    version: parseVersion(version),
  });
  const held = quarantined.filter((entry) => !isSettled(trust, entry));
  const recreated = replaced.filter(
    (entry) => !isApprovedReplacement(trust, entry, entry),
  );
  return [
    ...held.map((entry) => ({
      ...address(entry),
      because: "key" as const,
      ...{ fingerprint: entry.fingerprint, since: entry.since },
      reason: entry.reason,
    })),
    ...recreated.map((entry) => ({
      ...address(entry),
      because: "content" as const,
      fingerprint: entry.fingerprint ?? undefined,
      ...{ reason: entry.offered, since: entry.since },
    })),
    ...fallen.map((entry) => ({
      ...address(entry),
      because: "fall" as const,
      fingerprint: undefined,
      ...{ reason: entry.reason, since: entry.since },
    })),
  ];
}

/** Its release or its key was approved since, so that it is served when it is asked for. */
function isSettled(
  trust: NamespaceTrust,
  entry: NamespaceTrust["seen"]["quarantined"][number],
): boolean {
  const { type, fingerprint, digest, reason } = entry;
  const offered = { fingerprint, digest: () => digest ?? "" };
  return (
    isApproved(trust, entry, offered) ||
    (reason === "unknown" && knownKeys(trust, type).has(fingerprint))
  );
}
