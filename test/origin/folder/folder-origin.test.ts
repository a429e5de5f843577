import { existsSync, renameSync, symlinkSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { tarGz, zip } from "../../fakes/module-archive.ts";
import type { Release } from "../../fakes/release.ts";
import { createSigner, defaultSigner } from "../../fakes/signing.ts";
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import {
  filesOf,
  folderHost,
  makeDist,
  makeOriginFolder,
  writeFiles,
  type Files,
} from "../../scenes/origin-folder.ts";

/** A folder that stands for a registry, wherever it lies, with the keys of `acme`; paths are below it. */
interface ServedFolder {
  readonly mirror: RunningMirror;
  /** Writes files; a new folder appears whole. */
  write(path: string, files: Files): Promise<void>;
  /** Names the path for operators. */
  show(path: string): string;
}

const sums = (type: string) => `terraform-provider-${type}_2.0.0_SHA256SUMS`;

type Edit = (files: Files, type: string) => Promise<void> | void;

const lose =
  (name: (type: string) => string): Edit =>
  (files, type) =>
    void Reflect.deleteProperty(files, name(type));
const manifestOf = (type: string) =>
  `terraform-provider-${type}_2.0.0_manifest.json`;

/** Faults of version 2.0.0 of a provider by name, with the reason in the log. */
const unfit: Readonly<Record<string, [Edit, string]>> = {
  unsummed: [lose(sums), "it has no"],
  unsigned: [lose((type) => `${sums(type)}.sig`), "it has no"],
  renamed: [
    (files, type) => {
      const text = String(files[sums(type)]);
      files[sums(type)] = text.replaceAll("2.0.0", "2.0.1");
    },
    "lists no archive",
  ],
  undescribed: [
    lose(manifestOf),
    "manifest.json yet, which is terraform-registry-manifest.json",
  ],
  unmanifested: [
    (files, type) => void (files[manifestOf(type)] = "{}"),
    "no manifest",
  ],
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

const platforms = ["linux_amd64", "darwin_arm64"];

const put = (folder: ServedFolder, release: Release) =>
  folder.write(`acme/${release.type}/${release.version}`, filesOf(release));

/** Version 1.0.0 as it was made, and 2.0.0 as it is after `edit`. */
async function putBoth(
  folder: ServedFolder,
  type: string,
  edit: Edit,
): Promise<void> {
  await put(folder, await makeDist({ type, version: "1.0.0", platforms }));
  const files = filesOf(await makeDist({ type, version: "2.0.0", platforms }));
  await edit(files, type);
  await folder.write(`acme/${type}/2.0.0`, files);
}

async function versionsOf(
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
async function expectUnfit(
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

let root: string;

async function serveDirectory(): Promise<ServedFolder> {
  root = makeOriginFolder(await defaultSigner());
  const origins = { [folderHost]: { directory: root } };
  const show = (path: string) => join(root, path);
  return {
    mirror: await startMirror({ config: { origins } }),
    show,
    write: (path, files) => putFolder(show(path), files),
  };
}

/** Writes files; a new folder appears whole, by one rename. */
async function putFolder(path: string, files: Files): Promise<void> {
  if (existsSync(path)) return void writeFiles(path, files);
  await mkdir(dirname(path), { recursive: true });
  await rename(writeFiles(join(scratch("put"), "made"), files), path);
}

describe("a directory as an origin", () => {
  let folder: ServedFolder;
  let mirror: RunningMirror;

  beforeAll(async () => {
    folder = await serveDirectory();
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
