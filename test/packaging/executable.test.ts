import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listLibraries } from "../../packaging/image.ts";
import { makeArchive } from "../fakes/archive.ts";
import { scratch } from "../running-mirror.ts";
import { makeInstalledScene, type InstalledScene } from "./installed.ts";
import { elsewhere, has, isRoot, makeRelease, run } from "./release.ts";
import { startServing } from "./serving.ts";

const canChroot =
  isRoot && (await has("chroot", "the executable in a root of its own"));

/** To find chroot; in the root there is nothing to find. */
const env = { PATH: process.env.PATH };

describe("the single executable", () => {
  let file: string;
  let root: string;
  let scene: InstalledScene;

  const inRoot = (...args: readonly string[]) =>
    run("chroot", [root, "/provender", ...args], { env });

  beforeAll(async () => {
    file = (await makeRelease("executable", "-linux-x64")).file;
    scene = await makeInstalledScene();
    root = scratch("empty");
    copyFileSync(file, join(root, "provender"));
    for (const library of await listLibraries()) {
      mkdirSync(dirname(join(root, library.name)), { recursive: true });
      copyFileSync(library.file, join(root, library.name));
      chmodSync(join(root, library.name), 0o755);
    }
  }, 120_000);

  afterAll(async () => {
    await scene.registry.stop();
  });

  it("is the same bytes when it is made again, elsewhere", async () => {
    const again = await makeRelease("executable", "-linux-x64", {
      env: elsewhere,
    });
    expect((await readFile(again.file)).equals(await readFile(file))).toBe(
      true,
    );
  }, 120_000);

  it.skipIf(!canChroot)(
    "hashes, in a root with the libraries of C and C++ alone",
    async () => {
      const archive = await makeArchive({
        type: "demo",
        version: "1.0.0",
        os: "linux",
        arch: "amd64",
      });
      writeFileSync(join(root, "demo.zip"), archive.bytes);
      const { stdout } = await inRoot("hash", "/demo.zip");
      expect(stdout).toBe(
        `${archive.h1}  /demo.zip\nzh:${archive.sha256}  /demo.zip\n`,
      );
    },
  );

  it.skipIf(!canChroot)(
    "serves, and completes lock files from a running mirror",
    async () => {
      scene.configure(root);
      const daemon = await startServing(
        "chroot",
        [root, "/provender", "serve"],
        { env },
      );
      const url = `https://127.0.0.1:${new URL(daemon.url).port}/`;
      const caFile = join(root, "var/lib/provender/tls/v1/ca.pem");
      await scene.initThrough(url, caFile);
      mkdirSync(join(root, "work"));
      const text = `terraform {\n  required_providers {\n    widget = { source = "registry.terraform.io/acme/widget" }\n  }\n}\n`;
      writeFileSync(join(root, "work/main.tf"), text);
      const lock = `provider "registry.terraform.io/acme/widget" {\n  version = "1.2.3"\n}\n`;
      writeFileSync(join(root, "work/.terraform.lock.hcl"), lock);
      await inRoot(
        "lock",
        "/work",
        "--platform",
        "linux_amd64",
        "--mirror",
        url,
        "--ca",
        "/var/lib/provender/tls/v1/ca.pem",
      );
      const locked = await readFile(
        join(root, "work/.terraform.lock.hcl"),
        "utf8",
      );
      expect(locked).toMatch(/h1:/);
      expect((await daemon.stop()).status).toBe(0);
    },
  );
});
