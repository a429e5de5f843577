import type {
  NamespaceTrust,
  Evidence,
  FirstContact,
  ReleaseTrust,
} from "./state.ts";
import type { ReleaseName } from "./decisions.ts";
import type { ReleaseQuestion } from "./standing.ts";

/** Modules are not signed, so no first contact teaches a key. */
const contact: FirstContact = {
  ...{ id: "", at: new Date(0), by: "list", newest: "" },
  ...{ versions: new Set(), published: new Set(), key: undefined },
};

/**
 * Asks about a release of a module: policy and age have admitted it before, the
 * content that is pinned stays, and operators decide by content alone.
 */
export function askUnsigned<E extends Evidence>(
  name: ReleaseName,
  namespace: NamespaceTrust,
  release: ReleaseTrust<E>,
  now: Date,
): ReleaseQuestion<E> {
  return {
    ...{ name, namespace, contact, release },
    rules: { newKeys: "accept-first", pins: undefined },
    age: { minimumAge: 0, isUnlisted: false, seenAt: undefined, now },
    enforcesAge: false,
  };
}
