import { spawnSync } from "node:child_process";
import {
  chmodSync,
  globSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import { canBeOthers, source, user } from "../../scenes/other-user.ts";
import { writeConfiguration } from "../../running-mirror.ts";
import { startOrigin } from "../../scenes/world.ts";
import { runCommand } from "../../scenes/provider-requests.ts";
import { digestOf } from "./bundles.ts";

const spec = ["--platform", "linux_amd64", "acme/widget@1.0.0"];
const endings = ["", ".tar", ".oci"];
const isRoot = canBeOthers && spawnSync("unshare", ["-m", "true"]).status === 0;
if (!isRoot) console.log("SKIPPED: nothing is mounted here");

describe.runIf(isRoot)("export beside a daemon of another user", () => {
  let mirror: RunningMirror;
  let config: string;
  let parts: readonly string[];
  let before: ReadonlyMap<string, string>;

  beforeAll(async () => {
    const origin = await startOrigin();
    await origin.registry.publish({ version: "1.0.0", size: 3_000 });
    mirror = await startMirror({ config: origin.config, user });
    const fetched = await runCommand(mirror, "prefetch", ...spec);
    expect(fetched.status).toBe(0);
    chmodSync(mirror.directory, 0o770);
    config = join(scratch("group"), "provender.yaml");
    const storage = { directory: mirror.directory };
    writeConfiguration(config, { ...origin.config, storage });
    chmodSync(dirname(config), 0o755);
    parts = ["", ...globSync("**/*", { cwd: mirror.directory })];
    before = snapshot();
  }, 60_000);

  /** Everything that an export could harm; what the daemon itself writes goes on. */
  function snapshot(): ReadonlyMap<string, string> {
    const names = globSync("**/*", { cwd: mirror.directory });
    return new Map(
      names.toSorted().map((name) => {
        const path = join(mirror.directory, name);
        const { mode, uid, ino } = lstatSync(path);
        const isFixed = /^(?:blobs|tls|store\.json)/.test(name);
        const digest =
          isFixed && lstatSync(path).isFile()
            ? digestOf(readFileSync(path))
            : "";
        return [name, `${mode} ${uid} ${ino} ${digest}`];
      }),
    );
  }

  /** Runs commands in one namespace of mounts, and says what each printed and its status. */
  function runAll(
    commands: readonly (readonly string[])[],
    { uid = 0, mounts = "" } = {},
  ): readonly string[] {
    const quote = (word: string) => `'${word}'`;
    const lines = commands.map((args) =>
      [process.execPath, source, ...args, "--config", config]
        .map(quote)
        .join(" "),
    );
    const script = [
      mounts,
      ...lines.map((line) => `${line} 2>&1; echo "status $?"`),
    ];
    const as =
      uid === 0
        ? []
        : ["setpriv", `--reuid=${uid}`, `--regid=${user}`, "--clear-groups"];
    const { stdout } = spawnSync(
      "unshare",
      ["-m", ...as, "sh", "-c", script.join("\n")],
      { encoding: "utf8", cwd: "/" },
    );
    return stdout.split(/(?<=status \d+\n)/);
  }

  function expectRefused(said: readonly string[], count: number): void {
    expect(said).toHaveLength(count);
    for (const one of said) {
      expect(one).toContain("(it is in the storage directory)");
      expect(one).toMatch(/status 1\n$/);
    }
    expect(snapshot()).toEqual(before);
  }

  const exports = (paths: readonly string[]) =>
    paths.map((path) => ["export", "--to", path, ...spec]);

  it("writes over no file and into no folder of the store", () => {
    const paths = parts.map(
      (part, at) => `${join(mirror.directory, part)}${endings[at % 3]}`,
    );
    // A name with an ending is a new one, below the folder of the other.
    expectRefused(runAll(exports(paths)), paths.length);
  }, 300_000);

  it("nor through links to any of them", () => {
    const links = scratch("links");
    chmodSync(links, 0o777);
    const paths = parts.flatMap((part, at) => {
      const path = join(mirror.directory, part);
      const soft = join(links, `soft-${at}${endings[at % 3]}`);
      symlinkSync(path, soft);
      if (!lstatSync(path).isFile()) return [soft];
      const hard = join(links, `hard-${at}.tar`);
      linkSync(path, hard);
      return [soft, hard];
    });
    expectRefused(runAll(exports(paths)), paths.length);
  }, 300_000);

  it("nor through mounts of the directory or of a folder in it", () => {
    const folders = parts.filter((part) =>
      lstatSync(join(mirror.directory, part)).isDirectory(),
    );
    const mounted = folders.map((folder) => {
      const at = join(scratch("mounts"), "here");
      mkdirSync(at);
      chmodSync(dirname(at), 0o755);
      return [join(mirror.directory, folder), at] as const;
    });
    const mounts = mounted.map((pair) => `mount --bind ${pair.join(" ")}`);
    const paths = mounted.flatMap(([, at], index) =>
      index % 2 === 0
        ? [at, join(at, "a.tar")]
        : [join(at, "new", "deep"), join(at, "a.oci")],
    );
    const options = { mounts: mounts.join("\n") };
    expectRefused(runAll(exports(paths), options), paths.length);
  }, 300_000);

  it("is not for others of the owner's group, and reads no file of the store as a bundle", () => {
    const outside = join(scratch("outside"), "a.tar");
    chmodSync(dirname(outside), 0o777);
    const database = join(mirror.directory, "provender.db");
    const [member = ""] = runAll(exports([outside]), { uid: 65_000 });
    expect(member).toContain(`belongs to the user ${user}`);
    expect(member).toMatch(/status 2\n$/);
    const [since = ""] = runAll([
      ["export", "--to", outside, "--since", database, ...spec],
    ]);
    expect(since).toMatch(/provender\.db is refused as a bundle \([^)]*\)/);
    expect(since).toMatch(/status 1\n$/);
    expect(snapshot()).toEqual(before);
  }, 60_000);
});
