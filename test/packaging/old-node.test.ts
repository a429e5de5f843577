import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { scratch } from "../running-mirror.ts";
import { makeRelease } from "./release.ts";

/** Nodes on PATH and those that PROVENDER_OLD_NODES names, which are older than the program needs. */
const old = [
  ...(process.env.PROVENDER_OLD_NODES ?? "").split(delimiter),
  ...(process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "node")),
].flatMap((file) => {
  const { status, stdout } = spawnSync(file, ["--version"], {
    encoding: "utf8",
  });
  const version = status === 0 ? stdout.trim().slice(1) : "24";
  return Number.parseInt(version) < 24 ? [{ file, version }] : [];
});

describe.skipIf(old.length === 0)(
  old.length === 0
    ? "the npm package on an older Node (NOT TESTED: there is none)"
    : "the npm package on an older Node",
  () => {
    let program: string;

    beforeAll(async () => {
      const { file } = await makeRelease("npm", ".tgz");
      const folder = join(scratch("npm"), "package");
      mkdirSync(folder);
      execFileSync("tar", ["-xzf", file, "-C", folder, "--strip-components=1"]);
      program = join(folder, "dist", "main.js");
    }, 120_000);

    it.each(old)(
      "says on $version that it is too old, and ends with status 2",
      ({ file, version }) => {
        const { status, stdout, stderr } = spawnSync(file, [program, "serve"], {
          encoding: "utf8",
        });
        expect(stderr).toMatch(/^provender: needs Node 24, found [^\n]*\n$/);
        expect(stderr).toContain(`found ${version}:`);
        expect(stdout).toBe("");
        expect(status).toBe(2);
      },
    );
  },
);
