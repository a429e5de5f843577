import { explainFrom, runExplain } from "../../commands/operate/explain.ts";
import type { Output } from "../../commands/output/streams.ts";
import { loadConfiguration } from "../../config/load.ts";
import { parseWhySpec } from "../../mirror/why/question.ts";
import { anyHostOf } from "../../wiring/verbs/hosts.ts";
import type { MirrorFlags } from "../flags.ts";
import { nameOther, openMirror } from "../mirror-access.ts";
import { untilStopped } from "../options.ts";
import { runVerb } from "../verb.ts";

export async function explain(
  { spec, mirror, ca, ...flags }: MirrorFlags & { readonly spec: string },
  { stdout }: Output,
): Promise<number> {
  const named = nameOther({ mirror, ca });
  if (named === undefined) return runVerb("explain", { spec, ...flags });
  const configuration = loadConfiguration({ file: flags.config });
  const question = parseWhySpec(spec, anyHostOf(configuration));
  await using other = openMirror(configuration, named);
  const { base, http } = other;
  const root = new URL(base.pathname.replace(/\/providers\/$/, "/"), base);
  const ask = explainFrom(http, root, untilStopped());
  return await runExplain(ask, question, flags.json === true, stdout);
}
