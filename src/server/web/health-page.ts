import type { Context } from "koa";
import type { Metrics } from "../../telemetry/metrics.ts";
import { dateOf, formatBytes } from "./figures.ts";
import { html, type Html } from "./html.ts";
import type { Readiness } from "./operations.ts";
import { sendPage, table } from "./page.ts";

type GaugeName = Parameters<Metrics["read"]>[0];

/** `/health`: how the mirror is, from its own numbers. */
export async function answerHealthPage(
  ctx: Context,
  {
    metrics,
    readiness,
    reportsOnly,
  }: {
    readonly metrics: Metrics;
    readonly readiness: Readiness;
    /** What the policy would refuse is told, and served. */
    readonly reportsOnly: boolean;
  },
): Promise<void> {
  const policy: Fact = [
    "Policy",
    reportsOnly
      ? html`<span class="bad"
          >reports what it would refuse, and refuses nothing</span
        >`
      : "enforced",
  ];
  const facts = [
    await isReady(readiness),
    policy,
    ...(await listFacts(metrics)),
  ];
  const list = facts.map(
    ([name, value]) =>
      html`<dt>${name}</dt>
        <dd>${value}</dd>`,
  );
  const origins = table(
    "Origins",
    ["Origin", "Last answered", "Requests", "Failed"],
    await listOrigins(metrics),
  );
  sendPage(
    ctx,
    "Health",
    html`<dl>${list}</dl>
      <h2>Origins</h2>
      ${origins}`,
  );
}

type Fact = readonly [string, Html | string];

async function isReady(readiness: Readiness): Promise<Fact> {
  const isIt = await readiness.check().then(
    () => true,
    () => false,
  );
  // The reason may name paths, which are for the operator.
  const no = html`<span class="bad"
    >No: the operator finds the reason in the log</span
  >`;
  return ["Ready", isIt ? "Yes" : no];
}

async function listFacts(metrics: Metrics): Promise<readonly Fact[]> {
  const one = async (name: GaugeName) => (await metrics.read(name))[0]?.value;
  const [build] = await metrics.read("buildInfo");
  return [
    [
      "Version",
      `provender ${build?.labels.version ?? ""}, Node ${build?.labels.node ?? ""}`,
    ],
    ["Running since", momentOf(await one("started"))],
    ["Configuration read", momentOf(await one("reloadTime"))],
    [
      "Configuration in use",
      (await one("reloaded")) === 1
        ? "the one that was read last"
        : html`<span class="bad">an older one, the last has a mistake</span>`,
    ],
    ["Certificate until", momentOf(await one("certificateExpiry"))],
    [
      "Archives",
      `${figure(await one("storeArchives"))}, ${bytes(await one("storeBytes"))}`,
    ],
    ["Records", bytes(await one("storeRecordBytes"))],
    ...((await one("bucketDegraded")) === 1
      ? [
          [
            "Bucket",
            html`<span class="bad">does not answer or takes no writes</span>`,
          ] as const,
        ]
      : []),
    ["Disk left", bytes(await one("storeFreeBytes"))],
    [
      "Downloads now",
      `${figure(await one("fills"))}, and ${figure(await one("fillsWaiting"))} waiting`,
    ],
    ["Lines of the audit log not written", figure(await one("auditFailures"))],
  ];
}

const failed = new Set<unknown>(["busy", "failed", "timeout", "unreachable"]);

async function listOrigins(metrics: Metrics) {
  const successes = await metrics.read("originLastSuccess");
  const requests = await metrics.read("originRequests");
  return successes.map(({ labels: { origin = "" }, value }) => {
    const own = requests.filter(({ labels }) => labels.origin === origin);
    const sum = (samples: typeof own) =>
      samples.reduce((total, sample) => total + sample.value, 0);
    const bad = own.filter(({ labels }) => failed.has(labels.result));
    return [
      origin,
      value === 0 ? "not since the start" : momentOf(value),
      sum(own),
      sum(bad),
    ];
  });
}

function momentOf(seconds: number | undefined): string {
  return seconds === undefined || Number.isNaN(seconds)
    ? "-"
    : dateOf(new Date(seconds * 1000));
}

function figure(
  value: number | undefined,
  format: (value: number) => string = String,
): string {
  return value === undefined || Number.isNaN(value)
    ? "not counted yet"
    : format(value);
}

function bytes(value: number | undefined): string {
  return figure(value, formatBytes);
}
