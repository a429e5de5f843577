import { renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { tarGz, zip } from "../../fakes/module-archive.ts";
import { createSigner, defaultSigner } from "../../fakes/signing.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import {
  folderHost,
  makeDist,
  makeOriginFolder,
  putRelease,
  writeFiles,
  type Files,
} from "../../scenes/origin-folder.ts";

/** A folder that stands for a registry, with the keys of `acme`. */
const root = makeOriginFolder(await defaultSigner());
const mirror = await startMirror({
  config: { origins: { [folderHost]: { directory: root } } },
});

const platforms = ["linux_amd64", "darwin_arm64"];
const nameOf = (type: string) => `terraform-provider-${type}_2.0.0`;
const sums = (type: string) => `${nameOf(type)}_SHA256SUMS`;
const manifest = (type: string) => `${nameOf(type)}_manifest.json`;
const modules = join(root, "modules", "acme", "network", "aws");
const providersUrl = `providers/${folderHost}/acme`;
const modulesUrl = `v1/modules/${folderHost}/acme/network/aws`;

type Edit = (files: Files, type: string) => Promise<void> | void;

const lose =
  (name: (type: string) => string): Edit =>
  (files, type) =>
    void Reflect.deleteProperty(files, name(type));

/** Leaves a link where a file or folder was. */
function leadOut(...path: readonly string[]): void {
  const place = join(scratch("outside"), "file");
  renameSync(join(root, "acme", ...path), place);
  symlinkSync(place, join(root, "acme", ...path));
}

/** Faults of version 2.0.0 of a provider by name, with the reason in the log. */
const unfit: Readonly<Record<string, readonly [string, Edit]>> = {
  unsummed: ["it has no", lose(sums)],
  unsigned: ["it has no", lose((type) => `${sums(type)}.sig`)],
  renamed: [
    "lists no archive",
    (files, type) => {
      const text = String(files[sums(type)]);
      files[sums(type)] = text.replaceAll("2.0.0", "2.0.1");
    },
  ],
  undescribed: [
    "manifest.json yet, which is terraform-registry-manifest.json",
    lose(manifest),
  ],
  unmanifested: [
    "no manifest",
    (files, type) => void (files[manifest(type)] = "{}"),
  ],
};

/** Files of version 2.0.0 that lie elsewhere, or all of it. */
const links: Readonly<Record<string, string>> = {
  linked: sums("linked"),
  archived: `${nameOf("archived")}_linux_amd64.zip`,
  abroad: "",
};

/** Faults for which every client is refused. */
const refused: Readonly<Record<string, Edit>> = {
  stranger: async (files, type) => {
    const stranger = await createSigner();
    files[`${sums(type)}.sig`] = await stranger.sign(
      Buffer.from(files[sums(type)] ?? ""),
    );
  },
  edited: (files, type) => {
    files[sums(type)] = String(files[sums(type)]).replace(/^./, (digit) =>
      digit === "0" ? "1" : "0",
    );
  },
};

async function versionsOf(type: string): Promise<readonly string[]> {
  const answer = await mirror.get(`${providersUrl}/${type}/index.json`);
  return Object.keys((answer.json() as { versions: object }).versions);
}

/** Version 1.0.0 as it was made, and 2.0.0 as it is after `edit`. */
async function putBoth(type: string, edit?: Edit): Promise<void> {
  for (const version of ["1.0.0", "2.0.0"]) {
    const release = await makeDist({ type, version, platforms });
    const isEdited = version === "2.0.0" && edit !== undefined;
    await putRelease(root, release, (files) =>
      isEdited ? edit(files, type) : undefined,
    );
  }
}

