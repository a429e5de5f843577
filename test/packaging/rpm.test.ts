import { lstatSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { findDeadLinks } from "../scenes/documents.ts";
import {
  makeInstalledScene,
  startUnit,
  type InstalledScene,
} from "./installed.ts";
import { copyMachineRoot } from "./machine-root.ts";
import { has, isRoot, makeRelease, run } from "./release.ts";

const canPack =
  has("rpmbuild", "the package for Red Hat") &&
  has("rpm", "the package for Red Hat") &&
  has("dpkg-query", "the package for Red Hat") &&
  isRoot;

describe.skipIf(!canPack)("the package for Red Hat", () => {
  let file: string;
  let root: string;
  let scene: InstalledScene;

  const rpm = async (...args: readonly string[]) =>
    (await run("rpm", ["--root", root, ...args])).stdout;

  beforeAll(async () => {
    file = (await makeRelease("rpm", ".rpm")).file;
    scene = await makeInstalledScene();
    root = await copyMachineRoot();
    mkdirSync(join(root, "var/lib/rpm"), { recursive: true });
    await rpm("--initdb");
  }, 240_000);

  it("keeps a configuration that was changed, and has its scripts", async () => {
    const flags = "[%{FILEFLAGS:fflags} %{FILENAMES}\\n]";
    const { stdout: kept } = await run("rpm", ["-qp", "--qf", flags, file]);
    expect(kept).toMatch(/^cn \/etc\/provender\/config\.yaml$/m);
    const { stdout: scripts } = await run("rpm", ["-qp", "--scripts", file]);
    for (const script of "preinstall postinstall preuninstall postuninstall".split(
      " ",
    ))
      expect(scripts).toContain(`${script} scriptlet`);
  });

  it("is installed with its user and runs what the unit runs", async () => {
    // Debian's rpm database does not list what dpkg installed.
    await rpm("--upgrade", "--nodeps", file);
    const passwd = readFileSync(join(root, "etc/passwd"), "utf8");
    const [, user] = /^provender:[^:]*:(\d+):/m.exec(passwd) ?? [];
    const store = lstatSync(join(root, "var/lib/provender"));
    expect(store.uid).toBe(Number(user));
    expect(store.mode & 0o777).toBe(0o700);
    expect(findDeadLinks(join(root, "usr/share/doc/provender"))).toEqual([]);
    scene.configure(root);
    const daemon = await startUnit(root);
    const caFile = join(root, "var/lib/provender/tls/v1/ca.pem");
    await scene.initThrough(daemon.url, caFile);
    expect(await daemon.stop()).toBe(0);
  });
});
