import { spawnSync } from "node:child_process";
import { chmodSync, globSync, lstatSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readDecisions } from "../../src/store/database/audit-log.ts";
import { makeStorage } from "../commands/storage.ts";
import { runCommand, type CommandOptions } from "../running-command.ts";
import { scratch } from "../running-mirror.ts";
import { canBeOthers, source, user } from "../scenes/other-user.ts";
import {
  signer,
  startTrustScene,
  type TrustScene,
} from "../scenes/trust-scene.ts";

describe.runIf(canBeOthers)("commands beside a daemon of another user", () => {
  const linux = ["--platform", "linux_amd64"];
  const spec = "fetched/thing@1.0.0";
  let scene: TrustScene;
  /** A configuration that everybody can read. */
  let file: string;

  beforeAll(async () => {
    scene = await startTrustScene({ user });
    const { directory } = scene.mirror;
    // Members of its group can name what is in it.
    chmodSync(directory, 0o710);
    file = join(scratch("group"), "provender.yaml");
    writeFileSync(file, `storage: { directory: ${directory} }\n`);
    chmodSync(join(file, ".."), 0o755);
    await scene.publish("fetched", "1.0.0", await signer("fetched"));
  });

  const asRoot = (args: readonly string[], options: CommandOptions = {}) =>
    runCommand([...args, "--config", scene.mirror.configFile], options);

  const as = (uid: number, gid: number, ...args: readonly string[]) =>
    spawnSync(process.execPath, [source, ...args, "--config", file], {
      ...{ uid, gid, encoding: "utf8", cwd: "/" },
      env: { PATH: process.env.PATH, HOME: "/", SUDO_USER: "someone" },
    });

  // The daemon notes uses of archives a second after its last command.
  const list = () =>
    globSync("**/*", { cwd: scene.mirror.directory }).filter(
      (path) => !path.startsWith("last-use"),
    );

  /** Files and folders of the store that its daemon does not own or that others can read. */
  const strays = () =>
    list().filter((path) => {
      const at = join(scene.mirror.directory, path);
      const { uid, gid, mode } = lstatSync(at);
      const isOpen = (mode & 0o077) !== 0 && !path.startsWith("tls");
      return uid !== user || gid !== user || isOpen;
    });

  it("are its own user's and root's, and the audit log names who it was; a stranger's touch nothing", async () => {
    const { directory } = scene.mirror;
    const key = ["--for", "acme", "--key", "A".repeat(40)];
    const before = list();
    for (const gid of [user, 65_000]) {
      const stranger = as(65_000, gid, "trust", "revoke", ...key);
      expect(stranger.status).toBe(2);
      expect(stranger.stderr).toContain(`belongs to the user ${user}`);
    }
    expect(list()).toEqual(before);
    expect(as(user, user, "trust", "revoke", ...key).status).toBe(0);
    expect(as(0, 0, "trust", "forget", ...key).status).toBe(0);
    const log = join(directory, "audit", "decisions.jsonl");
    const decided = await readDecisions(log);
    expect(decided.map(({ operator }) => operator)).toEqual([
      ...["someone", "someone"],
    ]);
    expect(strays()).toEqual([]);
  });

  it("work as root, and leave the daemon all its files", async () => {
    const known = await signer("known");
    await scene.contact("revoked", known);
    const key = ["--key", known.fingerprint, "--for", "revoked"];
    const place = scratch("owner");
    chmodSync(place, 0o777);
    const bundle = join(place, "bundle.tar");
    for (const [args, outcome] of [
      [["trust", "revoke", ...key], "451 key-refused"],
      [["trust", "approve", ...key], "200"],
      [["prefetch", ...linux, spec]],
      [["verify", "--repair"]],
      [["prune"]],
      [["export", ...linux, "--to", bundle, spec]],
      [["import", bundle]],
    ] as const) {
      const run = await asRoot(args);
      expect([args[0], run.status, strays()]).toEqual([args[0], 0, []]);
      if (outcome) await scene.expectOutcome("revoked", "1.0.0", outcome);
    }
    expect(await scene.ask("fetched").delivery("1.0.0")).toBe("200");
  });

  it("have their own files read with their rights, and nothing of them quoted", async () => {
    const cwd = scratch("own");
    const bundle = ["export", "--to", "week.tar", ...linux, spec];
    const { configFile } = makeStorage(scene.config);
    const args = [...bundle, "--config", configFile];
    expect((await runCommand(args, { cwd })).status).toBe(0);
    chmodSync(cwd, 0o700);
    const run = await asRoot(["import", "week.tar"], { cwd });
    expect(run.stderr).toContain("week.tar: 1 releases, ");
    expect(run.status).toBe(0);
    const secret = join(cwd, ".terraform.lock.hcl");
    writeFileSync(secret, "hunter2 {\n");
    for (const args of [
      ["import", secret],
      ["prefetch", "--lock-file", secret],
      ["prefetch", "--directory", cwd],
      ["lock", "--mirror", scene.mirror.url, cwd],
    ])
      for (const uid of [user, 0]) {
        const refused = as(uid, uid, ...args);
        expect(refused.status, args.join(" ")).not.toBe(0);
        expect(refused.stdout + refused.stderr).not.toContain("hunter2");
      }
  });
});
