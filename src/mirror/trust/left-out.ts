import { compareVersions, type Version } from "../../address/version.ts";
import {
  failure,
  type Failure,
  isFailure,
  type ProvenderError,
} from "../../errors/index.ts";
import type { Youth } from "../../trust/age.ts";
import type { Policy, PolicyDecision } from "../../trust/policy.ts";

/** Version that the origin offers and that is hidden from clients. */
export interface LeftOut {
  readonly version: Version;
  readonly kind: keyof typeof kinds;
  /** In words: the rule that denies it, the end of its minimum age, or the key that holds it back. */
  readonly cause: string;
  /** When one that is too young is old enough, where that is known. */
  readonly availableAt?: Date | undefined;
}

/** Versions missing from a list of a provider or module, and those that a reporting policy would omit. */
export interface Listed {
  readonly leftOut: readonly LeftOut[];
  readonly reported: readonly LeftOut[];
}

/** Numbers by kind; undefined when nothing is left out. */
export type LeftOutCounts = Readonly<Partial<Record<LeftOut["kind"], number>>>;

/** In the order in which people read them. */
const kinds = {
  young: "too young",
  held: "held back",
  denied: "denied",
} as const;

/** Versions of one kind that a sentence names. */
const mostNamed = 5;

export function leaveOutDenied(
  version: Version,
  { rule, guidance: { because } }: PolicyDecision,
): LeftOut {
  const cause = because === undefined ? rule : `${rule}, ${because}`;
  return { version, kind: "denied", cause };
}

export function leaveOutYoung(
  version: Version,
  { availableAt }: Youth,
): LeftOut {
  const cause =
    availableAt === undefined
      ? "nothing says how old it is"
      : `until ${availableAt.toISOString()}`;
  return { version, kind: "young", cause, availableAt };
}

/** By its refusal, or the code of one that was recorded; undefined for a version that was not asked for yet. */
export function leaveOutRefused(
  version: Version,
  refusal: ProvenderError | { readonly code: string } | undefined,
): LeftOut {
  let cause = refusal?.code ?? "it was not looked at yet";
  if (isFailure(refusal, "content-revoked") && refusal.decision !== undefined)
    cause = `content ${refusal.decision}`;
  else if (isFailure(refusal, "key-refused")) {
    const { because, decision, fingerprint } = refusal;
    if (decision !== undefined)
      cause = `signing key ${fingerprint}, ${decision}`;
    else if (fingerprint === "none") cause = "it is not signed";
    else cause = `${because} signing key ${fingerprint}`;
  } else if (refusal?.code === "not-found")
    cause = "its registry lists it and does not have its documents";
  else if (refusal?.code === "signature-refused")
    cause = "its signature is refused";
  return { version, kind: "held", cause };
}

/** Those of each kind, in the order of `kinds`. */
function byKind(versions: readonly LeftOut[]) {
  const groups = Map.groupBy(versions, ({ kind }) => kind);
  return (Object.keys(kinds) as LeftOut["kind"][]).flatMap((kind) => {
    const own = groups.get(kind);
    return own === undefined ? [] : [{ kind, words: kinds[kind], own }];
  });
}

export function countLeftOut(
  versions: readonly LeftOut[],
): LeftOutCounts | undefined {
  if (versions.length === 0) return undefined;
  const counts = byKind(versions).map(({ kind, own }) => [kind, own.length]);
  return Object.fromEntries(counts) as LeftOutCounts;
}

/** `2 denied, 1 held back`. */
function formatCounts(versions: readonly LeftOut[]): string {
  return byKind(versions)
    .map(({ words, own }) => `${own.length} ${words}`)
    .join(", ");
}

export function describeLeftOut(
  versions: readonly LeftOut[],
): string | undefined {
  if (versions.length === 0) return undefined;
  return [formatCounts(versions), ...formatLeftOut(versions)].join("; ");
}

/** Divides refused versions into those left out and those that a reporting policy only notes. */
export function divide(
  refused: readonly LeftOut[],
  isReporting: boolean,
): Listed {
  if (!isReporting) return { leftOut: refused, reported: [] };
  return {
    leftOut: refused.filter(({ kind }) => kind === "held"),
    reported: refused.filter(({ kind }) => kind !== "held"),
  };
}

/** The error for a provider or module with all its versions left out. */
export function nothingAdmitted(
  name: string,
  versions: readonly LeftOut[],
  { otherwise: { guidance } }: Policy,
): Failure<"nothing-admitted"> {
  const counts = formatCounts(versions);
  const lines = formatLeftOut(versions);
  return failure("nothing-admitted", name, counts, lines, guidance);
}

/** A line for each kind, shown to clients beside the versions that they get. */
export function formatLeftOut(versions: readonly LeftOut[]): readonly string[] {
  return byKind(versions).map(({ words, own }) => {
    const named = own
      .slice(0, mostNamed)
      .map(({ version, cause }) => `${version} (${cause})`);
    const more = own.length - named.length;
    const rest = more > 0 ? ` and ${more} more` : "";
    return `This mirror leaves out, ${words}: ${named.join(", ")}${rest}`;
  });
}

/** `3.8.0 is held back (its signature is refused)`, for the newest of those that are newer than what clients get. */
export function formatNewer(
  listed: Version,
  versions: readonly LeftOut[],
): string | undefined {
  const newest = versions.toSorted((a, b) =>
    compareVersions(b.version, a.version),
  )[0];
  if (newest === undefined || compareVersions(newest.version, listed) < 0)
    return undefined;
  const { version, kind, cause } = newest;
  return `${version} is ${kinds[kind]} (${cause})`;
}
