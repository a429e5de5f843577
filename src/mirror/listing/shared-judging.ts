import type { NamespaceTrust } from "../../trust/state.ts";
import type { Refusals } from "../standings/refused-versions.ts";
import type { Standings } from "../standings/standings.ts";
import type { AdmissionRules } from "../trust/admission-rules.ts";
import type { ProviderRequest } from "../trust/request.ts";
import type { VersionList } from "../versions/version-list.ts";

/** Everything beside the time that decides what a list has. */
export interface ListingState {
  readonly rules: AdmissionRules;
  /** Weak, since each change makes another, of all providers of the namespace. */
  readonly trust: WeakRef<NamespaceTrust>;
  /** The same object while nothing changes. */
  readonly refused: Refusals;
  /** Changes as soon as a release of the provider is answered otherwise than before. */
  readonly revision: number;
}

export async function readState(
  standings: Pick<Standings, "listRefused" | "revisionOf">,
  request: ProviderRequest,
): Promise<ListingState> {
  const { rules, entry } = request;
  const refused = await standings.listRefused(request);
  const revision = standings.revisionOf(request);
  return { rules, trust: new WeakRef(entry.trust), refused, revision };
}

export function isSame(one: ListingState, other: ListingState): boolean {
  return (
    one.rules === other.rules &&
    one.refused === other.refused &&
    one.revision === other.revision &&
    one.trust.deref() === other.trust.deref()
  );
}

/** Judgings under way, with the state in which each began. */
export type RunningJudgings<T> = Map<
  VersionList,
  { readonly state: ListingState; readonly judged: Promise<T> }
>;

/** Joins a judging of the same state, or one that began after this request; else begins one. One runs at a time. */
export async function shareJudging<T>(
  running: RunningJudgings<T>,
  list: VersionList,
  state: ListingState,
  judge: () => Promise<T>,
): Promise<T> {
  const earlier = running.get(list);
  if (earlier !== undefined) {
    if (isSame(earlier.state, state)) return earlier.judged;
    await earlier.judged.catch(() => undefined);
  }
  const later = running.get(list);
  if (later !== undefined) return later.judged;
  const judged = judge().finally(() => running.delete(list));
  running.set(list, { state, judged });
  return judged;
}
