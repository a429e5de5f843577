import type { ReleaseOrigin } from "../../src/mirror/releases/evidence.ts";
import type { ProviderOrigin } from "../../src/origin/registries/provider-origin.ts";
import { decideSignature } from "../../src/verification/signature-worker.ts";

export const now = new Date("2026-06-01T00:00:00Z");

/** A question that no test expects. */
const silent = (): Promise<never> =>
  Promise.reject(new Error("this question was not expected"));

/** An origin that answers only what a test says, with real signature decisions and a clock that stands still. */
export function originOf(
  registry: Partial<ProviderOrigin> = {},
  policy: Partial<ReleaseOrigin["policy"]> = {},
): ReleaseOrigin {
  return {
    registry: {
      listVersions: silent,
      findPackage: silent,
      findAnyPackage: silent,
      fetchChecksums: silent,
      openArchive: silent,
      ...registry,
    },
    policy: { signatures: "required", profile: "terraform", ...policy },
    judge: {
      library: "arithmetic 1",
      decide: (_, question) => decideSignature(question),
    },
    clock: { now: () => now, monotonic: () => 0 },
  };
}
