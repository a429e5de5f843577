import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { layOutStore } from "../../../src/store/layout.ts";
import { endingWithTests } from "../../child-process.ts";
import { program, startMirror } from "../../running-mirror.ts";
import { awaitAudit, runCommand } from "../../scenes/provider-requests.ts";
import { askDatabase } from "../../store/stores.ts";
import { expectDocument } from "../documents.ts";

const mirror = await startMirror({});
for (const type of ["one", "two", "three"])
  await mirror.get(`/providers/unserved.example.com/acme/${type}/index.json`);
await awaitAudit(mirror, ({ event }) => event === "refused", 3);
const key = "A".repeat(40);
const env = { SUDO_USER: "someone" };
for (const namespace of ["acme", "other"])
  await runCommand(
    { ...mirror, env },
    ...["trust", "revoke", "--key", key, "--for", namespace],
  );

describe("provender audit", () => {
  async function entries(...args: readonly string[]) {
    const run = await runCommand(mirror, "audit", "--json", ...args);
    expect([run.status, run.stderr]).toEqual([0, ""]);
    const { entries } = expectDocument("audit", run.stdout) as {
      readonly entries: readonly Record<string, string>[];
    };
    return entries;
  }

  it("prints what was decided, by whom, and asked, by time", async () => {
    const all = await entries();
    const told = all.map(({ event, operator }) => [event, operator]);
    expect(told).toEqual([
      ...Array<unknown>(3).fill(["refused", undefined]),
      ...Array<unknown>(2).fill(["revoked", "someone"]),
    ]);
    const times = all.map(({ at = "" }) => at);
    expect(times).toEqual(times.toSorted());
    expect(await entries("-n", "2")).toEqual(all.slice(-2));
    const text = await runCommand(mirror, "audit");
    expect(text.stdout.trimEnd().split("\n")).toHaveLength(5);
    expect(text.stdout).toMatch(
      /refused +refused +\S+\/acme\/two .*127\.0\.0\.1/,
    );
  });

  it.each([
    [["unserved.example.com/acme/two"], 1],
    [["Unserved.example.com/ACME/two@>=1"], 0],
    [["--since", "1h"], 5],
    [["--since", "2100-01-01T00:00"], 0],
    [["-n", "4"], 4],
  ] as const)("with %j prints that many: %i", async (args, count) => {
    expect(await entries(...args)).toHaveLength(count);
  });

  it.each([
    ["--since yesterday", ""],
    ["-n none", ""],
    ["not a spec", ""],
    // One document has an end; programs read the log.
    ["--follow --json", "the daemon's log has each entry"],
  ])("has status 2 for %j", async (line, says) => {
    const run = await runCommand(mirror, "audit", ...line.split(" "));
    expect(run.status).toBe(2);
    expect(run.stdout === "").toBe(says === "");
    expect(run.stdout).toContain(says);
  });

  it("with --follow prints the newest, then each entry that comes once, until it is ended", async () => {
    const { configFile } = mirror;
    const args = ["audit", "--follow", "-n", "1", "--config", configFile];
    const child = spawn(
      ...endingWithTests(process.execPath, [program, ...args]),
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const exit = once(child, "exit");
    let said = "";
    const read = (chunk: string) => (said += chunk);
    child.stdout.setEncoding("utf8").on("data", read);
    await once(child.stdout, "data");
    await mirror.get("/providers/unserved.example.com/acme/four/index.json");
    while (!said.includes("/acme/four")) await once(child.stdout, "data");
    child.kill("SIGINT");
    expect(await exit).toEqual([130, null]);
    expect(said.trimEnd().split("\n")).toEqual([
      expect.stringContaining("revoked"),
      expect.stringContaining("/acme/four"),
    ]);
  });

  it("lets no text of others drive a terminal", async () => {
    const text = `INSERT INTO events (at, event, verdict, rest, times)
      VALUES ('2026-01-01T00:00:00.000Z', 'refused', 'refused', ?, 1)`;
    const rest = String.raw`{"detail":"\u001b[2J\u202e"}`;
    askDatabase(layOutStore(mirror.directory), text, rest);
    const run = await runCommand(mirror, "audit");
    expect(run.stdout).toContain(String.raw`\u001b[2J\u202e`);
    expect(run.stdout).toMatch(/^[\x20-\x7e\n]*$/);
  });
});
