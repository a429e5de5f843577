import type { Context } from "koa";
import { formatProviderAddress } from "../../address/provider-address.ts";
import {
  explainPending,
  type watchPending,
} from "../../mirror/trust/pending-decisions.ts";
import { html } from "./html.ts";
import { sendPage, table } from "./page.ts";

/** Candidates that are shown; `trust list` has them all. */
const mostShown = 200;

/** Answers `/decisions`: what needs a decision, each with the one command that takes it. */
export async function answerDecisions(
  ctx: Context,
  findPending: ReturnType<typeof watchPending>,
): Promise<void> {
  const { pending, unreadable } = await findPending();
  const rows = pending
    .slice(0, mostShown)
    .map((one) => [
      `${formatProviderAddress(one.provider)} ${one.version}`,
      html`${explainPending(one)}<br /><code>${one.sha256sums}</code>`,
      `${one.since.slice(0, 16).replace("T", " ")} UTC`,
      one.command === undefined
        ? html`Change <code>${one.setting}</code> and send SIGHUP, if it is
            good.`
        : html`<code>${one.command}</code
            >${one.keyCommand !== undefined && html`<br />or, for all that the key signs, <code>${one.keyCommand}</code>`}`,
    ]);
  const heads = ["Release", "Candidate", "Since", "Command"];
  const more = pending.length - mostShown;
  sendPage(
    ctx,
    "Decisions",
    html`${
      unreadable.length > 0 &&
      html`<p class="bad">
        The trust records of ${unreadable.length} namespaces cannot be read: the
        operator finds them in the log.
      </p>`
    }
    ${
      rows.length > 0
        ? table("Needs a decision", heads, rows)
        : html`<p>Nothing needs a decision.</p>`
    }
    ${more > 0 && html`<p>${more} more: <code>provender trust list</code></p>`}`,
  );
}
