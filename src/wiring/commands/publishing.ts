import { resolve } from "node:path";
import { PublishDirectory } from "../../commands/packages/publish-directory.ts";
import type { Configuration } from "../../config/load.ts";
import { originLimits } from "../../origin/guard/origin-settings.ts";
import { signaturePolicyOf } from "../origins.ts";
import { wireJudge, wireSignatures } from "../threads.ts";

/** The directory `to` where releases are published, and how they are judged: as those of the origin that lies there, else as required. */
export function wirePublishing(configuration: Configuration, to: string) {
  const signatures = wireSignatures();
  const directory = resolve(to);
  const origin = [...configuration.origins.values()].find(
    (one) => one.directory === directory,
  );
  return {
    place: new PublishDirectory(directory),
    hostname: origin?.hostname,
    policy: signaturePolicyOf(origin),
    judge: wireJudge(signatures),
    limits: originLimits(configuration.limits),
    [Symbol.asyncDispose]: () => signatures.close(),
  };
}
