import { explainFrom, runExplain } from "../../commands/operate/explain.ts";
import type { Output } from "../../commands/output/report.ts";
import { loadConfiguration } from "../../config/load.ts";
import { parseWhySpec } from "../../mirror/why/why.ts";
import { anyHostOf } from "../../wiring/verbs/hosts.ts";
import { type ElsewhereFlags, untilStopped } from "../flags.ts";
import { nameMirror, openMirror } from "../mirror-access.ts";

/** Asks the mirror that `--mirror` names. */
export async function explain(
  flags: ElsewhereFlags & { readonly spec: string },
  { stdout }: Output,
): Promise<number> {
  const { spec, config, mirror, ca, json = false } = flags;
  const named = nameMirror(mirror, ca);
  const configuration = loadConfiguration({ file: config });
  const question = parseWhySpec(spec, anyHostOf(configuration));
  await using other = openMirror(configuration, named);
  const { base, http } = other;
  const root = new URL(base.pathname.replace(/\/providers\/$/, "/"), base);
  const ask = explainFrom(http, root, untilStopped());
  return await runExplain(ask, question, json, stdout);
}
