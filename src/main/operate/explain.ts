import { explainFrom, runExplain } from "../../commands/operate/explain.ts";
import { loadConfiguration } from "../../config/load.ts";
import { ArgumentsInvalid } from "../../errors/index.ts";
import { parseWhySpec } from "../../mirror/why/question.ts";
import { wireMirror } from "../../wiring/command.ts";
import { wireExplanations } from "../../wiring/core.ts";
import { wireNamedHost } from "../../wiring/origins.ts";
import { nameMirror } from "../mirror-access.ts";
import { untilStopped } from "../options.ts";

export interface ExplainFlags {
  readonly config?: string;
  readonly mirror?: string;
  readonly ca?: string;
  readonly json?: boolean;
}

export async function explain(
  spec: string,
  { config, mirror, ca, json = false }: ExplainFlags,
): Promise<void> {
  if (mirror === undefined && ca !== undefined)
    throw new ArgumentsInvalid("--ca", "is for --mirror only.");
  const question = parseWhySpec(spec);
  const configuration = loadConfiguration({ file: config });
  const stdout = (text: string) => process.stdout.write(text);
  if (mirror !== undefined) {
    const named = nameMirror("--mirror", mirror, ca);
    const { base } = named;
    const root = new URL(base.pathname.replace(/\/providers\/$/, "/"), base);
    const http = wireNamedHost(configuration, base, named);
    const ask = explainFrom(http, root, untilStopped());
    try {
      process.exitCode = await runExplain(ask, question, json, stdout);
    } finally {
      await http.close();
    }
    return;
  }
  const core = await wireMirror(configuration);
  try {
    const explanations = wireExplanations(configuration, core);
    const ask = explanations.explain.bind(explanations);
    process.exitCode = await runExplain(ask, question, json, stdout);
  } finally {
    await core.close();
  }
}
