import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { runCommand } from "../../scenes/provider-requests.ts";

let mirror: RunningMirror;

beforeAll(async () => {
  mirror = await startMirror({});
  for (const type of ["one", "two", "three"])
    await mirror.get(`/providers/unserved.example.com/acme/${type}/index.json`);
  const key = "A".repeat(40);
  for (const namespace of ["acme", "other"])
    await runCommand(
      mirror,
      ...["trust", "revoke", "--key", key],
      `registry.terraform.io/${namespace}`,
    );
});

afterAll(() => mirror.stop());

const logOf = (name: string) => join(mirror.directory, "audit", name);

describe("provender audit --verify", () => {
  it("finds nothing wrong beside the running daemon", async () => {
    const run = await runCommand(mirror, "audit", "--verify");
    expect([run.status, run.stderr]).toEqual([0, ""]);
    expect(run.stdout).toMatch(
      /^decisions\.jsonl: \d+ chained lines, .*: nothing/,
    );
    expect(run.stdout).toMatch(
      /\naudit\.jsonl: \d+ chained lines, .*: nothing/,
    );
  });

  it("has status 1 and names file and line of a change", async () => {
    const log = logOf("audit.jsonl");
    const was = readFileSync(log, "utf8");
    writeFileSync(log, was.replace("acme/two", "acme/owt"));
    const text = await runCommand(mirror, "audit", "--verify");
    const json = await runCommand(mirror, "audit", "--verify", "--json");
    writeFileSync(log, was);
    expect(text.status).toBe(1);
    expect(text.stdout).toMatch(/^audit\.jsonl:2: changed: /m);
    expect(json.status).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      version: 1,
      ok: false,
      logs: [
        { log: "decisions.jsonl", breaks: [] },
        {
          log: "audit.jsonl",
          breaks: [{ file: "audit.jsonl", line: 2, kind: "changed" }],
        },
      ],
    });
  });

  it("tells a line that was cut short, which is no break", async () => {
    const log = logOf("decisions.jsonl");
    const was = readFileSync(log, "utf8");
    appendFileSync(log, '{"at":"2026-');
    const run = await runCommand(mirror, "audit", "--verify");
    writeFileSync(log, was);
    expect(run.status).toBe(0);
    expect(run.stdout).toMatch(/^decisions\.jsonl:\d+: healed: /);
  });
});
