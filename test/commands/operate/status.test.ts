import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  findNeeds,
  formatStatus,
  readFigures,
} from "../../../src/commands/operate/status.ts";
import { bearer, issueToken } from "../../client-token.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { alteredByte, onlyFor } from "../../fakes/faults.ts";
import { runCommand } from "../../running-command.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { eventually } from "../../scenes/provider-requests.ts";
import { startWorld } from "../../scenes/world.ts";
import { expectDocument } from "../documents.ts";
import { makeDirectory } from "../storage.ts";

const ci = issueToken("ci");
const auth = { tokens: [ci.configured] };

const { registry, mirror } = await startWorld({ auth });
const release = await registry.publish({ version: "1.0.0" });

const ask = (path: string) =>
  mirror.get(`/providers/registry.terraform.io/acme/${path}`, bearer(ci.token));
await ask(`widget/${release.archive("linux_amd64").filename}`);

interface Status {
  readonly ready: boolean;
  readonly problems: readonly string[];
  readonly needs: readonly { readonly what: string }[];
  readonly store: { readonly archives: number } | null;
}

async function statusOf({ configFile }: Pick<RunningMirror, "configFile">) {
  const run = await runCommand(["status", "--json", "--config", configFile]);
  const status = expectDocument("status", run.stdout) as Status;
  const isWell = status.ready && status.needs.length === 0;
  expect(run.status).toBe(isWell ? 0 : 1);
  return status;
}

describe("provender status", () => {
  it("says what runs on this machine, what it holds, how its origin answers and what was alarming, with a token of its own", async () => {
    const altered = await registry.publish({ type: "other", version: "1.0.0" });
    registry.script("archive", onlyFor(/other/, alteredByte()));
    await ask(`other/${altered.archive("linux_amd64").filename}`);
    registry.heal();
    const status = await eventually(
      () => statusOf(mirror),
      ({ store }) => store?.archives === 1,
    );
    expect(status).toMatchObject({
      ...{ running: true, ready: true, problems: [], needs: [] },
      ...{ url: mirror.url, pid: mirror.process.pid },
      ...{ directory: mirror.directory, policyMode: "enforce" },
      suspendedHosts: 0,
      origins: [{ origin: "registry.terraform.io", requests: { failed: 0 } }],
      alarms: [{ kind: "archive-tampered", count: 1 }],
    });
    const args = ["status", "--config", mirror.configFile];
    const { stdout } = await runCommand(args);
    expect(stdout).toMatch(/^ +state +ready, process \d+, since \S+Z$/m);
    expect(stdout).toMatch(/^ +store +1 archives \(/m);
    expect(stdout).toMatch(/registry\.terraform\.io +\d{4}-.*Z +\d+ ok$/m);
    expect(stdout).toMatch(/^ +archive-tampered +1 +\d{4}-/m);
  });

  it("says that nothing runs after a daemon was killed", async () => {
    const { configFile, directory } = mirror;
    await mirror.kill();
    const status = await statusOf({ configFile });
    expect(status).toMatchObject({ running: false, url: null, pid: null });
    expect(status.problems[0]).toContain(`works on ${directory}`);
  });

  it("begins with what needs a person", () => {
    const now = new Date("2026-11-28T00:00:00Z");
    const at = (days: number) => now.getTime() / 1000 + days * 86_400;
    const sample = (name: string, value: number, labels = {}) => ({
      ...{ name: `provender_${name}`, value, labels },
    });
    const wrong = [
      sample("store_free_bytes", 0),
      sample("config_last_reload_successful", 0),
      sample("pending_decisions", 1, { reason: "unknown" }),
      sample("pending_decisions", 2, { reason: "other-content" }),
      sample("undone_decisions", 1),
      sample("origin_hosts_suspended", 1),
      sample("certificate_expiry_timestamp_seconds", at(13)),
      sample("token_expiry_timestamp_seconds", at(-1)),
    ];
    const needs = findNeeds(wrong, 2 ** 30, now);
    expect(needs.map(({ what }) => what)).toEqual([
      ...["disk", "reload", "decisions", "decisions", "origins"],
      ...["certificate", "token"],
    ]);
    const text = formatStatus({
      ...{ running: true, ready: true, problems: [], needs },
      ...{ url: "https://a/", pid: 1, directory: "/", policyMode: "" },
      ...readFigures(wrong),
    });
    expect(text.split("\n").slice(0, 5)).toEqual([
      expect.stringMatching(/^The disk has 0 B free.*: provender doctor$/),
      "The last reload failed, or the next one would, and the configuration before is in use: provender config",
      "3 releases wait for a decision: provender trust list",
      "An older backup took 1 decision back: provender trust list",
      "1 host of origins fails or asks not to be asked: provender doctor",
    ]);
    const well = [
      sample("store_free_bytes", 2 ** 31),
      sample("config_last_reload_successful", 1),
      sample("pending_decisions", 0),
      sample("certificate_expiry_timestamp_seconds", at(15)),
      sample("token_expiry_timestamp_seconds", 0),
    ];
    expect(findNeeds(well, 2 ** 30, now)).toEqual([]);
  });

  it("knows a daemon on every address by the certificate of the configuration, whatever names that and its URL have", async () => {
    const authority = await createAuthority();
    const issued = await authority.issue(["mirror.example.com"]);
    const folder = makeDirectory({
      ...{ "site.pem": issued.certificate, "site.key": issued.key },
      "ca.pem": authority.caPem,
    });
    const certificate = join(folder, "site.pem");
    const tls = { certificate, key: join(folder, "site.key") };
    const caFile = join(folder, "ca.pem");
    const names = ["mirror.nowhere.invalid"];
    const listen = { host: "0.0.0.0", port: 0, names, tls };
    const own = await startMirror({ caFile, config: { listen } });
    expect(own.url).toContain(names[0]);
    expect(await statusOf(own)).toMatchObject({ ready: true, url: own.url });
    // Another one is not taken for it.
    const other = await (await createAuthority()).issue(["a.test"]);
    writeFileSync(certificate, other.certificate);
    const status = await statusOf(own);
    expect(status).toMatchObject({ running: false, store: null });
    expect(status.problems[0]).toContain("does not answer");
  });
});
