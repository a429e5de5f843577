import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tarGz, zip } from "../fakes/module-archive.ts";
import type { Release } from "../fakes/release.ts";
import { createSigner } from "../fakes/signing.ts";
import type { RunningMirror } from "../running-mirror.ts";
import { filesOf, folderHost, makeDist, type Files } from "./origin-folder.ts";

/** A folder that stands for a registry, wherever it lies, with the keys of `acme`; paths are below it. */
export interface ServedFolder {
  readonly mirror: RunningMirror;
  /** Writes files; existing ones at the path are removed first. */
  write(path: string, files: Files): Promise<void>;
  remove(path: string): Promise<void>;
  /** Names the path for operators. */
  show(path: string): string;
}

export const sums = (type: string) =>
  `terraform-provider-${type}_2.0.0_SHA256SUMS`;

/**
 * Faults of version 2.0.0 of a provider by name, with the reason in the log.
 */
export const unfit: Readonly<
  Record<string, [(files: Files, type: string) => void, string]>
> = {
  unsummed: [
    (files, type) => void Reflect.deleteProperty(files, sums(type)),
    "it has no",
  ],
  unsigned: [
    (files, type) => void Reflect.deleteProperty(files, `${sums(type)}.sig`),
    "it has no",
  ],
  halved: [
    (files, type) =>
      Reflect.deleteProperty(
        files,
        `terraform-provider-${type}_2.0.0_darwin_arm64.zip`,
      ),
    "yet",
  ],
  renamed: [
    (files, type) => {
      files[sums(type)] = String(files[sums(type)]).replaceAll(
        "2.0.0",
        "2.0.1",
      );
    },
    "lists no archive",
  ],
  empty: [
    (files) => {
      for (const name of Object.keys(files))
        Reflect.deleteProperty(files, name);
      files["notes.txt"] = "";
    },
    "it has no",
  ],
  undescribed: [
    (files, type) =>
      Reflect.deleteProperty(
        files,
        `terraform-provider-${type}_2.0.0_manifest.json`,
      ),
    "manifest.json yet, which is terraform-registry-manifest.json",
  ],
  unmanifested: [
    (files, type) => {
      files[`terraform-provider-${type}_2.0.0_manifest.json`] = "{}";
    },
    "no manifest",
  ],
};

/** Faults for which every client is refused. */
const refused: Readonly<
  Record<string, (files: Files, type: string) => Promise<void> | void>
> = {
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
  nonsense: (files, type) => {
    files[`${sums(type)}.sig`] = "nonsense";
  },
};

const platforms = ["linux_amd64", "darwin_arm64"];

export const put = (folder: ServedFolder, release: Release) =>
  folder.write(`acme/${release.type}/${release.version}`, filesOf(release));

/** Version 1.0.0 as it was made, and 2.0.0 as it is after `edit`. */
export async function putBoth(
  folder: ServedFolder,
  type: string,
  edit: (files: Files, type: string) => Promise<void> | void,
): Promise<void> {
  await put(folder, await makeDist({ type, version: "1.0.0", platforms }));
  const files = filesOf(await makeDist({ type, version: "2.0.0", platforms }));
  await edit(files, type);
  await folder.write(`acme/${type}/2.0.0`, files);
}

export async function versionsOf(
  { mirror }: ServedFolder,
  type: string,
): Promise<readonly string[] | number> {
  const answer = await mirror.get(
    `providers/${folderHost}/acme/${type}/index.json`,
  );
  if (answer.status !== 200) return answer.status;
  return Object.keys((answer.json() as { versions: object }).versions);
}

function named({ mirror }: ServedFolder, text: string): readonly unknown[] {
  return mirror.log.filter((line) => JSON.stringify(line).includes(text));
}

/** 2.0.0 is not taken for a release, for a reason that the log tells. */
export async function expectUnfit(
  folder: ServedFolder,
  type: string,
  reason: string,
): Promise<void> {
  const { mirror } = folder;
  expect(await versionsOf(folder, type)).toEqual(["1.0.0"]);
  const path = `providers/${folderHost}/acme/${type}/2.0.0.json`;
  const { status, body } = await mirror.get(path);
  expect(status).toBe(404);
  expect(body.toString()).not.toContain(folder.show(""));
  await expect
    .poll(() => mirror.log)
    .toContainEqual(
      expect.objectContaining({
        msg: "a folder is not taken for a release",
        folder: folder.show(`acme/${type}/2.0.0`),
        reason: expect.stringContaining(reason) as string,
      }),
    );
}

