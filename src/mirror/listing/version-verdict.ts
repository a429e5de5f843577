import type { Version } from "../../address/version.ts";
import { ProvenderError, TooYoung } from "../../errors/index.ts";
import type { FirstContact } from "../../trust/state.ts";
import {
  leaveOutRefused,
  leaveOutYoung,
  type LeftOut,
} from "../trust/left-out.ts";
import type { ReleaseRequest } from "../trust/request.ts";
import { saysNothing } from "../standings/candidate-failures.ts";
import type { LookUps, Reason } from "./release-look-ups.ts";

type Suspicion = Exclude<Reason, "age">;

/** `unknown`: it could not be looked at in this listing. */
export type Verdict = "good" | "unknown" | LeftOut;

/** Why a version has to be looked at before it is listed; undefined for one that needs no look. */
export function findSuspicion(
  version: Version,
  contact: FirstContact,
  refused: ReadonlySet<string>,
  isLimited: boolean,
): Suspicion | undefined {
  if (!contact.versions.has(version)) return "new";
  if (refused.has(version)) return "refused";
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
    return suspicion === "refused"
      ? leaveOutRefused(version, undefined)
      : undecided;
  } catch (error) {
    if (!(error instanceof ProvenderError)) throw error;
    if (error instanceof TooYoung)
      return leaveOutYoung(version, error.availableAt);
    if (!saysNothing(error)) return leaveOutRefused(version, error);
    looks.failure = error;
    return undecided;
  }
}
