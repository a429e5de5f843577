import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { barrier } from "../../fakes/barrier.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { runCommand, type CommandOptions } from "../../running-command.ts";
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import { canBeOthers, source, user } from "../../scenes/other-user.ts";
import { makeStorage } from "../../commands/storage.ts";

let registry: Registry;
let config: ReturnType<typeof originsOf>;
let mirror: RunningMirror;

const many = 10;
const linux = ["--platform", "linux_amd64"];

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  for (let minor = 0; minor < many; minor++)
    await registry.publish({
      version: `1.${minor}.0`,
      platforms: ["linux_amd64"],
    });
  for (const version of ["1.0.0", "1.1.0", "1.2.0"])
    await registry.publish({
      ...{ type: "slow", version, size: 400_000 },
      platforms: ["linux_amd64"],
    });
  config = originsOf(authority, registry);
  mirror = await startMirror({ config });
});
afterAll(async () => {
  await mirror.stop();
  await registry.stop();
});

function beside(
  { configFile }: Pick<RunningMirror, "configFile">,
  args: readonly string[],
  options: CommandOptions = {},
) {
  return runCommand([...args, "--config", configFile], options);
}

/** Registry that sends archives of one provider when it is let go. */
function holdArchives() {
  const held = barrier();
  registry.script("archive", held.afterBytes(100_000));
  return held;
}

describe("commands beside a daemon", () => {
  it(`prefetch ${many} packages with progress, which the daemon holds at once`, async () => {
    const spec = ["acme/widget@all"];
    const run = await beside(mirror, ["prefetch", ...linux, ...spec]);
    expect([run.status, run.stdout]).toEqual([0, ""]);
    const lines = run.stderr.match(/^\d+\/\d+ .*: fetched, .*$/gm) ?? [];
    expect(lines).toHaveLength(many);
    expect(run.stderr).toContain(`${many} fetched (`);
    const listed = await beside(mirror, ["list", "--json"]);
    const { packages } = JSON.parse(listed.stdout) as { packages: unknown[] };
    expect(packages).toHaveLength(many);
  });

  it("take a list from standard input, and files of their own directory", async () => {
    const cwd = scratch("here");
    writeFileSync(join(cwd, "specs"), "acme/widget@1.1.0\n");
    const lists = ["--list", "-", "--list", "specs"];
    const run = await beside(mirror, ["prefetch", ...linux, ...lists], {
      ...{ cwd, input: "acme/widget@1.0.0\n" },
    });
    expect([run.status, run.stderr]).toEqual([
      0,
      expect.stringContaining("2 stored already"),
    ]);
  });

  it("end their work in the daemon when they are interrupted", async () => {
    const held = holdArchives();
    const run = await beside(mirror, ["prefetch", ...linux, "acme/slow@all"], {
      interruptAfter: held.reached,
    });
    expect(run.status).toBe(1);
    expect(run.stderr).toContain("Interrupted with 3 of 3 packages not stored");
    held.release();
    registry.heal();
    const check = ["prefetch", "--check", ...linux, "acme/slow@1.0.0"];
    expect((await beside(mirror, check)).status).toBe(1);
  });

  it("end with a sentence when the daemon is killed", async () => {
    const own = await startMirror({ config });
    const held = holdArchives();
    const running = beside(own, ["prefetch", ...linux, "acme/slow@1.0.0"]);
    await held.reached;
    await own.kill();
    held.release();
    registry.heal();
    const run = await running;
    expect(run.status).toBe(1);
    expect(run.stderr).toMatch(/^provender: The daemon .* ended before /m);
    // The store is free again.
    expect((await beside(own, ["list"])).status).toBe(0);
  });

  it("end with a sentence when the daemon hangs", async () => {
    const own = await startMirror({ config });
    own.process.kill("SIGSTOP");
    const run = await beside(own, ["list"]);
    own.process.kill("SIGCONT");
    await own.stop();
    expect(run.status).toBe(1);
    expect(run.stderr).toMatch(/^provender: The daemon .* was silent for 10 s/);
  }, 30_000);

  it("end with a sentence beside a daemon of another version", async () => {
    const storage = makeStorage(config);
    const nonce = crypto.randomUUID();
    const other = createServer((socket: Socket) =>
      socket.write(`${JSON.stringify({ provender: "99.0.0", nonce })}\n`),
    ).listen(join(storage.directory, "admin.sock"));
    await once(other, "listening");
    const run = await beside(storage, ["list"]);
    other.close();
    expect(run.status).toBe(1);
    expect(run.stderr).toMatch(/is provender 99\.0\.0, and this is /);
    expect(run.stderr).toContain("restart the daemon");
  });
});

