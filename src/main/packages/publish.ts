import { resolve } from "node:path";
import { parseHostname } from "../../address/hostname.ts";
import { PublishDirectory } from "../../commands/packages/publish-directory.ts";
import { runPublish } from "../../commands/packages/publish.ts";
import type { Output } from "../../commands/output/streams.ts";
import { loadConfiguration } from "../../config/load.ts";
import { originLimits } from "../../origin/guard/origin-settings.ts";
import { signaturePolicyOf } from "../../wiring/origins.ts";
import { wireJudge, wireSignatures } from "../../wiring/threads.ts";
import type { Flags } from "../flags.ts";
import { untilStopped } from "../output.ts";

interface PublishFlags extends Flags {
  readonly dir: string;
  readonly to: string;
  readonly namespace?: string;
}

/** Judges releases as those of the origin that lies in the directory `to`, else as required. */
export async function publish(
  { dir, config, to, namespace, json = false }: PublishFlags,
  output: Output,
): Promise<number> {
  const { origins, limits } = loadConfiguration({ file: config });
  const directory = resolve(to);
  const origin = [...origins.values()].find(
    (one) => one.directory === directory,
  );
  const signatures = wireSignatures();
  const place = new PublishDirectory(directory);
  const asked = { from: resolve(dir), to: place, namespace, json };
  const options = { ...asked, signal: untilStopped() };
  const parts = {
    hostname: origin?.hostname ?? parseHostname("localhost"),
    policy: signaturePolicyOf(origin),
    judge: wireJudge(signatures),
    limits: originLimits(limits),
    now: () => new Date(),
  };
  try {
    return await runPublish(options, parts, output);
  } finally {
    await signatures.close();
  }
}
