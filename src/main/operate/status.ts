import { findElsewhere } from "../../commands/operate/status-elsewhere.ts";
import { printStatus } from "../../commands/operate/status.ts";
import type { Output } from "../../commands/output/streams.ts";
import { loadConfiguration } from "../../config/load.ts";
import { trustedCertificates } from "../../network/trusted-certificates.ts";
import type { ElsewhereFlags } from "../flags.ts";
import { nameMirror } from "../mirror-access.ts";

/** Milliseconds for everything. */
const patience = 10_000;

/** Asks the mirror that `--mirror` names. */
export async function status(
  { config, mirror, ca, json = false }: ElsewhereFlags,
  { stdout }: Output,
): Promise<number> {
  const named = nameMirror("--mirror", mirror, ca);
  const { proxy } = loadConfiguration({ file: config });
  const access = { ...named, ca: trustedCertificates(named.ca), proxy };
  const found = await findElsewhere(access, AbortSignal.timeout(patience));
  const url = new URL("..", named.base).href;
  return printStatus({ url }, found, json, stdout);
}
