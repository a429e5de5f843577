import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import type { KeyVerdict } from "../../verification/trust-policy.ts";
import {
  findLesson,
  hasKeys,
  isSameRelease,
  isUnmet,
  knownKeys,
  type OfferedContent,
  type Seen,
} from "./namespace-trust.ts";
import type { Notebook } from "./notebook.ts";
import type { ReleaseRequest } from "./request.ts";

type Acceptance = (KeyVerdict & { readonly accepted: true })["because"];
type NotedKey = Seen["keys"][number];

const meanings: Readonly<Record<NotedKey["scope"], string>> = {
  namespace: "known for its namespace from now on",
  provider: "known for this provider alone",
  release: "believed for this release alone",
};

/** Remembers a key that a release was accepted under, once; a release that was held back is so no more. */
export async function noteAcceptedKey(
  notebook: Notebook,
  { address: { provider, version }, entry }: ReleaseRequest,
  fingerprint: string | undefined,
  because: Acceptance,
): Promise<void> {
  const { alarms, clock } = notebook;
  const { trust } = entry;
  const name = { type: provider.type, version };
  const scope = scopeOf(because);
  const since = clock.now().toISOString();
  const key =
    fingerprint === undefined || scope === undefined
      ? undefined
      : { fingerprint, since, because, scope, ...name };
  const isNew = (seen: Seen) => key !== undefined && !covers(seen, key);
  const wasHeldBack = trust.seen.quarantined.some((held) =>
    isSameRelease(held, name),
  );
  if (!isNew(trust.seen) && !wasHeldBack) return;
  const before = await entry.noteSeen((seen) => ({
    ...seen,
    keys: key !== undefined && isNew(seen) ? [...seen.keys, key] : seen.keys,
    quarantined: seen.quarantined.filter((held) => !isSameRelease(held, name)),
  }));
  if (key === undefined || !isNew(before)) return;
  await auditKey(notebook, provider, key);
  if (key.scope === "provider") raiseNewKey(alarms, provider, key);
}

/**
 * Remembers what first contact with a provider taught, unless that is known
 * already: of a namespace that nothing was known of, the key counts for the
 * namespace, else for this provider alone, with an alarm when it is a new one.
 */
export async function noteLesson(
  notebook: Notebook,
  { address: { provider, version }, entry }: ReleaseRequest,
  fingerprint: string | undefined,
): Promise<void> {
  const { alarms, clock } = notebook;
  const { type } = provider;
  const { decisions } = entry.trust;
  const since = clock.now().toISOString();
  const keyAfter = (seen: Seen): NotedKey | undefined => {
    const isKnown = knownKeys({ seen, decisions }, type).has(fingerprint ?? "");
    if (fingerprint === undefined || isKnown) return undefined;
    const scope = isUnmet({ seen, decisions }) ? "namespace" : "provider";
    const because = "first-contact";
    return { fingerprint, since, because, scope, type, version };
  };
  const before = await entry.noteSeen((seen) => {
    if (findLesson({ seen, decisions }, type) !== undefined) return seen;
    const key = keyAfter(seen);
    const lesson = { type, version, fingerprint: fingerprint ?? null, since };
    return {
      ...seen,
      keys: key === undefined ? seen.keys : withoutLesser(seen.keys, key),
      lessons: [...seen.lessons, { ...lesson, byList: true }],
    };
  });
  const known = { seen: before, decisions };
  if (findLesson(known, type) !== undefined) return;
  const key = keyAfter(before);
  if (key !== undefined) await auditKey(notebook, provider, key);
  const isUnsignedAmongSigned = fingerprint === undefined && hasKeys(known);
  if (isUnsignedAmongSigned || key?.scope === "provider")
    raiseNewKey(alarms, provider, {
      version,
      fingerprint: fingerprint ?? "none",
    });
}

/** Remembers a release that is held back because of its key, once for each content. */
export async function noteRefusedKey(
  { audit, alarms, clock }: Notebook,
  { address: { provider, version }, entry }: ReleaseRequest,
  offered: OfferedContent,
  reason: "revoked" | "not-pinned" | "unknown",
): Promise<void> {
  const name = { type: provider.type, version };
  const { fingerprint } = offered;
  const digest = offered.digest();
  const isNoted = ({ quarantined }: Seen) =>
    quarantined.some(
      (held) =>
        isSameRelease(held, name) &&
        held.fingerprint === fingerprint &&
        held.digest === digest &&
        held.reason === reason,
    );
  if (isNoted(entry.trust.seen)) return;
  const since = clock.now().toISOString();
  const before = await entry.noteSeen((seen) => ({
    ...seen,
    quarantined: [
      ...seen.quarantined.filter((held) => !isSameRelease(held, name)),
      { ...name, fingerprint, digest, reason, since },
    ],
  }));
  if (isNoted(before)) return;
  const facts = {
    provider: formatProviderAddress(provider),
    version,
    fingerprint,
  };
  await audit.record(
    {
      event: "quarantined",
      verdict: "refused",
      rule: `trust: ${reason}`,
      detail: `SHA256SUMS ${digest}`,
      ...facts,
    },
    { durable: true },
  );
  alarms.raise("key-refused", { ...facts, reason });
}

/** What a key counts for that a release was accepted under; undefined where nothing is to be remembered. */
function scopeOf(because: Acceptance): "provider" | "release" | undefined {
  if (because === "new" || because === "first-key") return "provider";
  return because === "first-contact" || because === "pinned"
    ? "release"
    : undefined;
}

/** True when the same or more is remembered of a key. */
function covers({ keys }: Seen, key: NotedKey): boolean {
  return keys.some(
    ({ fingerprint, scope, type }) =>
      fingerprint === key.fingerprint &&
      (scope === "namespace" ||
        (type === key.type && (scope === "provider" || scope === key.scope))),
  );
}

/** What was believed for releases alone is known now. */
function withoutLesser(keys: readonly NotedKey[], key: NotedKey): NotedKey[] {
  const isLesser = ({ fingerprint, scope, type }: NotedKey) =>
    fingerprint === key.fingerprint && scope === "release" && type === key.type;
  return [...keys.filter((one) => !isLesser(one)), key];
}

async function auditKey(
  { audit }: Notebook,
  provider: ProviderAddress,
  { version, fingerprint, because, scope }: NotedKey,
): Promise<void> {
  await audit.record(
    {
      event: "new-key",
      verdict: "accepted",
      rule: `trust: ${because}`,
      provider: formatProviderAddress(provider),
      version,
      fingerprint,
      detail: meanings[scope],
    },
    { durable: true },
  );
}

function raiseNewKey(
  alarms: Alarms,
  provider: ProviderAddress,
  facts: { readonly version: string; readonly fingerprint: string },
): void {
  const { version, fingerprint } = facts;
  alarms.raise("key-new", {
    provider: formatProviderAddress(provider),
    version,
    fingerprint,
  });
}
