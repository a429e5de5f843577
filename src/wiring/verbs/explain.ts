import { runExplain } from "../../commands/operate/explain.ts";
import { explain as explainHere, parseWhySpec } from "../../mirror/why/why.ts";
import { hostsOf } from "./hosts.ts";
import type { JsonFlag, OpenMirror, VerbIo } from "./verb.ts";

export function explain(
  { spec, json = false }: JsonFlag & { readonly spec: string },
  mirror: OpenMirror,
  { stdout }: VerbIo,
): Promise<number> {
  const question = parseWhySpec(spec, hostsOf(mirror.configuration));
  return runExplain(
    () => explainHere(mirror, question),
    question,
    json,
    stdout,
  );
}
