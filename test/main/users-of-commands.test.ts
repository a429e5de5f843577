import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../fakes/authority.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import { runCommand, type CommandOptions } from "../running-command.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { canBeOthers, source, user } from "../scenes/other-user.ts";
import { makeStorage } from "../commands/storage.ts";

let registry: Registry;
let config: ReturnType<typeof originsOf>;

const linux = ["--platform", "linux_amd64"];

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  await registry.publish({ version: "1.3.0", platforms: ["linux_amd64"] });
  config = originsOf(authority, registry);
});
afterAll(() => registry.stop());

function beside(
  { configFile }: Pick<RunningMirror, "configFile">,
  args: readonly string[],
  options: CommandOptions = {},
) {
  return runCommand([...args, "--config", configFile], options);
}

describe.runIf(canBeOthers)("the users of commands", () => {
  /** A daemon of another user, which a member of its group and everybody can name. */
  async function startTheirs() {
    const own = await startMirror({ config, user });
    chmodSync(own.directory, 0o710);
    const file = join(scratch("group"), "provender.yaml");
    writeFileSync(file, `storage: { directory: ${own.directory} }\n`);
    chmodSync(join(file, ".."), 0o755);
    const as = (uid: number, gid: number, ...args: readonly string[]) =>
      spawnSync(process.execPath, [source, ...args, "--config", file], {
        ...{ uid, gid, encoding: "utf8", cwd: "/" },
        env: { PATH: process.env.PATH, HOME: "/", SUDO_USER: "someone" },
      });
    return { own, as };
  }

  const member = 65_000;

  it("are the daemon's own user and root, and the audit log names who it was", async () => {
    const { own, as } = await startTheirs();
    const key = ["--for", "acme", "--key", "A".repeat(40)];
    for (const gid of [user, member]) {
      const stranger = as(member, gid, "trust", "revoke", ...key);
      expect(stranger.status).toBe(2);
      expect(stranger.stderr).toContain(`belongs to the user ${user}`);
    }
    for (const [uid, verb] of [
      [user, "revoke"],
      [0, "forget"],
    ] as const)
      expect(as(uid, uid, "trust", verb, ...key).stderr).not.toContain(
        "belongs to the user",
      );
    await own.stop();
    const log = join(own.directory, "audit", "decisions.jsonl");
    const operators = readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { operator?: string }).operator);
    expect(operators).toEqual(["someone", "someone"]);
  });

  it("have their own files read with their rights, and nothing of them quoted", async () => {
    const { own, as } = await startTheirs();
    const cwd = scratch("own");
    const bundle = ["export", "--to", "week.tar", "acme/widget@1.3.0"];
    const storage = makeStorage(config);
    const exported = await beside(storage, [...bundle, ...linux], { cwd });
    expect(exported.status).toBe(0);
    chmodSync(cwd, 0o700);
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
    const secret = join(cwd, ".terraform.lock.hcl");
    writeFileSync(secret, "hunter2 {\n");
    for (const args of [
      ["import", secret],
      ["prefetch", "--lock-file", secret],
      ["prefetch", "--directory", cwd],
      ["lock", "--mirror", own.url, cwd],
    ]) {
      for (const uid of [user, 0]) {
        const refused = as(uid, uid, ...args);
        expect(refused.status, args.join(" ")).not.toBe(0);
        expect(refused.stdout + refused.stderr).not.toContain("hunter2");
      }
    }
    await own.stop();
  });
});
