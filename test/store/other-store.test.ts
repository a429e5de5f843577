import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { layOutStore } from "../../src/store/layout.ts";
import { findServedElsewhere } from "../../src/store/storage-directory.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { source } from "../scenes/other-user.ts";

/** A name space in which a folder of ours is /var/lib. */
const inPrivate = (folder: string, command: string) => [
  "-m",
  "sh",
  "-c",
  `mount --make-rprivate / && mount --bind ${folder} /var/lib && exec ${command}`,
];
const canMount =
  process.platform === "linux" &&
  spawnSync("unshare", inPrivate(scratch("probe"), "true")).status === 0;
if (!canMount)
  console.log("SKIPPED: no name space with mounts of its own here");

let parent: string;
let daemon: RunningMirror;
const served = () => join(parent, "provender");

beforeAll(async () => {
  parent = scratch("var-lib");
  mkdirSync(served());
  daemon = await startMirror({ directory: served() });
});
afterAll(() => daemon.stop());

describe.runIf(process.platform === "linux")("a running daemon's store", () => {
  it("is distinguished from one without a daemon, and from another daemon's", async () => {
    const own = layOutStore(scratch("own"));
    const none = layOutStore(scratch("none")).directory;
    expect(findServedElsewhere(own, [none, served()])).toBe(served());
    expect(findServedElsewhere(own, [none])).toBeUndefined();
    expect(findServedElsewhere(own, [])).toBeUndefined();
    expect(findServedElsewhere(layOutStore(served()), [served()])).toBe(
      undefined,
    );
    const second = await startMirror();
    const layout = layOutStore(second.directory);
    expect(findServedElsewhere(layout, [served()])).toBeUndefined();
    await second.kill();
    // A killed daemon leaves its file, and no lock.
    expect(findServedElsewhere(own, [second.directory])).toBeUndefined();
    expect(findServedElsewhere(layout, [served()])).toBe(served());
  });
});

describe.runIf(canMount)("a command", () => {
  async function run(directory: string, ...args: readonly string[]) {
    const file = join(scratch("config"), "provender.yaml");
    writeFileSync(file, stringify({ storage: { directory } }));
    const words = [process.execPath, source, ...args, "--config", file];
    const child = spawn("unshare", inPrivate(parent, words.join(" ")));
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
    ]);
    return { stdout, stderr, status: child.exitCode };
  }

  it("that opens another store than the running daemon's says so in one sentence, and works", async () => {
    const directory = scratch("another");
    for (const args of [["trust", "list"], ["verify"], ["prune"]]) {
      const { stderr, stdout } = await run(directory, ...args);
      expect(stderr).toContain(
        `provender: This works on the store in ${directory}, while the running daemon serves from /var/lib/provender: `,
      );
      expect(stderr.match(/while the running daemon/g)).toHaveLength(1);
      expect([args, stdout.length > 0]).toEqual([args, true]);
    }
  });

  it("that opens the running daemon's store prints nothing, by any of its names", async () => {
    for (const directory of [served(), "/var/lib/provender"])
      expect((await run(directory, "trust", "list")).stderr).toBe("");
  });
});
