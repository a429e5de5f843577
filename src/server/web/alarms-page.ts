import type { Context } from "koa";
import { formatProviderAddress } from "../../address/provider-address.ts";
import {
  explainPending,
  type PendingDecision,
  type watchPending,
} from "../../mirror/trust/pending-decisions.ts";
import type { Alarms, RaisedAlarm } from "../../telemetry/alarms.ts";
import type { AlarmKind } from "../../telemetry/metrics.ts";
import { html, type Html } from "./html.ts";
import { sendPage, table } from "./page.ts";

/** Candidates that are shown; `trust list` has them all. */
const mostShown = 200;

export interface AlarmParts {
  readonly findPending: ReturnType<typeof watchPending>;
  readonly alarms: Pick<Alarms, "recent">;
}

/** Answers `/alarms`: pending decisions, and alarms since the start, each with its remedy. */
export async function answerAlarms(
  ctx: Context,
  { findPending, alarms }: AlarmParts,
): Promise<void> {
  const { pending, dropped, unreadable } = await findPending();
  const lost =
    unreadable.length > 0 &&
    html`<p class="bad">
      The trust records of ${unreadable.length} namespaces cannot be read: the
      operator finds the files in the log.
    </p>`;
  const more =
    dropped > 0 && html`<p>${dropped} more candidates are not kept.</p>`;
  const none = pending.length === 0 && html`<p>Nothing needs a decision.</p>`;
  sendPage(
    ctx,
    "Alarms",
    html`<h2>Needs your decision</h2>
      ${lost}${none}${renderPending(pending)}${more}
      <h2>Raised since the start</h2>
      ${renderRecent(alarms.recent)}`,
  );
}

/** Renders pending decisions, each with the one command that takes it; nothing for none. */
function renderPending(pending: readonly PendingDecision[]): Html {
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

function renderRemedy({ command, keyCommand, setting }: PendingDecision): Html {
  return command === undefined
    ? html`Change <code>${setting}</code> and send SIGHUP, if it is good.`
    : html`<code>${command}</code
        >${keyCommand !== undefined && html`<br />or, for all that the key signs, <code>${keyCommand}</code>`}`;
}

function renderRecent(recent: readonly RaisedAlarm[]): Html {
  if (recent.length === 0) return html`<p>None.</p>`;
  const rows = recent.map((alarm) => [
    dateOf(alarm.at),
    html`<code>${alarm.kind}</code>`,
    subjectOf(alarm),
    remedies[alarm.kind],
  ]);
  const heads = ["When", "Kind", "Of what", "What to do"];
  return table("Raised since the start", heads, rows);
}

/** Names alone: what else an alarm knows is for the operator's log. */
function subjectOf({ facts }: RaisedAlarm): string {
  const { provider, module, version, archive } = facts;
  return [provider, module, archive, version]
    .filter((fact) => typeof fact === "string")
    .join(" ");
}

/** To the minute, in UTC. */
function dateOf(moment: Date): string {
  return `${moment.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

const log = "See the log of the mirror.";

const remedies: Readonly<Record<AlarmKind, Html | string>> = {
  "release-replaced":
    "See above, until its origin offers the pinned content again.",
  "key-new": html`Ask the publisher. <code>provender trust list</code> has the
    key, <code>provender trust revoke</code> refuses it.`,
  "key-refused": "See above.",
  "signature-refused":
    "Ask the publisher; it is served once its signature holds.",
  "versions-vanished": "What is stored stays. Ask the publisher.",
  "archive-tampered":
    "No client got it. Look at what is between the mirror and its origin.",
  "archive-damaged": html`Look at the disk; <code>provender verify</code> finds
    the rest.`,
  "record-unreadable": html`Restore the file that the log names from a backup;
    <code>provender verify</code> finds others.`,
  "decision-undone": html`Decide again with the command that the log of the
  mirror names.`,
  "database-failing":
    "What is in memory is served. Look at the database server and the network between.",
  "bucket-failing":
    "What is on its own disk is served. Look at the bucket and the network between.",
  "audit-lost": "Make room on the disk, and look at the folder of the store.",
  "module-replaced":
    "See above, until its origin offers the pinned content again.",
  "unexpected-error": log,
};