describe("a directory as an origin", () => {
  beforeAll(async () => {
    for (const [type, [, edit]] of Object.entries(unfit))
      await putBoth(type, edit);
    for (const [type, path] of Object.entries(links)) {
      await putBoth(type);
      leadOut(type, "2.0.0", path);
    }
    for (const [type, edit] of Object.entries(refused))
      await putBoth(type, edit);
    writeFiles(modules, {
      "1.0.0.tar.gz": await tarGz([["main.tf", "# one"]]),
      "1.1.0.zip": await zip([["main.tf", "# two"]]),
      "1.2.0.tar.gz": (await tarGz([["main.tf", "# cut"]])).subarray(0, -4),
      "1.4.0.tar.gz": await tarGz([["main.tf", "# one or"]]),
      "1.4.0.zip": await zip([["main.tf", "# the other"]]),
      "notes.txt": "",
    });
    writeFiles(join(modules, "1.5.0.zip"), { "a.tf": "" });
  }, 60_000);

  it.each([
    ...Object.entries(unfit).map(([type, [reason]]) => [type, reason] as const),
    ...Object.keys(links).map(
      (type) => [type, "leads out of the folder"] as const,
    ),
  ])(
    "does not list what is no whole release, and names it: %s",
    async (type, reason) => {
      expect(await versionsOf(type)).toEqual(["1.0.0"]);
      const url = `${providersUrl}/${type}/2.0.0.json`;
      const { status, body } = await mirror.get(url);
      expect(status).toBe(404);
      expect(body.toString()).not.toContain(root);
      await expect
        .poll(() => mirror.log)
        .toContainEqual(
          expect.objectContaining({
            msg: "a folder is not taken for a release",
            folder: join(root, "acme", type, "2.0.0"),
            reason: expect.stringContaining(reason) as string,
          }),
        );
    },
  );

  it.each(Object.keys(refused))(
    "is refused without a signature by an allowed key: %s",
    async (type) => {
      const path = `${providersUrl}/${type}`;
      expect((await mirror.get(`${path}/2.0.0.json`)).status).toBe(451);
      expect((await mirror.get(`${path}/1.0.0.json`)).status).toBe(200);
      await expect
        .poll(() => JSON.stringify(mirror.log))
        .toContain(`acme/${type}`);
    },
  );

  it("lists a release that appears, without a restart, on both protocols", async () => {
    await putRelease(root, await makeDist({ version: "1.0.0" }));
    expect(await versionsOf("widget")).toEqual(["1.0.0"]);
    await putRelease(root, await makeDist({ version: "1.1.0" }));
    await expect.poll(() => versionsOf("widget")).toEqual(["1.1.0", "1.0.0"]);
    const facade = await mirror.get(`v1/${providersUrl}/widget/versions`);
    const linux = [{ os: "linux", arch: "amd64" }];
    expect(facade.json()).toMatchObject({
      versions: [
        { version: "1.1.0", protocols: ["6.0"], platforms: linux },
        { version: "1.0.0" },
      ],
    });
  });

  it("has modules of both kinds, and refuses those that are cut", async () => {
    const list = await mirror.get(`${modulesUrl}/versions`);
    const versions = [{ version: "1.2.0" }, { version: "1.1.0" }];
    expect(list.json()).toMatchObject({
      modules: [{ versions: [...versions, { version: "1.0.0" }] }],
    });
    for (const [version, format] of [
      ["1.0.0", "tar.gz"],
      ["1.1.0", "zip"],
    ] as const) {
      const found = await mirror.get(`${modulesUrl}/${version}/download`);
      const archive = `${modulesUrl}/${version}/archive.${format}`;
      expect(found.headers["x-terraform-get"]).toBe(mirror.url + archive);
      expect((await mirror.get(archive)).status).toBe(200);
    }
    const cut = await mirror.get(`${modulesUrl}/1.2.0/download`);
    expect(cut.status).toBe(451);
    writeFiles(modules, { "1.1.0.zip": "other" });
    const kept = await mirror.get(`${modulesUrl}/1.1.0/archive.zip`);
    expect(kept.status).toBe(200);
  });

  it("refuses modules that lead out", async () => {
    symlinkSync("/etc/passwd", join(modules, "1.3.0.zip"));
    const { status, body } = await mirror.get(`${modulesUrl}/1.3.0/download`);
    expect(status).toBe(502);
    expect(body.toString()).toContain("leads out of the folder");
    expect(body.toString()).not.toContain(root);
  });

  it.each([
    `providers/${folderHost}/..%2Fescaped/widget/index.json`,
    `v1/modules/${folderHost}/../../etc/versions`,
  ])("is never left, for any address: %s", async (path) => {
    writeFiles(join(root, "..", "escaped", "widget", "1.0.0"), {});
    expect((await mirror.get(path)).status).toBeGreaterThanOrEqual(400);
  });
});
