import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { tarGz, zip } from "../../fakes/module-archive.ts";
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
  // Each rule has its test in test/verification/archives.
  const hostile: readonly (readonly [string, string, () => Promise<Buffer>])[] =
    [
      ["tar.gz", "a member above", () => tarGz([["a/../../out.tf", "x"]])],
      ["tar.gz", "a link above", () => tarGz([["a/b", link("../../c")]])],
      ["tar.gz", "a bomb", () => Promise.resolve(bomb)],
      ["zip", "a member above the folder", () => zip([["../out.tf", "x"]])],
      ["zip", "a link out", () => zip([["a", "/etc/passwd", 0o120777]])],
      ["zip", "a bomb", () => zip([["a", Buffer.alloc(64 << 20)]])],
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
