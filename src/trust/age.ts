/** What the rules and the mirror's lists say of a version's age. */
export interface AgeTerms {
  /** Milliseconds; 0 asks for nothing. */
  readonly minimumAge: number;
  /** True when no list ever showed the version: only its publisher dates it. */
  readonly isUnlisted: boolean;
  /** First sight in a list, for a version that came after first contact. */
  readonly seenAt: Date | undefined;
  readonly now: Date;
}

export type AgeDecision =
  | { readonly old: true }
  /** `availableAt` is undefined when nothing dates the version. */
  | { readonly old: false; readonly availableAt: Date | undefined };

/**
 * Decides whether a version has been public for long enough. Age counts from the
 * later of two dates: a publisher can write an old date into a signature, but not
 * into the mirror's lists. A version without a date is too young.
 */
export function decideByAge(
  { minimumAge, isUnlisted, seenAt, now }: AgeTerms,
  signedAt: Date | undefined,
): AgeDecision {
  if (minimumAge === 0) return { old: true };
  if (isUnlisted) return { old: false, availableAt: undefined };
  const dates = [signedAt, seenAt].flatMap((date) => date?.getTime() ?? []);
  // Without dates, or with an invalid one, this is an invalid date.
  const availableAt = new Date(Math.max(...dates) + minimumAge);
  if (now.getTime() >= availableAt.getTime()) return { old: true };
  const isKnown = !Number.isNaN(availableAt.getTime());
  return { old: false, availableAt: isKnown ? availableAt : undefined };
}
