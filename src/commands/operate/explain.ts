import * as z from "zod";
import { loadConfiguration } from "../../config/load.ts";
import { type ErrorCode, failure } from "../../errors/index.ts";
import {
  explain as explainHere,
  formatQuestion,
  parseWhySpec,
  type Why,
} from "../../mirror/why/why.ts";
import { anyHostOf, hostsOf, onStore, untilStopped } from "../command.ts";
import {
  askMirror,
  type MirrorFlags,
  nameMirror,
  openNamed,
} from "../named-mirror.ts";
import { formatDocument, stdout } from "../output/report.ts";

/** `provender explain SPEC`: why clients of this store, or of the mirror that `--mirror` names, get it or not; returns 0 when they do. */
export async function explain(
  flags: MirrorFlags & { readonly spec: string },
): Promise<number> {
  const { spec, json = false } = flags;
  const named = nameMirror(flags);
  if (named === undefined)
    return onStore(flags, async (opened) => {
      const question = parseWhySpec(spec, hostsOf(opened.configuration));
      return show(await explainHere(opened, question), json);
    });
  const configuration = loadConfiguration({ file: flags.config });
  const question = parseWhySpec(spec, anyHostOf(configuration));
  await using http = openNamed(configuration, named);
  const root = new URL(named.base.href.replace(/\/providers\/$/, "/"));
  const url = new URL(`why/${formatQuestion(question)}`, root);
  const answer = await askMirror(http, url, untilStopped());
  const why = answerShape.safeParse(answer.value);
  if (!why.success)
    throw failure("origin-answer", answer.url.href, "it is no answer to why", {
      cause: why.error,
    });
  return show(why.data, json);
}

const answerShape = z.object({
  version: z.literal(1),
  subject: z.string(),
  headline: z.string(),
  verdict: z.enum(["served", "refused", "absent", "failing"]),
  code: z.custom<ErrorCode>((code) => typeof code === "string").nullable(),
  reasons: z.array(z.string()).max(1_000),
});

/** Without control characters, which a terminal could execute. */
function show(why: Why, json: boolean): number {
  const { subject, verdict, headline, code, reasons } = why;
  const named = code === null ? "" : ` (${code})`;
  const lines = [`${subject}: ${headline}${named}.`, ...reasons].map(
    (line) => `${line.replaceAll(/\p{C}/gu, "")}\n`,
  );
  stdout(json ? formatDocument(why) : lines.join("- "));
  return verdict === "served" ? 0 : 1;
}
