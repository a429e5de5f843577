import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createSigner, defaultSigner } from "../../fakes/signing.ts";
import {
  startLooseBucket,
  type LooseBucket,
} from "../../fakes/loose-bucket.ts";
import { runCommand } from "../../running-command.ts";
import { scratch } from "../../running-mirror.ts";
import {
  filesOf,
  folderHost,
  keysOf,
  makeDist,
  writeFiles,
  type Files,
} from "../../scenes/origin-folder.ts";
import { expectDocument } from "../documents.ts";

const sums = "terraform-provider-widget_1.0.0_SHA256SUMS";
const zip = "terraform-provider-widget_1.0.0_linux_amd64.zip";
const to = "s3://loose/team/providers";
const place = "team/providers/acme/widget/1.0.0";

let bucket: LooseBucket;
let objects: Map<string, Buffer>;
let config: string;
let dist: Files;

beforeAll(async () => {
  bucket = await startLooseBucket({ keepsConditions: true });
  objects = bucket.objects as Map<string, Buffer>;
  config = join(scratch("config"), "provender.json");
  const s3 = { ...bucket.settings, prefix: "team" };
  const storage = { directory: scratch("none"), s3 };
  const origins = { [folderHost]: { bucketPrefix: "providers" } };
  const listen = { tls: "off" };
  writeFileSync(config, JSON.stringify({ listen, storage, origins }));
  const platforms = ["linux_amd64", "darwin_arm64"];
  dist = filesOf(await makeDist({ version: "1.0.0", size: 3000, platforms }));
});

beforeEach(async () => {
  objects.clear();
  hold("team/providers/acme/keys", keysOf(await defaultSigner()));
});

afterAll(() => bucket.stop());

function hold(path: string, files: Files): void {
  for (const [name, content] of Object.entries(files))
    objects.set(`${path}/${name}`, Buffer.from(content));
}

/** What has the place of the release, in the order in which it was put there. */
function held(): Files {
  const found = [...objects].filter(([key]) => key.startsWith(`${place}/`));
  return Object.fromEntries(
    found.map(([key, bytes]) => [key.slice(place.length + 1), bytes]),
  );
}

function without(files: Files, name: string): Files {
  const rest = Object.entries(files).filter(([one]) => one !== name);
  return Object.fromEntries(rest);
}

function bytesOf(files: Files): Files {
  const all = Object.entries(files);
  return Object.fromEntries(all.map(([name, one]) => [name, Buffer.from(one)]));
}

async function publish(files: Files, into = to) {
  const from = writeFiles(join(scratch("dist"), "dist"), files);
  const args = ["publish", from, "--to", into, "--config", config, "--json"];
  return runCommand(args);
}

const otherDist = async () =>
  filesOf(
    await makeDist({
      version: "1.0.0",
      size: 3000,
      seed: 2,
      platforms: ["linux_amd64", "darwin_arm64"],
    }),
  );

describe("publish into a bucket", () => {
  it("puts a release there, with what makes it one at last, and once", async () => {
    const { status, stdout, stderr } = await publish({ ...dist, more: "" });
    expect(stderr).toContain(`${to}/acme/widget/1.0.0 is published`);
    expect(status).toBe(0);
    const path = `${to}/acme/widget/1.0.0`;
    expect(expectDocument("publish", stdout)).toMatchObject({
      releases: [{ provider: "acme/widget", path, outcome: "published" }],
    });
    expect(held()).toEqual(bytesOf(dist));
    expect(Object.keys(held()).slice(-2)).toEqual([`${sums}.sig`, sums]);

    const again = await publish(dist);
    expect(again.stderr).toContain("is there already, with this content");
    const other = await publish(await otherDist());
    expect(other.status).toBe(1);
    expect(other.stderr).toContain("is there with other content");
    expect(held()).toEqual(bytesOf(dist));
  });

  it.each<[string, () => Files | Promise<Files>, string]>([
    ["no signature", () => without(dist, `${sums}.sig`), `has no ${sums}.sig`],
    ["a missing archive", () => without(dist, zip), `it has no ${zip} yet`],
    ["another archive", () => ({ ...dist, [zip]: Buffer.alloc(3000) }), zip],
    [
      "a stranger's signature",
      async () => {
        const stranger = await createSigner();
        const text = Buffer.from(String(dist[sums]));
        return { ...dist, [`${sums}.sig`]: await stranger.sign(text) };
      },
      "key",
    ],
  ])("refuses %s and leaves nothing", async (_, make, reason) => {
    const { status, stderr } = await publish(await make());
    expect(stderr).toContain(reason);
    expect(status).toBe(1);
    expect(held()).toEqual({});
  });

  it.each<[string, (other: Files) => Files, string]>([
    [
      "an archive of another release",
      (other) => ({ [zip]: other[zip] ?? "" }),
      "take it away if it stays",
    ],
    [
      "another signature",
      (other) => ({ [`${sums}.sig`]: other[`${sums}.sig`] ?? "" }),
      "take it away if it stays",
    ],
    [
      "a half with SHA256SUMS",
      () => without(dist, zip),
      "would be refused, so take it away",
    ],
    [
      "a damaged archive",
      () => ({ ...dist, [zip]: "damaged" }),
      "would be refused, so take it away",
    ],
  ])("writes over nothing where %s has the place", async (_, put, reason) => {
    const before = put(await otherDist());
    hold(place, before);
    const { status, stderr } = await publish(dist);
    expect(stderr).toContain(reason);
    expect(status).toBe(1);
    expect(held()).toMatchObject(bytesOf(before));
    expect(Object.keys(held())).toEqual(
      expect.arrayContaining(Object.keys(before)),
    );
  });

  it("goes on where the same release was left half", async () => {
    hold(place, { [zip]: dist[zip] ?? "" });
    expect(await publish(dist)).toMatchObject({ status: 0 });
    expect(held()).toEqual(bytesOf(dist));
  });

  it("lets one of several win who publish a version at once, whole", async () => {
    const all = [dist, await otherDist(), { ...dist, [zip]: dist[zip] ?? "" }];
    const runs = await Promise.all(all.map((files) => publish(files)));
    const [ours, theirs, same] = runs.map(({ status }) => status);
    expect(same).toBe(ours);
    expect([ours, theirs].toSorted()).toEqual([0, 1]);
    expect(held()).toEqual(bytesOf(all[ours === 0 ? 0 : 1] ?? {}));
  });

  it.each(["s3://loose/team/records", "s3://other/team/providers"])(
    "takes no place that is no origin's: %s",
    async (into) => {
      const { status, stderr } = await publish(dist, into);
      expect(stderr).toContain('"bucketPrefix" of an origin');
      expect(status).toBe(2);
      expect(held()).toEqual({});
    },
  );
});
