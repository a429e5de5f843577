import type { Evidence, ReleaseTrust } from "../../trust/state.ts";

/**
 * Copies the notes of reported events; evidence of other replicas keeps its
 * own notes.
 */
export function carryNotes<E extends Evidence>(
  written: ReleaseTrust<E>,
  admitted: ReleaseTrust<E>,
  { pinned, evidence }: ReleaseTrust<E>,
): ReleaseTrust<E> {
  const ours = new Set(admitted.evidence.map(({ id }) => id));
  const notes = new Map(evidence.map(({ id, noted }) => [id, noted]));
  return {
    ...written,
    pinned: written.pinned && {
      ...written.pinned,
      isAudited: pinned?.isAudited ?? false,
    },
    evidence: written.evidence
      .filter(({ id }) => notes.has(id) || !ours.has(id))
      .map((one) => ({ ...one, noted: notes.get(one.id) ?? one.noted })),
  };
}