it.each([
  ["prefetch acme/widget@9.9.9", /widget 9\.9\.9 .*does not exist/],
  ["prefetch acme/none", /acme\/none does not exist/],
  ["prefetch --directory DIR", /widget 9\.9\.9 .*does not exist/],
  ["lock --mirror URL --ca CA DIR", /9\.9\.9/],
  ["export --to TREE acme/widget@9.9.9", /widget 9\.9\.9 .*does not exist/],
  ["export --bundle TREE/gone/a.tar acme/widget@1.0.0", /\(ENOENT\)/],
  ["import TREE/a.tar", /ENOENT/],
])("commands that fail say why, and nothing of users: %s", async (...row) => {
  const [line, reason] = row;
  const directory = scratch("wrong");
  const required = `{ source = "acme/widget", version = "9.9.9" }`;
  writeFileSync(
    join(directory, "main.tf"),
    `terraform {\n  required_providers {\n    w = ${required}\n  }\n}\n`,
  );
  const named = { DIR: directory, TREE: scratch("tree"), URL: mirror.url };
  const names = Object.entries({ ...named, CA: mirror.caFile });
  const args = line
    .split(" ")
    .map((word) =>
      names.reduce((text, [name, value]) => text.replace(name, value), word),
    );
  const run = await beside(mirror, args);
  expect(run.status).toBe(1);
  expect(run.stderr).toMatch(reason);
  expect(run.stderr).not.toMatch(/\buser\b|daemon|stop it/);
});

describe("commands without a daemon", () => {
  it("wait for one another, and name the one that goes on for long", async () => {
    const storage = makeStorage(config);
    const [one, other] = await Promise.all([
      beside(storage, ["list"]),
      beside(storage, ["verify"]),
    ]);
    expect([one.status, other.status]).toEqual([0, 0]);
    const held = holdArchives();
    const running = beside(storage, ["prefetch", ...linux, "acme/slow@1.0.0"]);
    await held.reached;
    const late = await beside(storage, ["list"]);
    held.release();
    registry.heal();
    expect((await running).status).toBe(0);
    expect(late.status).toBe(1);
    expect(late.stderr).toMatch(
      /^provender: provender prefetch \(process \d+\) works on the storage directory /,
    );
  }, 30_000);
});

