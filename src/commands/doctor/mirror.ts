import { wantToken } from "../inputs/mirror-token.ts";
import { judgeExpiry } from "./certificate.ts";
import { fail, failBy, good, warn, type Check } from "./check.ts";
import { explainFailure } from "./connection.ts";
import {
  askMirror,
  speaksHttp2,
  type MirrorAccess,
  type MirrorAnswer,
} from "./mirror-answer.ts";

/** Address that only provender refuses, and without a request to any origin. */
const probe = "provender.invalid/doctor/doctor/0.0.0";

/** A mirror as clients on this machine find it. */
export async function examineMirror(
  access: MirrorAccess,
  signal: AbortSignal,
): Promise<readonly Check[]> {
  const { base } = access;
  try {
    const answer = await askMirror(access, probe, signal);
    const place = judgePlace(access, answer);
    return [
      ...judgeCertificate(answer.certificateExpires, new Date()),
      ...place,
      ...(place.every(({ state }) => state === "ok")
        ? [
            await judgeReadiness(access, signal),
            await judgePhrases(access, answer, signal),
          ]
        : []),
    ];
  } catch (error) {
    return [explainFailure(base, error)];
  }
}

function judgeCertificate(
  expires: Date | undefined,
  now: Date,
): readonly Check[] {
  return expires === undefined ? [] : [judgeExpiry(expires, now)];
}

function judgePlace(
  { base, token }: MirrorAccess,
  { code, errors }: MirrorAnswer,
): readonly Check[] {
  const path = good("path", `${base.href} is a mirror of provender.`);
  if (code === "token-needed") return [path, failBy("token", wantToken(base))];
  if (code === "token-refused") return [path, refuseToken(base, errors)];
  if (code === "malformed-address")
    return token === undefined
      ? [path]
      : [path, good("token", "The token is taken.")];
  const found = `What answers at ${base.href} is not provender's network mirror.`;
  const remedy = `Give the URL that the mirror prints at its start, which ends in /providers/, and look at what is in front of it.`;
  return [fail("path", found, remedy)];
}

function refuseToken(base: URL, errors: readonly string[]): Check {
  const { remedy } = failBy("token", wantToken(base));
  return fail("token", errors.join(" "), remedy ?? "");
}

async function judgeReadiness(
  access: MirrorAccess,
  signal: AbortSignal,
): Promise<Check> {
  const { code, errors } = await askMirror(access, "../readyz", signal);
  if (code === undefined) return good("ready", "The mirror is ready.");
  const advice = `Run "provender doctor" on the mirror's machine.`;
  return fail("ready", errors.join(" "), advice);
}

/** Clients print the reason phrase, which HTTP/2 has not and which proxies may replace. */
async function judgePhrases(
  access: MirrorAccess,
  { phrase }: MirrorAnswer,
  signal: AbortSignal,
): Promise<Check> {
  const remedy = `Let what is in front of the mirror speak HTTP/1.1 with clients and pass the reason on; until then "provender explain" says why something is refused.`;
  if (await speaksHttp2(access, signal))
    return warn(
      "reason-phrases",
      "Clients speak HTTP/2 with what is in front of the mirror, so that they print no reasons of refusals.",
      remedy,
    );
  return phrase === "Bad Request" || phrase === ""
    ? warn(
        "reason-phrases",
        "What is in front of the mirror drops the reasons of refusals, so that clients print none.",
        remedy,
      )
    : good("reason-phrases", "The reasons of refusals reach clients.");
}
