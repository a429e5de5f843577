import {
  runStatus,
  type StatusSubject,
} from "../../commands/operate/status.ts";
import { loadConfiguration, type Configuration } from "../../config/load.ts";
import { trustedCertificates } from "../../network/trusted-certificates.ts";
import { findDaemon } from "../../wiring/commands/status.ts";
import type { MirrorFlags } from "../flags.ts";
import { nameMirror, refuseLoneAuthority } from "../mirror-access.ts";
import { output } from "../output.ts";

/** Milliseconds for everything. */
const patience = 10_000;

export async function status(flags: MirrorFlags): Promise<void> {
  refuseLoneAuthority(flags);
  const { config, json = false } = flags;
  const configuration = loadConfiguration({ file: config });
  const subject =
    flags.mirror === undefined
      ? await findDaemon(configuration)
      : nameElsewhere(configuration, flags.mirror, flags.ca);
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
    directory: undefined,
    policyMode: undefined,
    audit: [],
  };
}
