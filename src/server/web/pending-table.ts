import { formatProviderAddress } from "../../address/provider-address.ts";
import {
  explainPending,
  type PendingDecision,
} from "../../mirror/trust/pending-decisions.ts";
import { dateOf } from "./figures.ts";
import { html, type Html } from "./html.ts";
import { table } from "./page.ts";

/** Candidates that are shown; `trust list` has them all. */
const mostShown = 200;

/** Renders pending decisions, each with the one command that takes it; nothing for none. */
export function renderPending(pending: readonly PendingDecision[]): Html {
  if (pending.length === 0) return html``;
  const more = pending.length - mostShown;
  const rows = pending
    .slice(0, mostShown)
    .map((one) => [
      `${formatProviderAddress(one.provider)} ${one.version}`,
      html`${explainPending(one)}<br /><code>${one.sha256sums}</code>`,
      dateOf(new Date(one.since)),
      renderRemedy(one),
    ]);
  const heads = ["Release", "Candidate", "Since", "Command"];
  return html`${table("Needs a decision", heads, rows)}${more > 0 && html`<p>${more} more: <code>provender trust list</code></p>`}`;
}

function renderRemedy({ command, setting }: PendingDecision): Html {
  return command === undefined
    ? html`Change <code>${setting}</code> and send SIGHUP, if it is good.`
    : html`<code>${command}</code>`;
}
