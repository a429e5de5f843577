import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { layOutStore } from "../../src/store/layout.ts";
import { bearer, issueToken } from "../client-token.ts";
import { barrier } from "../fakes/barrier.ts";
import { status } from "../fakes/faults.ts";
import { awaitLine } from "../scenes/log-lines.ts";
import { awaitAudit, eventually } from "../scenes/provider-requests.ts";
import { startWorld } from "../scenes/world.ts";
import { askDatabase } from "../store/stores.ts";

const folder = "/providers/registry.terraform.io/acme/demo";
const archive = `${folder}/terraform-provider-demo_1.2.3_linux_amd64.zip`;
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
const soon = inDays(10);
const ci = issueToken("canary-name", soon);
const others = [inDays(-1), inDays(99)].map((end) => issueToken("other", end));

const { registry, mirror } = await startWorld({
  freshness: { versions: "0" },
  auth: { tokens: [ci, ...others].map(({ configured }) => configured) },
  policy: {
    rules: [{ match: "registry.terraform.io/acme/denied", action: "deny" }],
  },
});
await registry.publish({ type: "demo", version: "1.2.3", size: 200_000 });

const get = (path: string) => mirror.get(path, bearer(ci.token));

async function scrape(): Promise<ReadonlyMap<string, number>> {
  const text = (await get("/metrics")).body.toString();
  const lines = text.matchAll(/^([a-z][^ ]*) (\S+)$/gm);
  return new Map(
    [...lines].map(([, name = "", value]) => [name, Number(value)]),
  );
}

/** By how much each series rose while something was done. */
async function rises(work: () => Promise<unknown>) {
  const before = await scrape();
  await work();
  const after = await scrape();
  return (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
}

const origin = 'origin="registry.terraform.io"';
const seconds = (labels: string) =>
  `provender_request_seconds_count{${labels}}`;

describe("the numbers of a running daemon", () => {
  it("say what runs, since when, and until when it may", async () => {
    const now = await scrape();
    const version = `version="0.1.0",node="${process.versions.node}"`;
    expect(now.get(`provender_build_info{${version}}`)).toBe(1);
    const pem = readFileSync(mirror.caFile, "utf8");
    const { validToDate } = new X509Certificate(pem);
    const until = now.get("provender_certificate_expiry_timestamp_seconds");
    expect(until).toBeGreaterThan(Date.now() / 1000 + 300 * 86_400);
    expect(until).toBeLessThan(validToDate.getTime() / 1000);
    expect(now.get("provender_token_expiry_timestamp_seconds")).toBe(
      soon.getTime() / 1000,
    );
    expect(now.get("process_open_fds")).toBeGreaterThan(0);
  });

  it("count an archive that is fetched, and bytes from its origin, once", async () => {
    const gate = barrier();
    registry.script("archive", gate.beforeHeaders);
    const risen = await rises(async () => {
      const asked = get(archive);
      await gate.reached;
      const during = await scrape();
      expect(during.get("provender_fills")).toBe(1);
      expect(during.get("provender_waiters")).toBe(1);
      gate.release();
      expect((await asked).status).toBe(200);
      await eventually(
        () => get(archive),
        ({ headers }) => headers.etag !== undefined,
      );
    });
    registry.heal();
    expect(risen(seconds('kind="archive",outcome="fetched"'))).toBe(1);
    expect(
      risen('provender_requests_total{outcome="fetched",status="200"}'),
    ).toBe(1);
    const received = `provender_origin_received_bytes_total{${origin}}`;
    for (const bytes of [
      'provender_sent_bytes_total{outcome="fetched"}',
      received,
    ])
      expect(risen(bytes)).toBeGreaterThan(200_000);
    expect(risen(received)).toBeLessThan(300_000);
    for (const asked of [
      `provender_origin_requests_total{${origin},result="ok"}`,
      `provender_origin_request_seconds_count{${origin}}`,
    ])
      expect(risen(asked)).toBeGreaterThan(2);
    const now = await scrape();
    const last = `provender_origin_last_success_timestamp_seconds{${origin}}`;
    expect(now.get(last)).toBeGreaterThan(Date.now() / 1000 - 60);
    expect(now.get("provender_fills")).toBe(0);
  });

  it.each([
    [500, "failed", "failed", "origin-status"],
    [404, "not-found", "not-found", undefined],
    [401, "refused", "failed", "origin-credentials"],
    // Last, since the host is spared from then on.
    [429, "busy", "failed", "origin-busy"],
  ] as const)(
    "count what an origin answers by its result: %i",
    async (code, result, outcome, failure) => {
      registry.script("versions", status(code));
      const path = `/providers/registry.terraform.io/acme/of-${code}/index.json`;
      const risen = await rises(() => get(path));
      registry.heal();
      expect(
        risen(`provender_origin_requests_total{${origin},result="${result}"}`),
      ).toBeGreaterThan(0);
      expect(risen(seconds(`kind="index",outcome="${outcome}"`))).toBe(1);
      if (failure !== undefined)
        expect(risen(`provender_failures_total{code="${failure}"}`)).toBe(1);
    },
  );

  it("count lines of the audit log that could not be written; no request waits for them", async () => {
    const denied = "/providers/registry.terraform.io/acme/denied/1.0.0.json";
    await get(denied);
    // Nothing waits from then on.
    await awaitAudit(mirror, ({ event }) => event === "refused");
    const layout = layOutStore(mirror.directory);
    askDatabase(layout, "ALTER TABLE events RENAME TO away");
    const risen = await rises(async () => {
      expect((await get(denied)).status).toBe(451);
      await awaitLine(mirror, ({ alarm }) => alarm === "audit-lost");
    });
    expect(risen("provender_audit_failures_total")).toBe(1);
  });
});
