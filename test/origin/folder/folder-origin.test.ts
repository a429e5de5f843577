import {
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tarGz, zip } from "../../fakes/module-archive.ts";
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
  putRelease,
  writeFiles,
} from "../../scenes/origin-folder.ts";

type Files = Record<string, Uint8Array | string>;

let root: string;
let mirror: RunningMirror;
const outside = scratch("outside");

const sums = (type: string) => `terraform-provider-${type}_2.0.0_SHA256SUMS`;

/** What is wrong with version 2.0.0 of a provider of that name, and how the log names it. */
const unfit: Readonly<
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
    (files) =>
      Object.keys(files).forEach((name) => Reflect.deleteProperty(files, name)),
    "it has no",
  ],
  unmanifested: [
    (files, type) => {
      files[`terraform-provider-${type}_2.0.0_manifest.json`] = "{}";
    },
    "no manifest",
  ],
};

/** Of these the origin says what nobody believes. */
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

async function publishBoth(
  type: string,
  edit: (files: Files, type: string) => Promise<void> | void,
): Promise<string> {
  putRelease(root, await makeDist({ type, version: "1.0.0", platforms }));
  const next = await makeDist({ type, version: "2.0.0", platforms });
  const files = filesOf(next);
  await edit(files, type);
  return writeFiles(join(root, "acme", type, "2.0.0"), files);
}

beforeAll(async () => {
  root = makeOriginFolder(await defaultSigner());
  for (const [type, [edit]] of Object.entries(unfit))
    await publishBoth(type, edit);
  for (const [type, edit] of Object.entries(refused))
    await publishBoth(type, edit);
  const links = {
    linked: sums("linked"),
    archived: "terraform-provider-archived_2.0.0_linux_amd64.zip",
  };
  for (const [type, name] of Object.entries(links)) {
    const folder = await publishBoth(type, () => undefined);
    renameSync(join(folder, name), join(outside, name));
    symlinkSync(join(outside, name), join(folder, name));
  }
  const folder = await publishBoth("abroad", () => undefined);
  renameSync(folder, join(outside, "abroad"));
  symlinkSync(join(outside, "abroad"), folder);
  const modules = join(root, "modules", "acme");
  writeFiles(join(modules, "network", "aws"), {
    "1.0.0.tar.gz": await tarGz([["main.tf", "# one"]]),
    "1.1.0.zip": await zip([["main.tf", "# two"]]),
    "1.2.0.tar.gz": (await tarGz([["main.tf", "# cut"]])).subarray(0, -4),
    "1.4.0.tar.gz": await tarGz([["main.tf", "# one or"]]),
    "1.4.0.zip": await zip([["main.tf", "# the other"]]),
    "notes.txt": "",
  });
  mkdirSync(join(modules, "network", "aws", "1.5.0.zip"));
  symlinkSync("/etc/passwd", join(modules, "network", "aws", "1.3.0.zip"));
  const origins = { [folderHost]: { directory: root } };
  mirror = await startMirror({ config: { origins } });
}, 60_000);

afterAll(() => mirror.stop());

async function versionsOf(type: string): Promise<readonly string[] | number> {
  const answer = await mirror.get(
    `providers/${folderHost}/acme/${type}/index.json`,
  );
  if (answer.status !== 200) return answer.status;
  return Object.keys((answer.json() as { versions: object }).versions);
}

function named(text: string): readonly unknown[] {
  return mirror.log.filter((line) => JSON.stringify(line).includes(text));
}

