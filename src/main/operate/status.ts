import { findElsewhere } from "../../commands/operate/status-elsewhere.ts";
import { printStatus } from "../../commands/operate/status.ts";
import type { Output } from "../../commands/output/streams.ts";
import { loadConfiguration } from "../../config/load.ts";
import { trustedCertificates } from "../../network/trusted-certificates.ts";
import type { MirrorFlags } from "../flags.ts";
import { nameOther } from "../mirror-access.ts";
import { runVerb } from "../verb.ts";

/** Milliseconds for everything. */
const patience = 10_000;

export async function status(
  { mirror, ca, ...flags }: MirrorFlags,
  { stdout }: Output,
): Promise<number> {
  const named = nameOther({ mirror, ca });
  if (named === undefined) return runVerb("status", flags);
  const { proxy } = loadConfiguration({ file: flags.config });
  const access = { ...named, ca: trustedCertificates(named.ca), proxy };
  const found = await findElsewhere(access, AbortSignal.timeout(patience));
  const url = new URL("..", named.base).href;
  return printStatus({ url }, found, flags.json === true, stdout);
}
