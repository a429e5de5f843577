import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { scratch, startDaemon } from "../running-mirror.ts";
import { makeInstalledScene, type InstalledScene } from "./installed.ts";
import { has, isRoot, makeRelease, run } from "./release.ts";

const canUnpack = has("umoci", "the container image");
const canRun = isRoot && has("runc", "the container image with runc");

/** The parts of an OCI bundle's config.json that are set here. */
interface BundleConfig {
  process: Record<string, unknown> & { user: { uid: number } };
  root: { readonly: boolean };
  mounts: readonly { readonly destination: string }[];
  linux: { namespaces: readonly { readonly type: string }[] };
}

describe.skipIf(!canUnpack)("the container image", () => {
  let image: string;
  let bundle: string;
  let scene: InstalledScene;
  let store: string;

  beforeAll(async () => {
    image = (await makeRelease("image", "-image.tar")).file;
    scene = await makeInstalledScene();
    const layout = scratch("layout");
    await run("tar", ["-xf", image, "-C", layout]);
    bundle = join(scratch("bundle"), "bundle");
    const { stdout } = await run("umoci", ["ls", "--layout", layout]);
    const from = `${layout}:${stdout.trim()}`;
    const rootless = isRoot ? [] : ["--rootless"];
    await run("umoci", ["unpack", ...rootless, "--image", from, bundle]);
    store = scratch("store");
  }, 180_000);

  it("is at most 90 MB, has no shell and runs as user 10001", async () => {
    expect(statSync(image).size).toBeLessThan(90e6);
    const programs = ["-type", "f", "-perm", "/111", "-printf", "/%P\\n"];
    const root = join(bundle, "rootfs");
    const { stdout } = await run("find", [root, ...programs]);
    const names = stdout.trim().split("\n");
    expect(
      names.filter((name) => !/^\/(?:lib|lib64)\//.test(name)).sort(),
    ).toEqual(["/usr/lib/provender/app/main.js", "/usr/lib/provender/node"]);
    const config = JSON.parse(
      readFileSync(join(bundle, "config.json"), "utf8"),
    ) as BundleConfig;
    expect(config.process.user.uid).toBe(10001);
  });

  it.skipIf(!canRun)(
    "serves as PID 1 on a read-only root without capabilities, and ends in order",
    async () => {
      const file = join(bundle, "config.json");
      const config = JSON.parse(readFileSync(file, "utf8")) as BundleConfig;
      const settings = scratch("settings");
      scene.configure(settings);
      await run("chmod", ["-R", "a+rX", settings]);
      await run("chown", ["10001:10001", store]);
      Object.assign(config.process, {
        ...{ terminal: false, noNewPrivileges: true, capabilities: {} },
      });
      config.root.readonly = true;
      // The network is this machine's, where the registry is.
      config.linux.namespaces = config.linux.namespaces.filter(
        ({ type }) => !["network", "user", "cgroup"].includes(type),
      );
      const bind = (source: string, destination: string, mode: string) => ({
        ...{ source, destination, type: "bind", options: ["bind", mode] },
      });
      config.mounts = [
        ...config.mounts.filter(({ destination }) =>
          /^\/(?:proc|dev)$/.test(destination),
        ),
        bind(store, "/var/lib/provender", "rw"),
        bind(join(settings, "etc/provender"), "/etc/provender", "ro"),
      ];
      writeFileSync(file, JSON.stringify(config));
      mkdirSync(join(bundle, "run"));
      const runc = [
        ...["--root", join(bundle, "run"), "run", "--bundle", bundle],
        `provender-test-${process.pid}`,
      ];
      // runc hands a signal on to what it contains.
      const container = await startDaemon("runc", runc, {}, "TERM");
      await scene.initThrough(
        `https://127.0.0.1:${new URL(container.url).port}/`,
        join(store, "tls/v1/ca.pem"),
      );
      expect(await container.stop()).toBe(0);
    },
    60_000,
  );
});
