import { isFailure, ProvenderError } from "../../errors/index.ts";
import type { Hostname } from "../../address/hostname.ts";
import type { FolderSurvey } from "../../origin/folder/folder-survey.ts";
import type { OriginAnswer } from "../../origin/http/http-client.ts";
import { fail, failBy, good, warn, type Check } from "./check.ts";

/** An origin and how it is asked, with its own CA, token and proxy. */
export interface ExaminedOrigin {
  readonly hostname: string;
  /** Its service discovery document, or the base of its network mirror. */
  readonly url: URL;
  readonly isNetworkMirror: boolean;
  readonly ask: (url: URL, signal: AbortSignal) => Promise<OriginAnswer>;
}

/** Checks whether each can be asked and has providers. */
export async function examineOrigins(
  origins: readonly ExaminedOrigin[],
  signal: AbortSignal,
): Promise<readonly Check[]> {
  return Promise.all(
    origins.map(async (origin) => {
      try {
        return judgeAnswer(origin, await origin.ask(origin.url, signal));
      } catch (error) {
        if (!(error instanceof ProvenderError)) throw error;
        return judgeFailure(origin, error);
      }
    }),
  );
}

/** A folder that stands for a registry. */
export interface ExaminedFolder {
  readonly hostname: Hostname;
  /** Path of the folder for operators. */
  readonly path: string;
  readonly survey: (signal: AbortSignal) => Promise<FolderSurvey>;
}

/**
 * Checks that the folder can be read, and reports folders that look like a
 * release and are unfit.
 */
export async function examineFolder(
  { hostname, path, survey }: ExaminedFolder,
  signal: AbortSignal,
): Promise<readonly Check[]> {
  try {
    const { releases, unfit, isWhole } = await survey(signal);
    const noun = releases === 1 ? "release" : "releases";
    const count = `${isWhole ? "" : "at least "}${releases} ${noun}`;
    const more = unfit.length - mostNamed;
    return [
      good("origin", `${path} stands for ${hostname}, with ${count}.`),
      ...unfit.slice(0, mostNamed).map((one) => warnOf(one.path, one.reason)),
      ...(more > 0 ? [warnOf(`${more} more folders in ${path}`)] : []),
    ];
  } catch (error) {
    if (!(error instanceof ProvenderError)) throw error;
    return [failBy("origin", error)];
  }
}

/** Unfit releases that are named. */
const mostNamed = 20;

function warnOf(what: string, reason = "see the first ones"): Check {
  return warn(
    "origin",
    `${what} is not taken for a release: ${reason}.`,
    'Put it there with "provender publish", or remove it.',
  );
}

function judgeAnswer(
  { hostname, url, isNetworkMirror }: ExaminedOrigin,
  { bytes }: OriginAnswer,
): Check {
  if (isNetworkMirror || hasProviders(bytes))
    return good("origin", `${hostname} can be asked.`);
  return fail(
    "discovery",
    `${url.href} names no providers.v1, so that ${hostname} has no providers.`,
    `Correct the origin's "url", or ask who runs ${hostname}.`,
  );
}

function hasProviders(bytes: Uint8Array): boolean {
  try {
    const document: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    const { "providers.v1": service } = document as Record<string, unknown>;
    return typeof service === "string" && service !== "";
  } catch {
    return false;
  }
}

/** A network mirror has nothing at its base, so any status shows that it is there. */
function judgeFailure(
  { hostname, isNetworkMirror }: ExaminedOrigin,
  error: ProvenderError,
): Check {
  if (!isFailure(error, "origin-status")) return failBy("origin", error);
  return isNetworkMirror
    ? good("origin", `${hostname} can be asked.`)
    : failBy("discovery", error);
}