describe.runIf(canBeOthers)("the users of a daemon's socket", () => {
  it("are its owner and its group, and the audit log names who it was", async () => {
    const own = await startMirror({ config, user });
    const { mode, uid } = lstatSync(join(own.directory, "admin.sock"));
    expect([mode & 0o777, uid]).toEqual([0o660, user]);
    chmodSync(own.directory, 0o710);
    const file = join(scratch("group"), "provender.yaml");
    writeFileSync(file, `storage: { directory: ${own.directory} }\n`);
    chmodSync(join(file, ".."), 0o755);
    const key = ["--for", "acme", "--key", "A".repeat(40), "--config", file];
    const member = 65_000;
    const as = (uid: number, gid: number, verb: string) =>
      spawnSync(process.execPath, [source, "trust", verb, ...key], {
        ...{ uid, gid, encoding: "utf8", cwd: "/" },
        env: { PATH: process.env.PATH, HOME: "/", SUDO_USER: "someone" },
      });
    expect(as(member, user, "revoke").stderr).not.toContain(
      "belongs to the user",
    );
    expect(as(0, 0, "approve").stderr).not.toContain("belongs to the user");
    const stranger = as(member, member, "revoke");
    expect(stranger.status).toBe(2);
    expect(stranger.stderr).toContain(`belongs to the user ${user}`);
    await own.stop();
    const log = join(own.directory, "audit", "decisions.jsonl");
    const operators = readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { operator?: string }).operator);
    expect(operators).toEqual([`user ${member}`, "someone"]);
  });

  it("have nothing read or written by it where they say, but for its own user and root", async () => {
    const own = await startMirror({ config, user });
    chmodSync(own.directory, 0o710);
    const file = join(scratch("group"), "provender.yaml");
    writeFileSync(file, `storage: { directory: ${own.directory} }\n`);
    chmodSync(join(file, ".."), 0o755);
    const places = scratch("places");
    chmodSync(places, 0o777);
    const member = 65_000;
    const as = (uid: number, ...args: readonly string[]) =>
      spawnSync(process.execPath, [source, ...args, "--config", file], {
        ...{ uid, gid: user, encoding: "utf8", cwd: "/" },
        env: { PATH: process.env.PATH, HOME: "/" },
      });
    const spec = [...linux, "acme/widget@1.3.0"];
    // The registry of this process answers nothing while it waits for another.
    expect(await beside(own, ["prefetch", ...spec])).toMatchObject({
      status: 0,
    });
    // Secrets of the daemon, which links of the member lead to.
    const secret = join(own.directory, "secret");
    writeFileSync(secret, "hunter2 {\n");
    chownSync(secret, user, 0);
    chmodSync(secret, 0o600);
    const links = scratch("links");
    chmodSync(links, 0o755);
    for (const name of ["main.tf.json", "main.tf", ".terraform.lock.hcl"])
      symlinkSync(secret, join(links, name));
    symlinkSync(own.directory, join(links, "storage"));
    const look = () => [
      readdirSync(own.directory).toSorted(),
      readFileSync(join(own.directory, "store.json"), "utf8"),
    ];
    const before = look();
    for (const args of [
      ["import", join(links, "main.tf")],
      ["prefetch", "--list", join(links, "main.tf")],
      ["prefetch", "--lock-file", join(links, ".terraform.lock.hcl")],
      ["lock", "--mirror", own.url, links],
      ["prefetch", "--directory", links],
      ["export", "--since", join(links, "main.tf"), "--bundle", "/x", ...spec],
      ["export", "--to", own.directory, ...spec],
      ["export", "--bundle", join(links, "storage", "store.json"), ...spec],
      ["export", "--oci", join(links, "storage", "blobs"), ...spec],
    ]) {
      const run = as(member, ...args);
      expect(run.status, args.join(" ")).not.toBe(0);
      expect(run.stdout + run.stderr).not.toContain("hunter2");
    }
    expect(look()).toEqual(before);
    rmSync(secret);
    for (const args of [
      ["export", "--to", join(places, "tree"), ...spec],
      ["export", "--bundle", join(places, "a.tar"), ...spec],
      ["export", "--oci", join(places, "oci"), ...spec],
      ["prefetch", "--directory", places],
      ["export", "--directory", places, "--to", join(places, "tree")],
    ]) {
      const run = as(member, ...args);
      expect(run.stderr).toContain(
        `the daemon uses none that user ${member} names: run it as the daemon's own user`,
      );
      expect(run.status).toBe(1);
    }
    expect(readdirSync(places)).toEqual([]);
    for (const path of [own.directory, join(links, "storage", "store.json")]) {
      const inside = as(user, "export", "--bundle", path, ...spec);
      expect(inside.stderr).toContain("(it is in the storage directory)");
      expect(inside.status).toBe(1);
    }
    const mine = as(user, "export", "--to", join(places, "tree"), ...spec);
    expect(mine.stderr).toContain("1 packages exported, 0 failed");
    expect(readdirSync(places)).toEqual(["tree"]);
    await own.stop();
  });

  it("have bundles imported that only they can read, and no other file", async () => {
    const cwd = scratch("own");
    const bundle = ["export", "--bundle", "week.tar", "acme/widget@1.3.0"];
    const storage = makeStorage(config);
    const exported = await beside(storage, [...bundle, ...linux], { cwd });
    expect(exported.status).toBe(0);
    chmodSync(cwd, 0o700);
    const own = await startMirror({ config, user });
    const run = await beside(own, ["import", "week.tar"], { cwd });
    expect(run.stderr).toContain("week.tar: 1 releases, 1 archives imported");
    expect(run.status).toBe(0);
    const missing = await beside(own, ["import", "gone.tar"], { cwd });
    expect([missing.status, missing.stderr]).toEqual([
      1,
      expect.stringContaining(
        "gone.tar is refused as a bundle (it cannot be read, ENOENT)",
      ),
    ]);
    const folder = await beside(own, ["import", "."], { cwd });
    expect(folder.stderr).toContain("it is not a file");
    await own.stop();
  });
});
