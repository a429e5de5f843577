import {
  runStatus,
  type StatusSubject,
} from "../../commands/operate/status.ts";
import { loadConfiguration, type Configuration } from "../../config/load.ts";
import { trustedCertificates } from "../../network/trusted-certificates.ts";
import type { MirrorFlags } from "../flags.ts";
import { nameMirror, refuseLoneAuthority } from "../mirror-access.ts";
import { output } from "../output.ts";
import { runVerb } from "../verb.ts";

/** Milliseconds for everything. */
const patience = 10_000;

export async function status(flags: MirrorFlags): Promise<void> {
  refuseLoneAuthority(flags);
  const { config, mirror, ca, json = false } = flags;
  if (mirror === undefined) {
    await runVerb("status", { config, json });
    return;
  }
  const configuration = loadConfiguration({ file: config });
  const subject = nameElsewhere(configuration, mirror, ca);
  const signal = AbortSignal.timeout(patience);
  process.exitCode = await runStatus(subject, { json, signal }, output.stdout);
}

function nameElsewhere(
  { proxy }: Configuration,
  mirror: string,
  authority: string | undefined,
): StatusSubject {
  const named = nameMirror("--mirror", mirror, authority);
  const ca = trustedCertificates(named.ca);
  return {
    access: { ...named, ca, proxy },
    url: new URL("..", named.base).href,
    pid: undefined,
    daemon: undefined,
    directory: undefined,
    policyMode: undefined,
    audit: [],
  };
}
