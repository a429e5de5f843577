import { z } from "zod";
import { type ErrorCode, failure } from "../../errors/index.ts";
import {
  formatQuestion,
  type WhyQuestion,
  renderWhy,
  type Why,
} from "../../mirror/why/why.ts";
import type { HttpClient } from "../../origin/http/http-client.ts";
import { askMirror } from "../lock/asked-mirror.ts";

/** Source of the explanation: this store's own mirror, or a running one. */
type Explain = (question: WhyQuestion) => Promise<Why>;

const answer = z.object({
  version: z.literal(1),
  subject: z.string(),
  headline: z.string(),
  verdict: z.enum(["served", "refused", "absent", "failing"]),
  code: z.custom<ErrorCode>((code) => typeof code === "string").nullable(),
  reasons: z.array(z.string()).max(1_000),
});

/** A running mirror at `base`, its root. */
export function explainFrom(
  http: HttpClient,
  base: URL,
  signal: AbortSignal,
): Explain {
  return async (question) => {
    const path = `why/${formatQuestion(question)}`;
    const { url, value } = await askMirror(http, base, path, signal);
    return readWhy(url, value);
  };
}

function readWhy(url: URL, value: unknown): Why {
  const parsed = answer.safeParse(value);
  if (!parsed.success)
    throw failure("origin-answer", url.href, "it is no answer to why", {
      cause: parsed.error,
    });
  const { subject, verdict, headline, code, reasons } = parsed.data;
  return { subject, verdict, headline, code: code ?? undefined, reasons };
}

/** Says why clients get what they get; resolves with the exit status: 0 when they are served. */
export async function runExplain(
  explain: Explain,
  question: WhyQuestion,
  json: boolean,
  print: (text: string) => void,
): Promise<number> {
  const why = await explain(question);
  print(json ? `${JSON.stringify(renderWhy(why), null, 2)}\n` : formatWhy(why));
  return why.verdict === "served" ? 0 : 1;
}

/**
 * Formats the explanation without control characters, which a terminal could
 * execute.
 */
function formatWhy({ subject, headline, code, reasons }: Why): string {
  const named = code === undefined ? "" : ` (${code})`;
  const lines = [`${subject}: ${headline}${named}.`, ...reasons];
  return lines.map((line) => `${line.replaceAll(/\p{C}/gu, "")}\n`).join("- ");
}
