import { existsSync, lstatSync, readFileSync, writeFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readPrintedBlock, writeConfiguration } from "../acceptance/clients.ts";
import { findTestedClients } from "../acceptance/tested-clients.ts";
import { scratch } from "../running-mirror.ts";
import { listShellCommands, readDocument } from "../scenes/documents.ts";
import {
  makeInstalledScene,
  startUnit,
  type InstalledScene,
} from "./installed.ts";
import { listRoots } from "./machine-root.ts";
import { has, isRoot, makeRelease, run } from "./release.ts";

const canPack = has("dpkg-deb", "the Debian package");
const canLint = has("lintian", "the Debian package with lintian");

const clients = await findTestedClients();
const canInit = clients.some(({ name }) => name === "terraform");

/** The README's commands from the one that begins so, where it has two as they are typed once it is installed. */
function readmeOf(begin: string): readonly string[] {
  const all = listShellCommands("README.md");
  const both = readDocument("README.md").matchAll(
    /^(.*?) +# installed: (.*)$/gm,
  );
  const installed = new Map([...both].map(([, one, other]) => [one, other]));
  return all
    .slice(all.findIndex((command) => command.startsWith(begin)))
    .map((command) => installed.get(command) ?? command);
}

let older: string;
let deb: string;
let scene: InstalledScene;

beforeAll(async () => {
  if (!canPack) return;
  deb = (await makeRelease("deb", ".deb")).file;
  older = (await makeRelease("deb", ".deb", { version: "0.0.9" })).file;
  scene = await makeInstalledScene();
}, 240_000);

it.runIf(canPack && canLint)(
  "is without errors for lintian",
  async () => {
    const ran = run("lintian", ["--allow-root", "--fail-on", "error", deb]);
    expect((await ran).stdout).not.toMatch(/^E:/m);
  },
  240_000,
);

describe.skipIf(!canPack || !isRoot).each(listRoots())(
  "installed in %s",
  (_, makeRoot) => {
    let root: string;
    beforeAll(async () => {
      root = await makeRoot();
    }, 300_000);

    const at = (path: string) => join(root, path);
    const inRoot = async (...command: readonly string[]) => {
      const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";
      const env = { PATH, HOME: "/root", DEBIAN_FRONTEND: "noninteractive" };
      const { stdout, stderr } = await run("chroot", [root, ...command], {
        env,
      });
      return stdout + stderr;
    };
    const install = async (file: string) => {
      await copyFile(file, at("tmp/provender.deb"));
      await inRoot("dpkg", "-i", "/tmp/provender.deb");
    };
    /** Starts what the unit starts, for a client. */
    const serve = async () => {
      const daemon = await startUnit(root);
      const caFile = at("var/lib/provender/tls/v1/ca.pem");
      await scene.initThrough(daemon.url, caFile);
      expect(await daemon.stop()).toBe(0);
    };

    it("serves as its own user, keeps everything over an upgrade, and leaves nothing when it is purged", async () => {
      await install(older);
      expect(await inRoot("provender", "--version")).toBe("0.0.9\n");
      const user = await inRoot("id", "-u", "provender");
      const store = lstatSync(at("var/lib/provender"));
      expect(store.uid).toBe(Number(user));
      expect(store.mode & 0o777).toBe(0o700);
      const good = "/etc/provender/config.yaml: good";
      expect(await inRoot("provender", "config")).toContain(good);
      const wants = "etc/systemd/system/multi-user.target.wants";
      const enabled = lstatSync(at(`${wants}/provender.service`));
      expect(enabled.isSymbolicLink()).toBe(true);
      const configuration = scene.configure(root);
      await serve();

      const key = "C874011F0AB405110D02105534365D9472D7468F";
      const revoke = ["trust", "revoke", "--for", "other", "--key", key];
      await inRoot("provender", ...revoke);
      await install(deb);
      const file = at("etc/provender/config.yaml");
      expect(readFileSync(file, "utf8")).toBe(configuration);
      const asked = scene.registry.requests.count("archive");
      await serve();
      expect(scene.registry.requests.count("archive")).toBe(asked);
      const listed = await inRoot("provender", "trust", "list", "--json");
      expect(listed).toContain(key);

      await inRoot("dpkg", "--remove", "provender");
      for (const [path, isLeft] of [
        ["usr/lib/provender", false],
        ["usr/bin/provender", false],
        ["etc/provender/config.yaml", true],
        ["var/lib/provender/blobs", true],
      ] as const)
        expect([path, existsSync(at(path))]).toEqual([path, isLeft]);
      await inRoot("dpkg", "--purge", "provender");
      for (const path of ["etc/provender/config.yaml", "var/lib/provender"])
        expect(existsSync(at(path))).toBe(false);
    });

    it.skipIf(!canInit)(
      "takes a newcomer from the package to the first init in two minutes, by the README's commands alone",
      async () => {
        const begun = performance.now();
        const [install = "", journal, ...others] = readmeOf("sudo apt install");
        const file = basename(deb);
        expect(install).toBe(`sudo apt install ./${file}`);
        await copyFile(deb, at(file));
        // A copy of this machine has essential packages only, so it may lack apt.
        const [apt, to] = existsSync(at("usr/bin/apt"))
          ? ["sudo", ""]
          : ["sudo apt install", "dpkg --install"];
        await inRoot("sh", "-c", install.replace(apt, to));
        // Without systemd its unit is started here, and its journal read.
        expect(journal).toBe("journalctl --unit provender");
        scene.configure(root);
        const daemon = await startUnit(root);
        const home = scratch("newcomer");
        const block = readPrintedBlock(daemon.printed);
        writeFileSync(join(home, ".terraformrc"), block);
        const source = "registry.terraform.io/acme/widget";
        await writeConfiguration(home, { widget: { source } });
        expect(others.length).toBeGreaterThan(0);
        const { PATH } = process.env;
        const env = { PATH, HOME: home, CHECKPOINT_DISABLE: "1" };
        for (const command of others) {
          const here = command.replace("sudo ", `chroot ${root} `);
          await run("bash", ["-ec", here], { cwd: home, env });
        }
        const took = performance.now() - begun;
        expect(existsSync(join(home, ".terraform/providers"))).toBe(true);
        expect(took).toBeLessThan(120_000);
        expect(await daemon.stop()).toBe(0);
      },
      150_000,
    );
  },
);
