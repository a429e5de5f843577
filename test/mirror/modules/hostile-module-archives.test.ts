import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { tar, tarGz, zip } from "../../fakes/module-archive.ts";
import { startMirror } from "../../running-mirror.ts";
import {
  codeOf,
  countFiles,
  locate,
  makeModuleScene,
  moduleBase,
} from "../../scenes/module-scene.ts";

const scene = await makeModuleScene();
const mirror = await startMirror({ config: scene.configOf() });

describe("hostile archives", () => {
  const link = (linkname: string) => ({ type: "symlink", linkname }) as const;
  const bomb = gzipSync(Buffer.alloc(64 << 20));
  const archives: Readonly<Record<string, () => Promise<Buffer>>> = {
    "a member above the folder": () => tarGz([["../out.tf", "x"]]),
    "a member above, deep inside": () => tarGz([["a/../../out.tf", "x"]]),
    "an absolute member": () => tarGz([["/etc/out.tf", "x"]]),
    "a backslash": () => tarGz([["..\\out.tf", "x"]]),
    "a link to an absolute path": () => tarGz([["a", link("/etc/passwd")]]),
    "a link above": () => tarGz([["a/b", link("../../c")]]),
    "a link through a link": () =>
      tarGz([
        ["p/a", link("..")],
        ["p/b", link("a/..")],
      ]),
    "a member below a link": () =>
      tarGz([
        ["a", link("b")],
        ["a/c", "x"],
      ]),
    "a hard link outside": () =>
      tarGz([["a", { type: "link", linkname: "../b" }]]),
    "a hard link to a link": () =>
      tarGz([
        ["a/b/c", link("../x")],
        ["d", { type: "link", linkname: "a/b/c" }],
      ]),
    "a character device": () =>
      tarGz([["null", { type: "character-device", devmajor: 1, devminor: 3 }]]),
    "a block device": () => tarGz([["sda", { type: "block-device" }]]),
    "a named pipe": () => tarGz([["pipe", { type: "fifo" }]]),
    "a bomb": () => Promise.resolve(bomb),
    nothing: () => tarGz([]),
    "no archive": () => Promise.resolve(Buffer.from("hello")),
    "a cut tar": async () =>
      gzipSync((await tar([["a", "x".repeat(2000)]])).subarray(0, 700)),
    "a cut gzip": async () =>
      (await tarGz([["a", "x".repeat(2000)]])).subarray(0, 60),
    "a wrong header": async () => {
      const bytes = gunzipSync(await tarGz([["main.tf", "x"]]));
      bytes.write("evil", 0);
      return gzipSync(bytes);
    },
  };
  const zips: Readonly<Record<string, () => Promise<Buffer>>> = {
    "a member above the folder": () => zip([["../out.tf", "x"]]),
    "an absolute member": () => zip([["/out.tf", "x"]]),
    "a link outside": () => zip([["a", "/etc/passwd", 0o120777]]),
    "a device": () => zip([["null", "", 0o20666]]),
    "a bomb": () => zip([["a", Buffer.alloc(64 << 20)]]),
    "no archive": () => Promise.resolve(Buffer.from("hello")),
  };
  const hostile = [
    ...Object.entries(archives).map((entry) => ["tar.gz", ...entry] as const),
    ...Object.entries(zips).map((entry) => ["zip", ...entry] as const),
  ];

  it.each(hostile)(
    "%s with %s is refused and not kept",
    async (format, what, make) => {
      const name = `hostile-${format.replace(".", "")}-${what.replaceAll(/\W/g, "")}`;
      const url = scene.origin.serve(`/files/${name}.${format}`, await make());
      scene.origin.publish(`acme/${name}/aws`, "1.0.0", url);
      const before = await countFiles(mirror, "blobs");
      const answer = await locate(mirror, name);
      expect(answer.status).toBe(451);
      expect(codeOf(answer)).toBe("module-archive-refused");
      const archive = await mirror.get(
        `${moduleBase}/${name}/aws/1.0.0/archive.${format}`,
      );
      expect(archive.status).toBe(451);
      expect(await countFiles(mirror, "blobs")).toBe(before);
      expect(await countFiles(mirror, "staging")).toBe(0);
    },
  );

  it("are not confused with links that stay inside", async () => {
    const bytes = await tarGz([
      ["modules/a/main.tf", "x"],
      ["examples/a", link("../modules/a")],
      ["README", link("modules/a/main.tf")],
      ["x".repeat(150), "long"],
    ]);
    const url = scene.origin.serve("/files/links.tar.gz", bytes);
    scene.origin.publish("acme/links/aws", "1.0.0", url);
    expect((await locate(mirror, "links")).status).toBe(204);
  });
});
