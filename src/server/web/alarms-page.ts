import type { Context } from "koa";
import { formatProviderAddress } from "../../address/provider-address.ts";
import type {
  OpenMatter,
  watchOpenMatters,
} from "../../mirror/trust/open-matters.ts";
import type { Alarms, RaisedAlarm } from "../../telemetry/alarms.ts";
import type { AlarmKind } from "../../telemetry/metrics.ts";
import { dateOf } from "./figures.ts";
import { html, type Html } from "./html.ts";
import { sendPage, table } from "./page.ts";

export interface AlarmParts {
  readonly findOpen: ReturnType<typeof watchOpenMatters>;
  readonly alarms: Pick<Alarms, "recent">;
}

/** Matters that are shown; `trust list` has them all. */
const mostShown = 200;

/** `/alarms`: what waits for a decision, and what was raised since the start, with what settles it. */
export async function answerAlarms(
  ctx: Context,
  { findOpen, alarms }: AlarmParts,
): Promise<void> {
  const { matters, unreadable } = await findOpen();
  const lost =
    unreadable.length > 0 &&
    html`<p class="bad">
      What was decided of ${unreadable.length} namespaces cannot be read: the
      operator finds the files in the log.
    </p>`;
  sendPage(
    ctx,
    "Alarms",
    html`<h2>What waits for a decision</h2>
      ${lost}${renderOpen(matters)}
      <h2>Raised since the start</h2>
      ${renderRecent(alarms.recent)}`,
  );
}

function renderOpen(matters: readonly OpenMatter[]): Html {
  if (matters.length === 0) return html`<p>Nothing waits for a decision.</p>`;
  const more = matters.length - mostShown;
  const rows = matters
    .slice(0, mostShown)
    .map((matter) => [
      `${formatProviderAddress(matter.provider)} ${matter.version}`,
      explain(matter),
      dateOf(new Date(matter.since)),
      settle(matter),
    ]);
  const heads = ["Release", "Because", "Since", "What settles it"];
  return html`${table("What waits", heads, rows)}${more > 0 && html`<p>${more} more: <code>provender trust list</code></p>`}`;
}

function renderRecent(recent: readonly RaisedAlarm[]): Html {
  if (recent.length === 0) return html`<p>None.</p>`;
  const rows = recent.map((alarm) => [
    dateOf(alarm.at),
    html`<code>${alarm.kind}</code>`,
    subjectOf(alarm),
    cures[alarm.kind],
  ]);
  const heads = ["When", "Kind", "Of what", "What to do"];
  return table("Raised since the start", heads, rows);
}

function explain({ because, reason, fingerprint }: OpenMatter): Html {
  const key = html`<code>${fingerprint ?? "unknown"}</code>`;
  if (because === "fall") return html`its signature fell: ${reason}`;
  return because === "key"
    ? html`held back, the key is ${reason}: ${key}`
    : html`re-created under the key ${key}; clients get the first content`;
}

/** The command, whole, as it is run on the machine of the mirror. */
function settle({
  because,
  reason,
  provider,
  version,
  fingerprint,
}: OpenMatter): Html {
  const name = formatProviderAddress(provider);
  const approve = html`<code>provender trust approve ${name}@${version}</code>`;
  if (because === "fall")
    return html`Its publisher has to sign it anew under a good key.`;
  if (because === "content")
    return html`${approve} accepts the new content; without it the first stays.`;
  if (reason === "not-pinned")
    return html`Add the fingerprint to <code>trust.keys</code> and send SIGHUP,
      if the key is good.`;
  if (reason === "revoked")
    return html`<code
        >provender trust approve --key ${fingerprint} --scope provider
        ${name}</code
      >
      if the key is good again.`;
  return html`${approve} accepts it and its key;
    <code
      >provender trust revoke --key ${fingerprint} --scope provider
      ${name}</code
    >
    refuses whatever comes under that key.`;
}

/** Names alone: what else an alarm knows is for the operator's log. */
function subjectOf({ facts }: RaisedAlarm): string {
  const { provider, module, version, archive } = facts;
  return [provider, module, archive, version]
    .filter((fact) => typeof fact === "string")
    .join(" ");
}

const log = "See the log of the mirror.";

const cures: Readonly<Record<AlarmKind, Html | string>> = {
  "release-replaced":
    "It is among what waits, until its origin offers the first content again.",
  "key-new": html`Ask the publisher. <code>provender trust list</code> has the
    key, <code>provender trust revoke</code> refuses it.`,
  "key-refused": "It is among what waits.",
  "signature-refused":
    "Ask the publisher; it is served once its signature holds.",
  "versions-vanished": "What is stored stays. Ask the publisher.",
  "package-hash-conflict": "The first hash stays. Ask the registry.",
  "archive-tampered":
    "Nobody got it. Look at what is between the mirror and its origin.",
  "archive-damaged": html`Look at the disk; <code>provender verify</code> finds
    the rest.`,
  "record-unreadable": html`Restore the file that the log names from a backup;
    <code>provender verify</code> finds others.`,
  "bucket-failing":
    "What is on its own disk is served. Look at the bucket and the network between.",
  "audit-lost":
    "Make room on the disk, and look at the folder of the audit log.",
  "module-replaced": "Clients get the first content. Ask its publisher.",
  "unexpected-error": log,
};
