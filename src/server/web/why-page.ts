import type { Context } from "koa";
import {
  parseWhyPath,
  type Why,
  type WhyQuestion,
} from "../../mirror/why/why.ts";
import { answerJson, pathOf } from "../http/request-context.ts";
import { html } from "./html.ts";
import { sendPage } from "./page.ts";

/** Answers `/why/…`: the reasons for answers to clients, as HTML or JSON. */
export async function answerWhy(
  ctx: Context,
  explain: (question: WhyQuestion) => Promise<Why>,
): Promise<void> {
  const path = pathOf(ctx.req.url ?? "").slice("/why/".length);
  const why = await explain(parseWhyPath(path));
  ctx.vary("Accept");
  if (ctx.accepts("html", "json") === "json") {
    answerJson(ctx, { version: 1, ...why });
    return;
  }
  const { subject, headline, code, reasons } = why;
  const named = code !== null && html` (<code>${code}</code>)`;
  const body = html`<p><strong>${headline}</strong>${named}.</p>
    <ul>
      ${reasons.map((reason) => html`<li>${reason}</li>`)}
    </ul>`;
  sendPage(ctx, subject, body, { up: "../".repeat(path.split("/").length) });
}
