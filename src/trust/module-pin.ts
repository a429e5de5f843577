/** One content of a module's release. Nothing is signed: its digest is all that speaks for it. */
export interface ModuleContent {
  /** SHA-256 of its archive, commit of a git source, or SHA-256 of the place where only clients can fetch it. */
  readonly digest: string;
  /** What people last heard of it, beside that it is pinned. */
  readonly noted?: "approved" | "other-content" | undefined;
}

/** The first content of a release is pinned; the one that was offered last comes last. */
export interface ModulePin<C extends ModuleContent> {
  readonly pinned: { readonly digest: string; readonly at: Date } | undefined;
  readonly contents: readonly C[];
}

/** Something that people hear of. `healed`: the pinned content is offered again, so that others are no longer in question. */
export interface ModuleEvent {
  readonly kind: "pinned" | "approved" | "other-content" | "healed";
  readonly digest: string;
}

/**
 * Pins the content that was offered where nothing is pinned yet, and says what clients get: what operators approved, the newest decision
 * first, else what is pinned (docs/trust.md, rules 1 and 5). Any other content is a candidate, which changes nothing. `release` is
 * written together with the events.
 */
export function settleModule<C extends ModuleContent>(
  trust: ModulePin<C>,
  approved: readonly string[],
  now: Date,
) {
  const { contents } = trust;
  const digest = contents.at(-1)?.digest;
  if (digest === undefined)
    return { release: trust, events: [], served: undefined };
  const pinned = trust.pinned ?? { digest, at: now };
  const events: ModuleEvent[] = [];
  if (trust.pinned === undefined) events.push({ kind: "pinned", digest });
  const noted = contents.flatMap((one): C | [] => {
    const isApproved = approved.includes(one.digest);
    if (one.digest === pinned.digest && !isApproved)
      return { ...one, noted: undefined };
    if (digest === pinned.digest && !isApproved) return [];
    const kind = isApproved ? "approved" : "other-content";
    if (kind !== one.noted) events.push({ kind, digest: one.digest });
    return { ...one, noted: kind };
  });
  if (noted.length < contents.length) events.push({ kind: "healed", digest });
  const find = (named: string) => contents.find((one) => one.digest === named);
  return {
    release: { pinned, contents: noted },
    events,
    served: find(approved.find(find) ?? pinned.digest),
  };
}
