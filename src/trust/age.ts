/** Terms of a version's age, by the rules and the mirror's lists. */
export interface AgeTerms {
  /** Milliseconds; 0 asks for nothing. */
  readonly minimumAge: number;
  /** True when no list ever showed the version: only its publisher dates it. */
  readonly isUnlisted: boolean;
  /** First sight in a list, for a version that came after first contact. */
  readonly seenAt: Date | undefined;
  readonly now: Date;
}

/** Why a version is too young. */
export interface Youth {
  /** Undefined when nothing dates the version. */
  readonly availableAt: Date | undefined;
}

export type AgeDecision =
  { readonly old: true } | ({ readonly old: false } & Youth);

/**
 * Decides whether a version has been public for long enough. Age counts from the
 * later of two dates: a publisher can write an old date into a signature or a list,
 * but not into the mirror's own. A version without a date is too young.
 */
export function decideByAge(
  { minimumAge, isUnlisted, seenAt, now }: AgeTerms,
  claimed: Date | undefined,
): AgeDecision {
  if (minimumAge === 0) return { old: true };
  if (isUnlisted) return { old: false, availableAt: undefined };
  const dates = [claimed, seenAt].flatMap((date) => date?.getTime() ?? []);
  if (dates.length === 0) return { old: false, availableAt: undefined };
  // With an invalid date this is one.
  const availableAt = new Date(Math.max(...dates) + minimumAge);
  if (now.getTime() >= availableAt.getTime()) return { old: true };
  const isKnown = !Number.isNaN(availableAt.getTime());
  return { old: false, availableAt: isKnown ? availableAt : undefined };
}
