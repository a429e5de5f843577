import type { Version } from "../../address/version.ts";
import { isFailure, ProvenderError } from "../../errors/index.ts";
import type { FirstContact } from "../../trust/state.ts";
import {
  leaveOutPhantom,
  leaveOutRefused,
  leaveOutYoung,
  type LeftOut,
} from "../trust/left-out.ts";
import type { Refusals } from "../standings/refused-versions.ts";
import type { ReleaseRequest } from "../trust/request.ts";
import { saysNothing } from "../standings/candidate-failures.ts";
import type { LookUps, Reason } from "./version-ages.ts";

type Suspicion = Exclude<Reason, "age">;

/** `unknown`: it could not be looked at in this listing. */
export type Verdict = "good" | "unknown" | LeftOut;

/**
 * Returns the reason for looking at a version before it is listed; undefined
 * where none is needed.
 */
export function findSuspicion(
  version: Version,
  contact: FirstContact,
  refused: Refusals,
  isLimited: boolean,
): Suspicion | undefined {
  const { kind } = refused.get(version) ?? {};
  if (kind === "phantom") return kind;
  if (!contact.versions.has(version)) return "new";
  if (kind === "refused") return kind;
  return isLimited ? "unsure" : undefined;
}

export async function judgeVersion(
  request: ReleaseRequest,
  suspicion: Suspicion,
  looks: LookUps,
): Promise<Verdict> {
  const { version } = request.address;
  const undecided = suspicion === "unsure" ? "good" : "unknown";
  try {
    const found = await looks.look(request, suspicion);
    if (found !== undefined) return "good";
    // The background asks again, and the next list knows more.
    if (suspicion === "phantom") return leaveOutPhantom(version);
    return suspicion === "refused"
      ? leaveOutRefused(version, undefined)
      : undecided;
  } catch (error) {
    if (!(error instanceof ProvenderError)) throw error;
    if (isFailure(error, "too-young")) return leaveOutYoung(version, error);
    if (!saysNothing(error)) return leaveOutRefused(version, error);
    looks.failure = error;
    return undecided;
  }
}

/** True for a release that may be good again. */
export function isWaiting(verdict: Verdict | undefined): boolean {
  return (
    isPhantom(verdict) ||
    (typeof verdict === "object" && verdict.kind === "held")
  );
}

export function isPhantom(verdict: Verdict | undefined): boolean {
  return typeof verdict === "object" && verdict.kind === "phantom";
}

/** Keeps phantoms listed that were at first contact, as what an origin that fails lists is. */
export function withoutPhantoms(
  verdicts: ReadonlyMap<Version, Verdict>,
  { versions }: FirstContact,
): ReadonlyMap<Version, Verdict> {
  const isKept = (version: Version, verdict: Verdict) =>
    isPhantom(verdict) && versions.has(version);
  return new Map([...verdicts].filter((entry) => !isKept(...entry)));
}

export function leftOutBy(
  { address: { version } }: ReleaseRequest,
  verdict: Verdict,
): readonly LeftOut[] {
  if (verdict === "good") return [];
  return [
    verdict === "unknown" ? leaveOutRefused(version, undefined) : verdict,
  ];
}

export function asLeftOut(verdict: Verdict): readonly LeftOut[] {
  return typeof verdict === "object" ? [verdict] : [];
}
