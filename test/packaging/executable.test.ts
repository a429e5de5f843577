import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { listLibraries } from "../../packaging/image.ts";
import { writeConfiguration } from "../acceptance/clients.ts";
import { scratch, startDaemon } from "../running-mirror.ts";
import { makeInstalledScene, type InstalledScene } from "./installed.ts";
import { has, isRoot, makeRelease, run } from "./release.ts";

const canChroot =
  isRoot && has("chroot", "the executable in a root of its own");

/** To find chroot; in the root there is nothing to find. */
const env = { PATH: process.env.PATH };

describe("the single executable", () => {
  let root: string;
  let scene: InstalledScene;

  beforeAll(async () => {
    const { file } = await makeRelease("executable", "-linux-x64");
    scene = await makeInstalledScene();
    root = scratch("empty");
    for (const library of await listLibraries()) {
      mkdirSync(dirname(join(root, library.name)), { recursive: true });
      copyFileSync(library.file, join(root, library.name));
      chmodSync(join(root, library.name), 0o755);
    }
    copyFileSync(file, join(root, "provender"));
  }, 120_000);

  it.skipIf(!canChroot)(
    "serves, and locks what it serves, with nothing else in its root",
    async () => {
      scene.configure(root);
      const args = [root, "/provender", "serve"];
      const daemon = await startDaemon("chroot", args, { env });
      const url = `https://127.0.0.1:${new URL(daemon.url).port}/`;
      const ca = "/var/lib/provender/tls/v1/ca.pem";
      await scene.initThrough(url, join(root, ca));
      const source = "registry.terraform.io/acme/widget";
      mkdirSync(join(root, "work"));
      await writeConfiguration(join(root, "work"), { widget: { source } });
      const lockFile = join(root, "work/.terraform.lock.hcl");
      writeFileSync(
        lockFile,
        `provider "${source}" {\n  version = "1.2.3"\n}\n`,
      );

      const lock = ["lock", "/work", "--platform", "linux_amd64"];
      const from = ["--mirror", url, "--ca", ca];
      await run("chroot", [root, "/provender", ...lock, ...from], { env });
      expect(await readFile(lockFile, "utf8")).toMatch(/h1:/);
      expect(await daemon.stop()).toBe(0);
    },
    60_000,
  );
});
