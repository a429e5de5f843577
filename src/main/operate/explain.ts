import { explainFrom, runExplain } from "../../commands/operate/explain.ts";
import { loadConfiguration } from "../../config/load.ts";
import { parseWhySpec } from "../../mirror/why/question.ts";
import { wireMirror } from "../../wiring/commands/store.ts";
import { wireExplanations } from "../../wiring/core.ts";
import type { MirrorFlags } from "../flags.ts";
import { openMirror, refuseLoneAuthority } from "../mirror-access.ts";
import { anyHostOf, hostsOf, untilStopped } from "../options.ts";
import { output } from "../output.ts";

export async function explain(spec: string, flags: MirrorFlags): Promise<void> {
  const { config, mirror, ca, json = false } = flags;
  refuseLoneAuthority(flags);
  const configuration = loadConfiguration({ file: config });
  const hosts =
    mirror === undefined ? hostsOf(configuration) : anyHostOf(configuration);
  const question = parseWhySpec(spec, hosts);
  const { stdout } = output;
  if (mirror !== undefined) {
    await using other = openMirror(configuration, "--mirror", mirror, ca);
    const { base, http } = other;
    const root = new URL(base.pathname.replace(/\/providers\/$/, "/"), base);
    const ask = explainFrom(http, root, untilStopped());
    process.exitCode = await runExplain(ask, question, json, stdout);
    return;
  }
  await using core = await wireMirror(configuration);
  const explanations = wireExplanations(configuration, core);
  const ask = explanations.explain.bind(explanations);
  process.exitCode = await runExplain(ask, question, json, stdout);
}
