import type { Context } from "koa";
import {
  parseWhyPath,
  type Why,
  type WhyQuestion,
} from "../../mirror/why/why.ts";
import { pathOf } from "../http/request-context.ts";
import { answerJson } from "../http/request-context.ts";
import { html, type Html } from "./html.ts";
import { sendPage } from "./page.ts";

const prefix = "/why/";

/** Answers `/why/…`: the reasons for answers to clients, as HTML or JSON. */
export async function answerWhy(
  ctx: Context,
  explain: (question: WhyQuestion) => Promise<Why>,
): Promise<void> {
  const path = pathOf(ctx.req.url ?? "").slice(prefix.length);
  const why = await explain(parseWhyPath(path));
  ctx.vary("Accept");
  if (ctx.accepts("html", "json") !== "json") {
    const up = "../".repeat(path.split("/").length);
    sendPage(ctx, why.subject, renderReasons(why), { up });
    return;
  }
  answerJson(ctx, { version: 1, ...why });
}

function renderReasons({ headline, code, reasons }: Why): Html {
  const named = code === null ? undefined : html` (<code>${code}</code>)`;
  return html`<p><strong>${headline}</strong>${named}.</p>
    <ul>
      ${reasons.map((reason) => html`<li>${reason}</li>`)}
    </ul>`;
}
