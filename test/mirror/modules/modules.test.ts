import { writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { tarGz, zip } from "../../fakes/module-archive.ts";
import {
  blobOf,
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import { digestOf } from "../bundles/bundles.ts";
import {
  codeOf,
  countFiles,
  getArchive,
  locate,
  makeModuleScene,
  moduleBase,
  placeOf,
  versionsOf,
} from "../../scenes/module-scene.ts";

const scene = await makeModuleScene();
let mirror: RunningMirror = await startMirror({ config: scene.configOf() });

describe("modules from archives", () => {
  it("are listed, located on the mirror, and served as they were", async () => {
    const bytes = await tarGz([["main.tf", "# network"]]);
    const url = scene.origin.serve("/files/network.tgz", bytes);
    scene.origin.publish("acme/network/aws", "1.0.0", `${url}//modules/vpc`);
    scene.origin.publish("acme/network/aws", "1.1.0-beta1", url);
    scene.origin.publish("acme/network/aws", "latest", url);

    expect(await versionsOf(mirror, "network")).toEqual([
      "1.1.0-beta1",
      "1.0.0",
    ]);
    const located = await locate(mirror, "network");
    expect(located.status).toBe(204);
    expect(located.headers["x-terraform-get"]).toBe(
      placeOf(mirror, "network", "archive.tar.gz//modules/vpc"),
    );
    const path = `${moduleBase}/network/aws/1.0.0/archive.tar.gz`;
    const head = await mirror.get(path, { method: "HEAD" });
    expect(head.headers["content-length"]).toBe(String(bytes.length));
    const archive = await mirror.get(path);
    expect(archive.headers["content-type"]).toBe("application/gzip");
    expect(archive.body).toEqual(bytes);
    const range = await mirror.get(path, { headers: { Range: "bytes=0-9" } });
    expect(range.status).toBe(206);
    expect(range.body).toEqual(bytes.subarray(0, 10));
    expect(scene.origin.count("network.tgz")).toBe(1);
  });

  it("may be relative, zipped, of any known kind, and named by archive=", async () => {
    const zipped = await zip([["main.tf", "# zip"]]);
    const path = "/v1/modules/acme/relative/aws/1.0.0/module.zip";
    scene.origin.serve(path, zipped);
    scene.origin.publish("acme/relative/aws", "1.0.0", "./module.zip");
    const named = scene.origin.serve("/files/named", zipped);
    scene.origin.publish("acme/named/aws", "1.0.0", `${named}?archive=zip&x=1`);
    const xz = Buffer.from("\xfd7zXZ\0 and more", "latin1");
    const packed = scene.origin.serve("/files/packed.tar.xz", xz);
    scene.origin.publish("acme/packed/aws", "1.0.0", packed);
    for (const [module, format, bytes] of [
      ["relative", "zip", zipped],
      ["named", "zip", zipped],
      ["packed", "tar.xz", xz],
    ] as const) {
      const { headers } = await locate(mirror, module);
      const place = placeOf(mirror, module, `archive.${format}`);
      expect(headers["x-terraform-get"]).toBe(place);
      expect((await getArchive(mirror, module, format)).body).toEqual(bytes);
    }
    expect(scene.origin.count("/files/named?x=1")).toBe(1);
    expect((await getArchive(mirror, "packed", "zip")).status).toBe(404);
  });

  it("are fetched once for many clients at once, and again where the stored archive was damaged", async () => {
    const bytes = await tarGz([["main.tf", "# many"]]);
    const url = scene.origin.serve("/files/many.tar.gz", bytes);
    scene.origin.publish("acme/many/aws", "1.0.0", url);
    const many = Array.from({ length: 20 }, () => getArchive(mirror, "many"));
    for (const { body } of await Promise.all(many)) expect(body).toEqual(bytes);
    expect(scene.origin.count("many.tar.gz")).toBe(1);
    const damaged = Buffer.from(bytes).fill(0, 20, 30);
    writeFileSync(blobOf(mirror, digestOf(bytes)), damaged);
    expect((await getArchive(mirror, "many")).body).toEqual(bytes);
    expect(scene.origin.count("many.tar.gz")).toBe(2);
  });

  it("are the same ones in each case of letters, and are asked for in lower case first", async () => {
    const bytes = await tarGz([["main.tf", "# case"]]);
    const url = scene.origin.serve("/files/case.tar.gz", bytes);
    scene.origin.publish("acme/case/aws", "1.0.0", url);
    const other = await tarGz([["main.tf", "# other"]]);
    const place = scene.origin.serve("/files/other.tar.gz", other);
    scene.origin.publish("ACME/Case/aws", "1.0.0", place);
    const base = "/v1/modules/registry.terraform.io";
    for (const name of ["acme/case", "ACME/Case", "Acme/CASE"]) {
      const answer = await mirror.get(
        `${base}/${name}/aws/1.0.0/archive.tar.gz`,
      );
      expect(answer.body).toEqual(bytes);
    }
    expect(scene.origin.count("/files/other.tar.gz")).toBe(0);
    scene.origin.publish("Only/Upper/aws", "1.0.0", url);
    const upper = `${base}/Only/Upper/aws/1.0.0/archive.tar.gz`;
    expect((await mirror.get(upper)).body).toEqual(bytes);
  });

  it("that have no room are refused, and nothing of them stays", async () => {
    const bytes = await tarGz([["main.tf", "# room"]]);
    const url = scene.origin.serve("/files/room.tar.gz", bytes);
    scene.origin.publish("acme/room/aws", "1.0.0", url);
    const directory = scratch("store");
    const storage = { directory, minFree: 2 ** 50 };
    const config = scene.configOf({ storage });
    const full = await startMirror({ directory, config });
    for (const ask of [locate, getArchive]) {
      const answer = await ask(full, "room");
      expect([answer.status, codeOf(answer)]).toEqual([503, "store-full"]);
    }
    expect(await countFiles(full, "blobs")).toBe(0);
    expect(await countFiles(full, "staging")).toBe(0);
  });

  // Each rule has its test in test/verification/archives.
  it.each<[string, () => Promise<Buffer>]>([
    ["tar.gz", () => tarGz([["a/../../out.tf", "x"]])],
    ["tar.gz", () => Promise.resolve(gzipSync(Buffer.alloc(64 << 20)))],
    ["zip", () => zip([["a", "/etc/passwd", 0o120777]])],
  ])("that are hostile are refused and not kept, as %s", async (...row) => {
    const [format, make] = row;
    const name = `hostile${hostile++}`;
    const url = scene.origin.serve(`/files/${name}.${format}`, await make());
    scene.origin.publish(`acme/${name}/aws`, "1.0.0", url);
    const before = await countFiles(mirror, "blobs");
    for (const answer of [
      await locate(mirror, name),
      await getArchive(mirror, name, format),
    ])
      expect([answer.status, codeOf(answer)]).toEqual([
        451,
        "module-archive-refused",
      ]);
    expect(await countFiles(mirror, "blobs")).toBe(before);
    expect(await countFiles(mirror, "staging")).toBe(0);
  });
  let hostile = 0;

  it("are compared with the registry's checksum", async () => {
    const bytes = await tarGz([["main.tf", "# sum"]]);
    const url = scene.origin.serve("/files/sum.tar.gz", bytes);
    const wrong = `${url}?checksum=sha256:${"0".repeat(64)}`;
    scene.origin.publish("acme/sum/aws", "1.0.0", wrong);
    const answer = await locate(mirror, "sum");
    expect(answer.status).toBe(451);
    expect(codeOf(answer)).toBe("checksum-conflict");
  });

  it("are served with the origin stopped, offline too, and then only those", async () => {
    const bytes = await tarGz([["main.tf", "# kept"]]);
    const url = scene.origin.serve("/files/kept.tar.gz", bytes);
    for (const version of ["1.0.0", "1.1.0"])
      scene.origin.publish("acme/kept/aws", version, url);
    expect(await versionsOf(mirror, "kept")).toEqual(["1.1.0", "1.0.0"]);
    await locate(mirror, "kept");
    const { directory } = mirror;
    await mirror.stop();
    await scene.origin.stop();
    try {
      const offline = await startMirror({
        config: scene.configOf({ offline: true }),
        directory,
      });
      expect(await versionsOf(offline, "kept")).toEqual(["1.0.0"]);
      const path = `${moduleBase}/kept/aws/1.0.0/archive.tar.gz`;
      expect((await locate(offline, "kept")).status).toBe(204);
      expect((await offline.get(path)).body).toEqual(bytes);
      const missing = await locate(offline, "kept", "1.1.0");
      expect(missing.status).toBe(404);
      expect(await versionsOf(offline, "unknown")).toBe(404);
      await offline.stop();
      mirror = await startMirror({ config: scene.configOf(), directory });
      expect(await versionsOf(mirror, "kept")).toEqual(["1.1.0", "1.0.0"]);
      expect((await locate(mirror, "kept")).status).toBe(204);
      expect((await locate(mirror, "kept", "1.1.0")).status).toBe(502);
    } finally {
      await scene.origin.restart();
    }
  });

  it("that do not exist are 404, and names that are none are 400", async () => {
    expect(await versionsOf(mirror, "nothing")).toBe(404);
    expect((await locate(mirror, "nothing")).status).toBe(404);
    for (const path of [
      "/a..b/aws/versions",
      "/x/AWS/versions",
      "/x/aws/v1/download",
    ])
      expect((await mirror.get(`${moduleBase}${path}`)).status).toBe(400);
    const other = "/v1/modules/example.com/acme/network/aws/versions";
    expect((await mirror.get(other)).status).toBe(451);
  });

  it("are asked for without the registry's token, which only the registry gets", async () => {
    const bytes = await tarGz([["main.tf", "# token"]]);
    const url = scene.origin.serve("/files/token.tar.gz", bytes);
    scene.origin.publish("acme/token/aws", "1.0.0", url);
    scene.origin.requests.length = 0;
    const config = scene.configOf({}, { token: { env: "REGISTRY_TOKEN" } });
    const env = { REGISTRY_TOKEN: "secret" };
    const other = await startMirror({ config, env });
    expect((await locate(other, "token")).status).toBe(204);
    const sent = scene.origin.requests.map(({ path, authorization }) => [
      path.startsWith("/files/"),
      authorization,
    ]);
    expect(sent).toContainEqual([false, "Bearer secret"]);
    expect(sent).toContainEqual([true, undefined]);
    expect(sent).not.toContainEqual([true, "Bearer secret"]);
  });
});

describe("versions", () => {
  it.each([
    ["v1.2.0", "1.2.0", "1.2.0"],
    ["1.2", "1.2.0", "1.2.0"],
    ["v1.2.0", "v1.2.0", "1.2.0"],
    ["v2", "v2", "2.0.0"],
    ["01.2.3", "01.2.3", "1.2.3"],
    ["v1.0.0-rc1", "1.0.0-rc1", "1.0.0-rc1"],
    ["1.4.0.0", "1.4.0.0", "1.4.0"],
    ["1.5.0beta2", "1.5.0beta2", "1.5.0-beta2"],
    ["v1.6+build", "v1.6+build", "1.6.0+build"],
  ])(
    "that a registry lists as %s and has as %s are %s for clients",
    async (listed, held, version) => {
      const { origin } = scene;
      const name = `spelled/v${`${listed}-${held}`.replaceAll(/[.+]/g, "-")}/aws`;
      const bytes = await tarGz([["main.tf", "# spelled"]]);
      const location = origin.serve("/spelled.tar.gz", bytes);
      origin.publish(name, held, location);
      const versions = [
        { version: listed },
        { version: "latest" },
        ...[{ version: 5 }, { versions: "1.0.0" }, "3.0.0", null],
        { version: "1.2.3.4" },
      ];
      origin.answer(`/v1/modules/${name}/versions`, {
        modules: [{ versions }],
      });
      const get = (rest: string) =>
        mirror.get(`/v1/modules/registry.terraform.io/${name}/${rest}`);
      const list = await get("versions");
      expect(JSON.parse(list.body.toString())).toMatchObject({
        modules: [{ versions: [{ version }] }],
      });
      expect((await get(`${version}/archive.tar.gz`)).status).toBe(200);
    },
  );
});
