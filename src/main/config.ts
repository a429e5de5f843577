import { formatExplanation } from "../commands/operate/policy-explanation.ts";
import { formatConfiguration, loadConfiguration } from "../config/load.ts";
import { wireRules } from "../wiring/rules.ts";

export interface CheckFlags {
  readonly config?: string;
  readonly explain?: string;
}

export function checkConfiguration({ config, explain }: CheckFlags): void {
  const configuration = loadConfiguration({ file: config });
  const { policy } = wireRules(configuration);
  const { source } = configuration;
  print(`${source ?? "The built-in defaults"}: good\n`);
  if (explain !== undefined) print(formatExplanation(policy, explain));
}

export function showConfiguration({ config }: CheckFlags): void {
  print(formatConfiguration(loadConfiguration({ file: config })));
}

function print(text: string): void {
  process.stdout.write(text);
}