/** Tests the rules of every folder that stands for a registry. */
export function describeServedFolder(
  name: string,
  start: () => Promise<ServedFolder>,
): void {
  describe(name, () => {
    let folder: ServedFolder;
    let mirror: RunningMirror;

    beforeAll(async () => {
      folder = await start();
      ({ mirror } = folder);
      for (const [type, [edit]] of Object.entries(unfit))
        await putBoth(folder, type, edit);
      for (const [type, edit] of Object.entries(refused))
        await putBoth(folder, type, edit);
      await folder.write("modules/acme/network/aws", {
        "1.0.0.tar.gz": await tarGz([["main.tf", "# one"]]),
        "1.1.0.zip": await zip([["main.tf", "# two"]]),
        "1.2.0.tar.gz": (await tarGz([["main.tf", "# cut"]])).subarray(0, -4),
        "1.4.0.tar.gz": await tarGz([["main.tf", "# one or"]]),
        "1.4.0.zip": await zip([["main.tf", "# the other"]]),
        "notes.txt": "",
      });
      await folder.write("modules/acme/network/aws/1.5.0.zip", { "a.tf": "" });
    }, 60_000);

    afterAll(() => mirror.stop());

    it.each(Object.entries(unfit))(
      "does not list what is no whole release, and names it: %s",
      (type, [, reason]) => expectUnfit(folder, type, reason),
    );

    it.each(Object.keys(refused))(
      "is refused without a signature by an allowed key: %s",
      async (type) => {
        const path = `providers/${folderHost}/acme/${type}`;
        expect((await mirror.get(`${path}/2.0.0.json`)).status).toBe(451);
        expect((await mirror.get(`${path}/1.0.0.json`)).status).toBe(200);
        await expect.poll(() => named(folder, `acme/${type}`)).not.toEqual([]);
      },
    );

    it("lists a release that appears, without a restart, on both protocols", async () => {
      await put(folder, await makeDist({ version: "1.0.0" }));
      expect(await versionsOf(folder, "widget")).toEqual(["1.0.0"]);
      await put(folder, await makeDist({ version: "1.1.0" }));
      await expect
        .poll(() => versionsOf(folder, "widget"))
        .toEqual(["1.1.0", "1.0.0"]);
      const facade = await mirror.get(
        `v1/providers/${folderHost}/acme/widget/versions`,
      );
      expect(facade.json()).toMatchObject({
        versions: [
          {
            version: "1.1.0",
            protocols: ["6.0"],
            platforms: [{ os: "linux", arch: "amd64" }],
          },
          { version: "1.0.0" },
        ],
      });
    });

    it("serves the first content of a release, also when the folder has another", async () => {
      const first = await makeDist({
        type: "replaced",
        version: "1.0.0",
        size: 5000,
      });
      await put(folder, first);
      const { filename, bytes } = first.archive("linux_amd64");
      const path = `providers/${folderHost}/acme/replaced/${filename}`;
      expect((await mirror.get(path)).body.equals(bytes)).toBe(true);
      await folder.remove("acme/replaced/1.0.0");
      await put(
        folder,
        await makeDist({ type: "replaced", version: "1.0.0", seed: 2 }),
      );
      expect((await mirror.get(path)).body.equals(bytes)).toBe(true);
      await folder.remove("acme/replaced/1.0.0");
      expect((await mirror.get(path)).body.equals(bytes)).toBe(true);
    });

    it("gives out no archive that is not the signed one", async () => {
      const release = await makeDist({
        type: "swapped",
        version: "1.0.0",
        size: 5000,
      });
      const { filename } = release.archive("linux_amd64");
      await put(folder, release);
      await folder.write("acme/swapped/1.0.0", {
        [filename]: Buffer.alloc(5000),
      });
      const answer = await mirror.get(
        `providers/${folderHost}/acme/swapped/${filename}`,
      );
      expect(answer.complete && answer.status === 200).toBe(false);
      await expect
        .poll(() => named(folder, "archive-tampered"))
        .not.toEqual([]);
    });

    it("has modules of both kinds, and refuses those that are cut", async () => {
      const base = `v1/modules/${folderHost}/acme/network/aws`;
      const list = await mirror.get(`${base}/versions`);
      expect(list.json()).toMatchObject({
        modules: [
          {
            versions: ["1.2.0", "1.1.0", "1.0.0"].map((version) => ({
              version,
            })),
          },
        ],
      });
      for (const [version, format] of [
        ["1.0.0", "tar.gz"],
        ["1.1.0", "zip"],
      ] as const) {
        const found = await mirror.get(`${base}/${version}/download`);
        expect(found.headers["x-terraform-get"]).toBe(
          `${mirror.url}${base}/${version}/archive.${format}`,
        );
        expect(
          (await mirror.get(`${base}/${version}/archive.${format}`)).status,
        ).toBe(200);
      }
      expect((await mirror.get(`${base}/1.2.0/download`)).status).toBe(451);
      await folder.write("modules/acme/network/aws", { "1.1.0.zip": "other" });
      expect((await mirror.get(`${base}/1.1.0/archive.zip`)).status).toBe(200);
    });
  });
}
