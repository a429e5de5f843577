import { formatProviderAddress } from "../../address/provider-address.ts";
import { orderCandidates } from "../providers/first-contact.ts";
import {
  isUnmet,
  type NamespaceTrust,
  type Seen,
} from "../trust/namespace-trust.ts";
import type { Notebook } from "../trust/notebook.ts";
import type { ProviderRequest } from "../trust/request.ts";
import type { JudgedRelease } from "./import-judgement.ts";

type NotedKey = Seen["keys"][number];

/**
 * The first bundle of a namespace is its first contact: the key of each provider's
 * newest release in it is known from then on, for the namespace when all of them
 * are under one key. Keys of other releases in it count for such releases alone.
 * All are remembered in one step, before any release is, so that an import that
 * ends half way goes on later as it began.
 */
export async function noteFirstKeys(
  notebook: Notebook,
  judged: readonly JudgedRelease[],
): Promise<void> {
  const first = judged.filter(({ because }) => because === "first-key");
  const namespaces = Map.groupBy(
    first,
    ({ request: { provider } }) => `${provider.hostname}/${provider.namespace}`,
  );
  for (const [namespace, releases] of namespaces) {
    const [one] = releases;
    if (one !== undefined)
      await noteKeys(notebook, namespace, one.request, releases);
  }
}

async function noteKeys(
  { audit, clock }: Notebook,
  namespace: string,
  { provider, entry }: ProviderRequest,
  releases: readonly JudgedRelease[],
): Promise<void> {
  const since = clock.now().toISOString();
  const { decisions } = await entry.renew();
  const candidates = findCandidates(releases);
  const learn = (seen: Seen) =>
    learnKeys({ seen, decisions }, candidates, releases, since);
  const before = await entry.noteSeen((seen) => {
    const known = new Set(seen.lessons.map(({ type }) => type));
    const lessons = candidates
      .filter(({ request }) => !known.has(request.provider.type))
      .map((candidate) => lessonOf(candidate, since));
    return {
      ...seen,
      keys: [...seen.keys, ...learn(seen)],
      lessons: [...seen.lessons, ...lessons],
    };
  });
  for (const { fingerprint, type, version } of learn(before))
    await audit.record(
      {
        event: "new-key",
        verdict: "accepted",
        rule: "trust: first-contact",
        provider: formatProviderAddress({ ...provider, type }),
        version,
        fingerprint,
        detail: `the first bundle of ${namespace}`,
      },
      { durable: true },
    );
}

/** The newest release of each provider. */
function findCandidates(
  releases: readonly JudgedRelease[],
): readonly JudgedRelease[] {
  const byType = Map.groupBy(releases, ({ request }) => request.provider.type);
  return [...byType.values()].flatMap((group) => {
    const [newest] = orderCandidates(
      group.map(({ request }) => request.address.version),
    );
    return group.filter(({ request }) => request.address.version === newest);
  });
}

function lessonOf(
  { request: { address }, release }: JudgedRelease,
  since: string,
): Seen["lessons"][number] {
  const { type } = address.provider;
  const fingerprint = release.checksums.signedBy ?? null;
  return { type, version: address.version, fingerprint, since };
}

/** Each key once for what it counts for, and not where more is known of it. */
function learnKeys(
  trust: NamespaceTrust,
  candidates: readonly JudgedRelease[],
  releases: readonly JudgedRelease[],
  since: string,
): readonly NotedKey[] {
  const signers = new Set(
    candidates.map(({ release }) => release.checksums.signedBy),
  );
  const isShared = isUnmet(trust) && signers.size === 1;
  const scope = isShared ? "namespace" : "provider";
  const keys = new Map<string, NotedKey>();
  const note = (scope: NotedKey["scope"], from: readonly JudgedRelease[]) => {
    for (const { request, release } of from) {
      const { address } = request;
      const { signedBy: fingerprint } = release.checksums;
      const { type } = address.provider;
      const name = `${fingerprint} ${type}`;
      const isKnown = keys.has(name) || (isShared && signers.has(fingerprint));
      if (fingerprint === undefined || (isKnown && scope === "release"))
        continue;
      const because = "first-contact";
      const { version } = address;
      const key = {
        fingerprint,
        since,
        because,
        scope,
        type,
        version,
      } as const;
      keys.set(scope === "namespace" ? fingerprint : name, key);
    }
  };
  note(scope, candidates);
  note("release", releases);
  return [...keys.values()];
}
