import { explainFrom, runExplain } from "../../commands/operate/explain.ts";
import { loadConfiguration } from "../../config/load.ts";
import { parseWhySpec } from "../../mirror/why/question.ts";
import { anyHostOf } from "../../wiring/verbs/hosts.ts";
import type { MirrorFlags } from "../flags.ts";
import { openMirror, refuseLoneAuthority } from "../mirror-access.ts";
import { untilStopped } from "../options.ts";
import { output } from "../output.ts";
import { runVerb } from "../verb.ts";

export async function explain(spec: string, flags: MirrorFlags): Promise<void> {
  const { config, mirror, ca, json = false } = flags;
  refuseLoneAuthority(flags);
  if (mirror === undefined) {
    await runVerb("explain", { spec, config, json });
    return;
  }
  const configuration = loadConfiguration({ file: config });
  const question = parseWhySpec(spec, anyHostOf(configuration));
  await using other = openMirror(configuration, "--mirror", mirror, ca);
  const { base, http } = other;
  const root = new URL(base.pathname.replace(/\/providers\/$/, "/"), base);
  const ask = explainFrom(http, root, untilStopped());
  process.exitCode = await runExplain(ask, question, json, output.stdout);
}
