import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startMirror } from "../../running-mirror.ts";
import { runCommand } from "../../scenes/provider-requests.ts";

const mirror = await startMirror({});
for (const type of ["one", "two", "three"])
  await mirror.get(`/providers/unserved.example.com/acme/${type}/index.json`);
const key = "A".repeat(40);
for (const namespace of ["acme", "other"])
  await runCommand(
    mirror,
    ...["trust", "revoke", "--key", key],
    ...["--for", `registry.terraform.io/${namespace}`],
  );

const logOf = (name: string) => join(mirror.directory, "audit", name);

describe("provender audit", () => {
  async function entries(...args: readonly string[]) {
    const run = await runCommand(mirror, "audit", "--json", ...args);
    expect([run.status, run.stderr]).toEqual([0, ""]);
    const document = JSON.parse(run.stdout) as {
      version: number;
      entries: Record<string, string>[];
    };
    expect(document.version).toBe(1);
    return document.entries;
  }

  it("prints both logs by time", async () => {
    const all = await entries();
    expect(all.map(({ event }) => event)).toEqual([
      ...["refused", "refused", "refused"],
      ...["revoked", "revoked"],
    ]);
    const times = all.map(({ at = "" }) => at);
    expect(times).toEqual(times.toSorted());
    const text = await runCommand(mirror, "audit");
    expect(text.stdout.trimEnd().split("\n")).toHaveLength(5);
    expect(text.stdout).toMatch(
      /refused +refused +\S+\/acme\/two .*127\.0\.0\.1/,
    );
  });

  it.each([
    [["--verdict", "refused", "--event", "refused"], 3],
    [["unserved.example.com/acme/two"], 1],
    [["--event", "revoked", "--since", "1h"], 2],
    [["--until", "2100-01-01T00:00"], 5],
    [["--asker", "127.0.0.1"], 3],
  ] as const)("with %j prints that many: %i", async (args, count) => {
    expect(await entries(...args)).toHaveLength(count);
  });

  it.each([
    [["--since", "yesterday"]],
    [["--verdict", "perhaps"]],
    [["not a spec"]],
  ])("has status 2 for %j", async (args) => {
    const run = await runCommand(mirror, "audit", ...args);
    expect([run.status, run.stdout]).toEqual([2, ""]);
  });

  it("lets no text of others drive a terminal", async () => {
    const log = logOf("audit.jsonl");
    const was = readFileSync(log, "utf8");
    const line = String.raw`{"at":"2026-01-01","event":"refused","detail":"\u001b[2J\u202e"}`;
    appendFileSync(log, `${line}\n`);
    const run = await runCommand(mirror, "audit", "--until", "2026-01-02");
    writeFileSync(log, was);
    expect(run.stdout).toContain(String.raw`\u001b[2J\u202e`);
    expect(run.stdout).toMatch(/^[\x20-\x7e\n]*$/);
  });
});
