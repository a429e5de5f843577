import type { NamespaceTrust } from "../../trust/state.ts";
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
  readonly refused: ReadonlySet<string>;
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

/** Runs one judging of a list at a time, for all requests of one state. */
export class SharedJudging<T> {
  readonly #running = new Map<
    VersionList,
    { readonly state: ListingState; readonly judged: Promise<T> }
  >();

  /** Joins a judging of the same state, or one that began after this request. */
  async run(
    list: VersionList,
    state: ListingState,
    judge: () => Promise<T>,
  ): Promise<T> {
    const earlier = this.#running.get(list);
    if (earlier !== undefined) {
      if (isSame(earlier.state, state)) return earlier.judged;
      await earlier.judged.catch(() => undefined);
    }
    return this.#running.get(list)?.judged ?? this.#start(list, state, judge);
  }

  #start(
    list: VersionList,
    state: ListingState,
    judge: () => Promise<T>,
  ): Promise<T> {
    const judged = judge().finally(() => this.#running.delete(list));
    this.#running.set(list, { state, judged });
    return judged;
  }
}
