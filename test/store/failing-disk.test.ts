import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority, type Authority } from "../fakes/authority.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { originsOf } from "../origins.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import { digest, sha256Of } from "../scenes/failing-origin.ts";
import { endingWithTests } from "../child-process.ts";

/** 20 of each kind for a full run. */
const calls = Number(process.env.PROVENDER_FAULTS ?? 8);

let authority: Authority;
let registry: Registry;
let mirror: RunningMirror;
let names = 0;

/** Attaching may be forbidden where the program is there. */
const canTrace =
  process.platform === "linux" &&
  spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;
if (!canTrace)
  console.log(
    "SKIPPED: strace cannot be used here, so no disk is made to fail",
  );

beforeAll(async () => {
  authority = await createAuthority();
  registry = await startRegistry({ authority });
  mirror = await startMirror({
    config: { ...originsOf(authority, registry), freshness: { versions: "0" } },
    // One thread does all that is done with files, in order, and strace sees it.
    env: { UV_THREADPOOL_SIZE: "1", UV_USE_IO_URING: "0" },
  });
  // Makes the thread.
  await mirror.get("/readyz");
});
afterAll(async () => {
  await mirror.stop();
  await registry.stop();
});

function workerOf({ process: { pid } }: RunningMirror): string {
  const tasks = `/proc/${pid ?? 0}/task`;
  const found = readdirSync(tasks).find((task) =>
    readFileSync(join(tasks, task, "comm"), "utf8").startsWith("libuv-worker"),
  );
  if (found === undefined) throw new Error("the thread for files is not there");
  return found;
}

/** Every call of this kind from the `nth` on fails while `act` runs, or that one alone. */
async function whileFailing<T>(
  call: string,
  error: string,
  when: string,
  act: () => Promise<T>,
  log = "/dev/null",
): Promise<T> {
  const inject = `inject=${call}:error=${error}:when=${when}`;
  const trace = `trace=${call},rename`;
  const to = ["-o", log, "-e", trace, "-e", inject];
  const args = ["-p", workerOf(mirror), ...to];
  const tracer = spawn(...endingWithTests("strace", args), {
    stdio: ["ignore", "ignore", "pipe"],
  });
  await once(tracer.stderr, "data");
  try {
    return await act();
  } finally {
    const exit = once(tracer, "exit");
    tracer.kill("SIGINT");
    await exit;
  }
}

function pathOf(release: Release): string {
  const { filename } = release.archive("linux_amd64");
  return `/providers/registry.terraform.io/acme/${release.type}/${filename}`;
}

/** "right", "cut" or the status; a false body fails. */
async function ask(release: Release): Promise<string> {
  const { status, complete, body } = await mirror.get(pathOf(release));
  if (status !== 200) return `${status}`;
  if (!complete) return "cut";
  expect(digest(body)).toBe(sha256Of(release));
  return "right";
}

/** Every blob is what its name says. */
function expectGoodBlobs(): void {
  const cwd = join(mirror.directory, "blobs", "v1", "sha256");
  for (const path of globSync("*/*", { cwd }))
    expect(digest(readFileSync(join(cwd, path)))).toBe(basename(path));
}

const faults: readonly (readonly [string, string])[] = [
  ["pwrite64", "EIO"],
  ["pwrite64", "ENOSPC"],
  ["fsync", "EIO"],
  ["rename", "EIO"],
  ["pread64", "EIO"],
];

describe.runIf(canTrace)("a disk that fails", { timeout: 120_000 }, () => {
  it.each(faults)(
    `at one of the first ${calls} calls of %s with %s crashes nothing and makes no false body`,
    async (call, error) => {
      const seen = new Map<string, number>();
      for (let nth = 1; nth <= calls; nth++) {
        const type = `disk${(names += 1)}`;
        const release = await registry.publish({
          type,
          version: "1.0.0",
          size: 1_000_000,
        });
        if (call === "pread64") await ask(release);
        const got = await whileFailing(call, error, `${nth}`, () =>
          ask(release),
        );
        seen.set(got, (seen.get(got) ?? 0) + 1);
        expect(await ask(release)).toBe("right");
        expect(mirror.process.exitCode).toBeNull();
      }
      expectGoodBlobs();
      const outcomes = [...seen].map(([got, times]) => `${times} ${got}`);
      console.log(
        `${error} at the first ${calls} calls of ${call}: ${outcomes.join(", ")}; 0 crashes, 0 wrong bytes`,
      );
    },
  );

  it("at every fsync stores nothing and answers nothing new, and serves and stores again afterwards", async () => {
    const type = `disk${(names += 1)}`;
    const release = await registry.publish({
      type,
      version: "1.0.0",
      size: 1_000_000,
    });
    const blob = join(
      mirror.directory,
      "blobs",
      "v1",
      "sha256",
      sha256Of(release).slice(0, 2),
      sha256Of(release),
    );
    const stored = () => globSync(blob).length;
    const log = join(scratch("trace"), "log");
    const fail = async () => {
      for (const document of ["index.json", "1.0.0.json"]) {
        const path = `/providers/registry.terraform.io/acme/${type}/${document}`;
        expect([document, (await mirror.get(path)).status]).toEqual([
          document,
          503,
        ]);
      }
      expect(await ask(release)).toBe("503");
      expect(stored()).toBe(0);
    };
    await whileFailing("fsync", "EIO", "1+", fail, log);
    const traced = readFileSync(log, "utf8");
    const failed = traced.split("fsync(").length - 1;
    console.log(
      `${failed} fsync failed, renames after them: ${traced.split("rename(").length - 1}`,
    );
    expect(failed).toBeGreaterThan(1);
    expect(traced).not.toContain("rename(");
    await expect
      .poll(
        async () => {
          expect(await ask(release)).toBe("right");
          return stored();
        },
        { timeout: 20_000 },
      )
      .toBe(1);
  });
});
