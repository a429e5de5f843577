import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { runCommand } from "../../running-command.ts";
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import { bearer } from "../../client-token.ts";
import { eventually } from "../../scenes/provider-requests.ts";
import {
  findNeeds,
  formatStatus,
  readFigures,
} from "../../../src/commands/operate/status.ts";
import { expectDocument } from "../documents.ts";
import { ci, startDoctorScene } from "./doctor-scene.ts";

const scene = await startDoctorScene();
const release = await scene.registry.publish({ version: "1.0.0" });

const ask = (path: string) =>
  scene.mirror.get(
    `/providers/registry.terraform.io/acme/${path}`,
    bearer(ci.token),
  );
await ask(`widget/${release.archive("linux_amd64").filename}`);

interface Status {
  readonly running: boolean;
  readonly ready: boolean;
  readonly problems: readonly string[];
  readonly needs: readonly { readonly what: string }[];
  readonly url: string | null;
  readonly pid: number | null;
  readonly store: { readonly archives: number } | null;
  readonly alarms: readonly { readonly kind: string }[];
}

async function statusOf({ configFile }: RunningMirror) {
  const args = ["status", "--json", "--config", configFile];
  const run = await runCommand(args);
  const status = expectDocument("status", run.stdout) as Status;
  const isWell = status.ready && status.needs.length === 0;
  expect(run.status).toBe(isWell ? 0 : 1);
  return status;
}

describe("provender status", () => {
  it("says, also where clients need a token, what runs on this machine, what it holds and how its origin answers", async () => {
    const { mirror } = scene;
    const status = await eventually(
      () => statusOf(mirror),
      ({ store }) => store?.archives === 1,
    );
    expect(status).toMatchObject({
      ...{ running: true, ready: true, problems: [], needs: [] },
      url: mirror.url,
      pid: mirror.process.pid,
      directory: mirror.directory,
      policyMode: "enforce",
      suspendedHosts: 0,
      origins: [{ origin: "registry.terraform.io", requests: { failed: 0 } }],
      alarms: [],
    });
    const args = ["status", "--config", mirror.configFile];
    const { stdout } = await runCommand(args);
    expect(stdout).toMatch(/^ +state +ready, process \d+, since \S+Z$/m);
    expect(stdout).toMatch(/^ +store +1 archives \(/m);
    expect(stdout).toMatch(/registry\.terraform\.io +\d{4}-.*Z +\d+ ok$/m);
    expect(stdout).toMatch(/^No alarm since the start\.$/m);
  });

  it("names the alarms that were raised", async () => {
    const release = await scene.registry.publish({
      ...{ type: "gadget", version: "1.0.0" },
    });
    await ask("gadget/1.0.0.json");
    const archive = release.archive("linux_amd64");
    scene.registry.script("archive", (reply) => ({
      ...reply,
      body: Buffer.alloc(archive.bytes.length),
    }));
    await ask(`gadget/${archive.filename}`);
    scene.registry.heal();
    const { alarms } = await statusOf(scene.mirror);
    expect(alarms).toMatchObject([{ kind: "archive-tampered" }]);
  });

  it("begins with what needs a person, and is short whatever there is", () => {
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
      ...Array.from({ length: 50 }, (_, n) => [
        sample("origin_last_success_timestamp_seconds", at(0), { origin: n }),
        sample("alarms_total", 1, { kind: `kind${n}` }),
      ]).flat(),
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
    const lines = text.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(25);
    expect(lines[0]).toMatch(/^The disk has 0 B free.*: provender doctor$/);
    expect(lines[2]).toBe(
      "3 releases wait for a decision: provender trust list",
    );
    expect(lines[3]).toBe(
      "An older backup took 1 decision back: provender trust list",
    );
    const well = [
      sample("store_free_bytes", 2 ** 31),
      sample("config_last_reload_successful", 1),
      sample("pending_decisions", 0),
      sample("certificate_expiry_timestamp_seconds", at(15)),
      sample("token_expiry_timestamp_seconds", 0),
    ];
    expect(findNeeds(well, 2 ** 30, now)).toEqual([]);
  });

  it("says that nothing runs, also after a daemon was killed", async () => {
    const own = await startMirror();
    expect(await statusOf(own)).toMatchObject({ ready: true });
    await own.kill();
    const status = await statusOf(own);
    expect(status).toMatchObject({ running: false, url: null, pid: null });
    expect(status.problems[0]).toContain(`works on ${own.directory}`);
  });

  it("finds a daemon on every address under a name that means nothing here", async () => {
    const names = ["mirror.nowhere.invalid"];
    const listen = { host: "0.0.0.0", port: 0, names };
    const own = await startMirror({ config: { listen } });
    expect(own.url).toContain(names[0]);
    const status = await statusOf(own);
    expect(status).toMatchObject({ ready: true, url: own.url });
  });

  it("knows a daemon by the certificate of the configuration, whatever name that is for", async () => {
    const authority = await createAuthority();
    const issued = await authority.issue(["mirror.example.com"]);
    const folder = scratch("tls");
    const place = (name: string, text: string) => {
      writeFileSync(join(folder, name), text, { mode: 0o600 });
      return join(folder, name);
    };
    const tls = {
      certificate: place("site.pem", issued.certificate),
      key: place("site.key", issued.key),
    };
    const caFile = place("ca.pem", authority.caPem);
    const listen = { host: "0.0.0.0", port: 0, tls };
    const own = await startMirror({ caFile, config: { listen } });
    expect(await statusOf(own)).toMatchObject({ ready: true });
    // Another one is not taken for it.
    const { certificate } = await (await createAuthority()).issue(["a.test"]);
    writeFileSync(tls.certificate, certificate);
    const status = await statusOf(own);
    expect(status).toMatchObject({ running: false, store: null });
    expect(status.problems[0]).toContain("does not answer");
  });
});
