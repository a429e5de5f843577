import { existsSync, renameSync, symlinkSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tarGz } from "../../fakes/module-archive.ts";
import { defaultSigner } from "../../fakes/signing.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import {
  folderHost,
  makeOriginFolder,
  writeFiles,
  type Files,
} from "../../scenes/origin-folder.ts";
import {
  describeServedFolder,
  expectUnfit,
  putBoth,
  sums,
  type ServedFolder,
} from "../../scenes/served-folder.ts";

let root: string;

async function serveDirectory(): Promise<ServedFolder> {
  root = makeOriginFolder(await defaultSigner());
  const origins = { [folderHost]: { directory: root } };
  const show = (path: string) => join(root, path);
  return {
    mirror: await startMirror({ config: { origins } }),
    show,
    write: (path, files) => putFolder(show(path), files),
    remove: (path) => rm(show(path), { recursive: true }),
  };
}

/** Writes files; a new folder appears whole, by one rename. */
async function putFolder(path: string, files: Files): Promise<void> {
  if (existsSync(path)) return void writeFiles(path, files);
  await mkdir(dirname(path), { recursive: true });
  await rename(writeFiles(join(scratch("put"), "made"), files), path);
}

describeServedFolder("a directory as an origin", serveDirectory);

describe("a directory with links", () => {
  let folder: ServedFolder;
  const outside = scratch("outside");

  const links: Readonly<Record<string, string>> = {
    linked: sums("linked"),
    archived: "terraform-provider-archived_2.0.0_linux_amd64.zip",
  };

  /** Leaves a link where the file or folder was. */
  function leadOut(path: string): void {
    const place = join(outside, path.replaceAll("/", "-"));
    renameSync(folder.show(path), place);
    symlinkSync(place, folder.show(path));
  }

  beforeAll(async () => {
    folder = await serveDirectory();
    for (const [type, name] of Object.entries(links)) {
      await putBoth(folder, type, () => undefined);
      leadOut(`acme/${type}/2.0.0/${name}`);
    }
    await putBoth(folder, "abroad", () => undefined);
    leadOut("acme/abroad/2.0.0");
  });

  afterAll(() => folder.mirror.stop());

  it.each([...Object.keys(links), "abroad"])(
    "does not list a release that leads out, and names it: %s",
    (type) => expectUnfit(folder, type, "leads out of the folder"),
  );

  it("refuses modules that lead out", async () => {
    const modules = "modules/acme/network/aws";
    const files = { "1.0.0.tar.gz": await tarGz([["main.tf", "# one"]]) };
    await folder.write(modules, files);
    symlinkSync("/etc/passwd", folder.show(`${modules}/1.3.0.zip`));
    const base = `v1/modules/${folderHost}/acme/network/aws`;
    const { status, body } = await folder.mirror.get(`${base}/1.3.0/download`);
    expect(status).toBe(502);
    expect(body.toString()).toContain("leads out of the folder");
    expect(body.toString()).not.toContain(root);
  });

  it("is never left, for any address", async () => {
    writeFiles(join(root, "..", "escaped", "widget", "1.0.0"), {});
    for (const path of [
      `providers/${folderHost}/..%2Fescaped/widget/index.json`,
      `v1/modules/${folderHost}/../../etc/versions`,
    ])
      expect((await folder.mirror.get(path)).status).toBeGreaterThanOrEqual(
        400,
      );
  });
});
