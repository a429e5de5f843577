import { spawnSync } from "node:child_process";
import { globSync, lstatSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canBeOthers, source, user } from "../scenes/other-user.ts";
import { TrustScene, signer, soon } from "../scenes/trust-scene.ts";
import { eventually } from "../scenes/provider-requests.ts";
import { runCommand } from "../running-command.ts";
import { scratch } from "../running-mirror.ts";

/** Uid that is neither root nor the daemon's. */
const stranger = 65533;

let scene: TrustScene;

beforeAll(async () => {
  if (canBeOthers) scene = await TrustScene.start({ user });
});
afterAll(async () => {
  if (canBeOthers) await scene.stop();
});

const command = (...args: readonly string[]) =>
  runCommand([...args, "--config", scene.mirror.configFile]);

/** Files and folders of the store that its daemon does not own or that others can read. */
function strays(): readonly string[] {
  const { directory } = scene.mirror;
  return globSync("**/*", { cwd: directory }).filter((path) => {
    const { uid, gid, mode } = lstatSync(join(directory, path));
    const isOpen = (mode & 0o077) !== 0 && !/^(?:tls|admin|oper)/.test(path);
    return uid !== user || gid !== user || isOpen;
  });
}

describe.runIf(canBeOthers)(
  "a command as root beside a daemon of another user",
  () => {
    it("revokes and approves within a second, and leaves the daemon all its files", async () => {
      const known = await signer("known");
      await scene.contact("revoked", known);
      const ask = scene.ask("revoked");
      const name = "registry.terraform.io/revoked";
      const key = ["--key", known.fingerprint, "--for", name];
      const revoked = await command("trust", "revoke", ...key);
      expect([revoked.status, revoked.stderr]).toEqual([0, ""]);
      await eventually(
        () => ask.version("1.0.0"),
        ({ status }) => status === 451,
        soon,
      );
      expect((await command("trust", "approve", ...key)).status).toBe(0);
      await eventually(
        () => ask.version("1.0.0"),
        ({ status }) => status === 200,
        soon,
      );
      expect(strays()).toEqual([]);
    });

    it("prefetches, verifies, repairs, prunes, exports and imports, and leaves the daemon all its files", async () => {
      await scene.publish("fetched", "1.0.0", await signer("fetched"));
      const spec = "fetched/thing@1.0.0";
      const platform = ["--platform", "linux_amd64"];
      const bundle = join(tmpdir(), `provender-owner-${process.pid}.tar`);
      for (const args of [
        ["prefetch", ...platform, spec],
        ["verify", "--repair"],
        ["prune"],
        ["export", ...platform, "--to", bundle, spec],
        ["import", bundle],
      ]) {
        const run = await command(...args);
        expect([args[0], run.status, run.stderr]).toEqual([
          args[0],
          0,
          expect.anything(),
        ]);
        expect([args[0], strays()]).toEqual([args[0], []]);
      }
      const { status } = await scene.ask("fetched").archive("1.0.0");
      expect(status).toBe(200);
    });

    it("refuses as a user who is neither root nor the owner, and touches nothing", () => {
      // The daemon notes uses of archives a second after its last command.
      const list = () =>
        globSync("**/*", { cwd: scene.mirror.directory }).filter(
          (path) => !path.startsWith("last-use"),
        );
      const before = list();
      const config = join(scratch("stranger"), "provender.yaml");
      writeFileSync(
        config,
        `storage: { directory: ${scene.mirror.directory} }\n`,
      );
      spawnSync("chmod", ["755", join(config, ".."), scene.mirror.directory]);
      const run = spawnSync(
        process.execPath,
        [source, "trust", "list", "--config", config],
        { uid: stranger, gid: stranger, encoding: "utf8", cwd: "/" },
      );
      expect(run.status).toBe(2);
      expect(run.stderr).toContain(`belongs to the user ${user}`);
      expect(list()).toEqual(before);
    });
  },
);