describe("a folder as an origin", () => {
  it.each([...Object.keys(unfit), "linked", "archived", "abroad"])(
    "does not list what is no whole release, and names it: %s",
    async (type) => {
      expect(await versionsOf(type)).toEqual(["1.0.0"]);
      const path = `providers/${folderHost}/acme/${type}/2.0.0.json`;
      const { status, body } = await mirror.get(path);
      expect(status).toBe(404);
      expect(body.toString()).not.toContain(root);
      const [, reason = "leads out of the folder"] = unfit[type] ?? [];
      await expect
        .poll(() => named(`acme/${type}/2.0.0`))
        .toContainEqual(
          expect.objectContaining({
            msg: "a folder is not taken for a release",
            reason: expect.stringContaining(reason) as string,
          }),
        );
    },
  );

  it.each(Object.keys(refused))(
    "is refused what nobody signed who may: %s",
    async (type) => {
      const path = `providers/${folderHost}/acme/${type}`;
      expect((await mirror.get(`${path}/2.0.0.json`)).status).toBe(451);
      expect((await mirror.get(`${path}/1.0.0.json`)).status).toBe(200);
      await expect.poll(() => named(`acme/${type}`)).not.toEqual([]);
    },
  );

  it("lists a release that appears, without a restart, on both protocols", async () => {
    putRelease(root, await makeDist({ version: "1.0.0" }));
    expect(await versionsOf("widget")).toEqual(["1.0.0"]);
    putRelease(root, await makeDist({ version: "1.1.0" }));
    await expect
      .poll(() => versionsOf("widget"), { timeout: 5_000 })
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
    const folder = putRelease(root, first);
    const { filename, bytes } = first.archive("linux_amd64");
    const path = `providers/${folderHost}/acme/replaced/${filename}`;
    expect((await mirror.get(path)).body.equals(bytes)).toBe(true);
    rmSync(folder, { recursive: true });
    putRelease(
      root,
      await makeDist({ type: "replaced", version: "1.0.0", seed: 2 }),
    );
    expect((await mirror.get(path)).body.equals(bytes)).toBe(true);
    rmSync(folder, { recursive: true });
    expect((await mirror.get(path)).body.equals(bytes)).toBe(true);
  });

  it("gives out no archive that is not the signed one", async () => {
    const release = await makeDist({
      type: "swapped",
      version: "1.0.0",
      size: 5000,
    });
    const { filename } = release.archive("linux_amd64");
    putRelease(root, release, (files) => {
      files[filename] = Buffer.alloc(5000);
    });
    const answer = await mirror.get(
      `providers/${folderHost}/acme/swapped/${filename}`,
    );
    expect(answer.complete && answer.status === 200).toBe(false);
    await expect.poll(() => named("archive-tampered")).not.toEqual([]);
  });

  it("has modules of both kinds, and refuses those that are cut or lead out", async () => {
    const base = `v1/modules/${folderHost}/acme/network/aws`;
    const list = await mirror.get(`${base}/versions`);
    expect(list.json()).toMatchObject({
      modules: [
        {
          versions: ["1.3.0", "1.2.0", "1.1.0", "1.0.0"].map((version) => ({
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
      expect(found.headers["x-terraform-get"]).toBe(`./archive.${format}`);
      expect(
        (await mirror.get(`${base}/${version}/archive.${format}`)).status,
      ).toBe(200);
    }
    expect((await mirror.get(`${base}/1.2.0/download`)).status).toBe(451);
    const abroad = await mirror.get(`${base}/1.3.0/download`);
    expect(abroad.status).toBe(502);
    expect(abroad.body.toString()).toContain("leads out of the folder");
    expect(abroad.body.toString()).not.toContain(root);
    writeFileSync(join(root, "modules/acme/network/aws/1.1.0.zip"), "other");
    expect((await mirror.get(`${base}/1.1.0/archive.zip`)).status).toBe(200);
  });

  it("is read no further than itself, whatever an address says", async () => {
    writeFiles(join(root, "..", "escaped", "widget", "1.0.0"), {});
    for (const path of [
      `providers/${folderHost}/..%2Fescaped/widget/index.json`,
      `v1/modules/${folderHost}/../../etc/versions`,
    ])
      expect((await mirror.get(path)).status).toBeGreaterThanOrEqual(400);
  });
});
