import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { AuditLog, type AuditEntry } from "../../src/telemetry/audit-log.ts";
import { scratch } from "../running-mirror.ts";

let folder: string;
let log: AuditLog;

beforeEach(() => {
  folder = scratch("audit");
  log = new AuditLog({
    requests: join(folder, "audit.jsonl"),
    decisions: join(folder, "decisions.jsonl"),
    now: () => new Date(),
    onLost: (_, cause) => {
      throw cause;
    },
  });
});

async function record(entries: readonly AuditEntry[]) {
  await Promise.all(entries.map((one) => log.record(one, { durable: true })));
  await log.close();
  const text = await readFile(join(folder, "decisions.jsonl"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as AuditEntry);
}

const times = (count: number, make: (n: number) => AuditEntry) =>
  Array.from({ length: count }, (_, n) => make(n));

it.each(["replaced", "quarantined", "judged-again"] as const)(
  "writes ten lines for what an origin has refused of one release again and again: %s",
  async (event) => {
    const refused = { event, verdict: "refused", version: "1.0.0" } as const;
    const provider = "registry.terraform.io/acme/demo";
    const lines = await record(
      times(500, (n) => ({ ...refused, provider, detail: `content ${n}` })),
    );
    expect(lines).toMatchObject(
      times(10, (n) => ({
        provider,
        event,
        verdict: "refused",
        detail: `content ${n}`,
      })),
    );
  },
);

it("bounds what one provider or module has refused, and leaves the others their lines", async () => {
  const refused = { event: "replaced", verdict: "refused" } as const;
  const noisy = times(300, (n) => ({
    ...refused,
    module: "registry.terraform.io/acme/noisy/aws",
    version: `1.0.${n}`,
  }));
  const quiet = { ...refused, provider: "registry.terraform.io/acme/quiet" };
  const lines = await record([...noisy, quiet]);
  expect(lines).toHaveLength(61);
  expect(lines).toContainEqual(expect.objectContaining(quiet));
});

it("bounds what all of them have refused together", async () => {
  const lines = await record(
    times(5_000, (n) => ({
      event: "quarantined",
      verdict: "refused",
      provider: `registry.terraform.io/acme/demo${n}`,
    })),
  );
  expect(lines).toHaveLength(600);
});

it.each([
  ["what was seen first", { event: "first-seen", verdict: "accepted" }],
  ["what is accepted again", { event: "judged-again", verdict: "accepted" }],
  ["what an operator revoked", { event: "revoked", verdict: "refused" }],
] as const)("writes %s each time", async (_, entry) => {
  const provider = "registry.terraform.io/acme/demo";
  const lines = await record(times(1_000, () => ({ ...entry, provider })));
  expect(lines).toHaveLength(1_000);
});
