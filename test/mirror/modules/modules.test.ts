import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { digestOf } from "../../fakes/archive.ts";
import { tarGz, zip } from "../../fakes/module-archive.ts";
import {
  blobOf,
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import { filesIn } from "../archives/archives.ts";
import {
  getArchive,
  locate,
  makeModuleScene,
  moduleBase,
  placeOf,
  versionsOf,
} from "../../scenes/module-scene.ts";
import { awaitLine, awaitLineOf } from "../../scenes/log-lines.ts";
import {
  awaitAudit,
  outcomeOf,
  readMetric,
} from "../../scenes/provider-requests.ts";

const scene = await makeModuleScene();
const { origin } = scene;
let mirror: RunningMirror = await startMirror({ config: scene.configOf() });

const anyModule = "/v1/modules/registry.terraform.io";

/** The outcomes of both questions about 1.0.0, of which nothing may stay. */
async function outcomes(module: string, asked = mirror, format = "tar.gz") {
  const blobs = join(asked.directory, "blobs");
  const before = filesIn(blobs);
  const answers = [
    await locate(asked, module),
    await getArchive(asked, module, format),
  ];
  expect(filesIn(blobs)).toEqual(before);
  expect(filesIn(join(asked.directory, "staging"))).toEqual([]);
  return answers.map(outcomeOf);
}

it("modules are listed, located on the mirror, and served as they were", async () => {
  const bytes = await tarGz([["main.tf", "# network"]]);
  const url = origin.serve("/files/network.tgz", bytes);
  origin.publish("acme/network/aws", "1.0.0", `${url}//modules/vpc`);
  origin.publish("acme/network/aws", "1.1.0-beta1", url);

  expect(await versionsOf(mirror, "network")).toEqual(["1.1.0-beta1", "1.0.0"]);
  const { status, headers } = await locate(mirror, "network");
  expect([status, headers["x-terraform-get"]]).toEqual([
    204,
    placeOf(mirror, "network", "archive.tar.gz//modules/vpc"),
  ]);
  const archive = await getArchive(mirror, "network");
  expect(archive.headers["content-type"]).toBe("application/gzip");
  expect(archive.body).toEqual(bytes);
  const path = `${moduleBase}/network/aws/1.0.0/archive.tar.gz`;
  const head = await mirror.get(path, { method: "HEAD" });
  expect(head.headers["content-length"]).toBe(String(bytes.length));
  const range = await mirror.get(path, { headers: { Range: "bytes=0-9" } });
  expect(range.body).toEqual(bytes.subarray(0, 10));
  expect(origin.count("network.tgz")).toBe(1);
});

it("modules may be relative, zipped, of any known kind, and named by archive=", async () => {
  const zipped = await zip([["main.tf", "# zip"]]);
  const path = "/v1/modules/acme/relative/aws/1.0.0/module.zip";
  origin.serve(path, zipped);
  origin.publish("acme/relative/aws", "1.0.0", "./module.zip");
  const named = origin.serve("/files/named", zipped);
  origin.publish("acme/named/aws", "1.0.0", `${named}?archive=zip&x=1`);
  const xz = Buffer.from("\xfd7zXZ\0 and more", "latin1");
  const packed = origin.serve("/files/packed.tar.xz", xz);
  origin.publish("acme/packed/aws", "1.0.0", packed);
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
  expect(origin.count("/files/named?x=1")).toBe(1);
  expect((await getArchive(mirror, "packed", "zip")).status).toBe(404);
});

it("a module is fetched once for many clients at once, and again where the stored archive was damaged", async () => {
  const bytes = await scene.publishArchive("many");
  const many = Array.from({ length: 20 }, () => getArchive(mirror, "many"));
  for (const { body } of await Promise.all(many)) expect(body).toEqual(bytes);
  expect(origin.count("many.tar.gz")).toBe(1);
  const damaged = Buffer.from(bytes).fill(0, 20, 30);
  writeFileSync(blobOf(mirror, digestOf(bytes)), damaged);
  expect((await getArchive(mirror, "many")).body).toEqual(bytes);
  expect(origin.count("many.tar.gz")).toBe(2);
});

it("a module is the same one in each case of letters, and is asked for in lower case first", async () => {
  const bytes = await scene.publishArchive("case");
  await scene.publishArchive("other");
  const url = `${origin.url}files/case.tar.gz`;
  origin.publish("ACME/Case/aws", "1.0.0", `${origin.url}files/other.tar.gz`);
  origin.publish("Only/Upper/aws", "1.0.0", url);
  for (const name of ["acme/case", "ACME/Case", "Acme/CASE", "Only/Upper"]) {
    const path = `${anyModule}/${name}/aws/1.0.0/archive.tar.gz`;
    expect((await mirror.get(path)).body, name).toEqual(bytes);
  }
  expect(origin.count("/files/other.tar.gz")).toBe(0);
});

const bomb = gzipSync(Buffer.alloc(64 << 20));
const linked = await zip([["a", "/etc/passwd", 0o120777]]);
const plain = await tarGz([["main.tf", ""]]);
const otherSum = `?checksum=sha256:${"0".repeat(64)}`;

// Each rule has its test in test/verification/archives.
it.each([
  ["bomb", "tar.gz", bomb, "", "451 module-archive-refused"],
  ["link", "zip", linked, "", "451 module-archive-refused"],
  ["sum", "tar.gz", plain, otherSum, "451 checksum-conflict"],
])("a wrong %s in a %s is refused and not kept", async (...row) => {
  const [name, format, bytes, query, refused] = row;
  const url = origin.serve(`/files/${name}.${format}`, bytes);
  origin.publish(`acme/${name}/aws`, "1.0.0", url + query);
  expect(await outcomes(name, mirror, format)).toEqual([refused, refused]);
});

it("a module that has no room is refused, and nothing of it stays", async () => {
  await scene.publishArchive("room");
  const directory = scratch("store");
  const config = scene.configOf({ storage: { directory, minFree: 2 ** 50 } });
  const full = await startMirror({ directory, config });
  const refused = "503 store-full";
  expect(await outcomes("room", full)).toEqual([refused, refused]);
});

it("what is stored is served with the origin stopped, offline too, and then only that", async () => {
  const bytes = await scene.publishArchive("kept", "1.0.0", "1.1.0");
  expect(await versionsOf(mirror, "kept")).toEqual(["1.1.0", "1.0.0"]);
  await locate(mirror, "kept");
  const { directory } = mirror;
  await mirror.stop();
  await origin.stop();
  try {
    const config = scene.configOf({ offline: true });
    const offline = await startMirror({ config, directory });
    expect(await versionsOf(offline, "kept")).toEqual(["1.0.0"]);
    expect((await locate(offline, "kept")).status).toBe(204);
    expect((await getArchive(offline, "kept")).body).toEqual(bytes);
    expect((await locate(offline, "kept", "1.1.0")).status).toBe(404);
    expect(await versionsOf(offline, "unknown")).toBe(404);
    await offline.stop();
    mirror = await startMirror({ config: scene.configOf(), directory });
    expect(await versionsOf(mirror, "kept")).toEqual(["1.1.0", "1.0.0"]);
    expect((await locate(mirror, "kept")).status).toBe(204);
    expect((await locate(mirror, "kept", "1.1.0")).status).toBe(502);
  } finally {
    await origin.restart();
  }
});

it.each([
  [`${moduleBase}/nothing/aws/versions`, 404],
  [`${moduleBase}/nothing/aws/1.0.0/download`, 404],
  [`${moduleBase}/a..b/aws/versions`, 400],
  [`${moduleBase}/x/AWS/versions`, 400],
  [`${moduleBase}/x/aws/v1/download`, 400],
  ["/v1/modules/example.com/acme/network/aws/versions", 451],
])("%s is answered with %i", async (path, status) => {
  expect((await mirror.get(path)).status).toBe(status);
});

it("the registry's token goes to the registry, and never to where it says that a module is", async () => {
  await scene.publishArchive("token");
  origin.requests.clear();
  const config = scene.configOf({}, { token: { env: "REGISTRY_TOKEN" } });
  const env = { REGISTRY_TOKEN: "secret" };
  const other = await startMirror({ config, env });
  expect((await locate(other, "token")).status).toBe(204);
  for (const { path, headers } of origin.requests.list())
    expect([path, headers.authorization]).toEqual([
      path,
      path.startsWith("/files/") ? undefined : "Bearer secret",
    ]);
  expect(origin.count("/files/token.tar.gz")).toBe(1);
});

it("versions have one form for clients, however the registry lists them and asks for them", async () => {
  /** As it is listed, as the registry has it, and for clients. */
  const spellings = [
    ["2.1", "2.1.0", "2.1.0"],
    ["v2", "v2", "2.0.0"],
    ["v1.6+build", "v1.6+build", "1.6.0+build"],
    ["1.5.0beta2", "1.5.0beta2", "1.5.0-beta2"],
    ["1.4.0.0", "1.4.0.0", "1.4.0"],
    ["v1.3.0", "v1.3.0", "1.3.0"],
    ["01.2.3", "01.2.3", "1.2.3"],
    ["v1.2.0", "1.2.0", "1.2.0"],
    ["v1.0.0-rc1", "1.0.0-rc1", "1.0.0-rc1"],
  ] as const;
  const held = spellings.map(([, version]) => version);
  await scene.publishArchive("spelled", ...held);
  const versions = [
    ...[{ version: "latest" }, { version: 5 }, { versions: "1.0.0" }],
    ...["3.0.0", null, { version: "1.2.3.4" }],
    ...spellings.map(([version]) => ({ version })),
  ];
  const path = "/v1/modules/acme/spelled/aws/versions";
  origin.answer(path, { modules: [{ versions }] });
  const expected = spellings.map(([, , version]) => version);
  expect(await versionsOf(mirror, "spelled")).toEqual(expected);
  for (const version of expected) {
    const archive = `${moduleBase}/spelled/aws/${version}/archive.tar.gz`;
    expect((await mirror.get(archive)).status, version).toBe(200);
  }
});

const startUnder = (policy: object) =>
  startMirror({ config: scene.configOf({ policy }) });

it("modules are denied by default, and let in by patterns of four parts", async () => {
  for (const module of ["good", "bad"])
    await scene.publishArchive(module, "1.0.0", "2.0.0");
  const host = "registry.terraform.io";
  const range = { action: "allow", versions: "< 2.0.0" };
  const rules = [
    { match: `${host}/*/*`, action: "allow" },
    { match: `${host}/acme/go*/aws`, ...range },
  ];
  const mirror = await startUnder({ default: "deny", rules });
  expect(await versionsOf(mirror, "good")).toEqual(["1.0.0"]);
  expect((await locate(mirror, "good")).status).toBe(204);
  expect((await locate(mirror, "good", "2.0.0")).status).toBe(451);
  expect(await versionsOf(mirror, "bad")).toBe(451);
  const refused = await getArchive(mirror, "bad");
  expect(outcomeOf(refused)).toBe("451 policy-denied");
});

it("a pattern denies a module under every spelling, and no other one", async () => {
  await scene.publishArchive("one");
  const location = `${origin.url}files/one.tar.gz`;
  origin.publish("EVIL/NET/aws", "1.0.0", location);
  const match = "registry.terraform.io/Evil/nE*/aws";
  const mirror = await startUnder({ rules: [{ match, action: "deny" }] });
  for (const name of ["evil/net", "Evil/Net", "EVIL/NET"])
    for (const rest of ["versions", "1.0.0/download", "1.0.0/archive.tar.gz"]) {
      const answer = await mirror.get(`${anyModule}/${name}/aws/${rest}`);
      expect(outcomeOf(answer), name + rest).toBe("451 policy-denied");
    }
  expect((await getArchive(mirror, "one")).status).toBe(200);
});

it.each([
  ["enforce", "leftOut", "refused", ["1.0.0"]],
  ["report", "reported", "reported", ["3.0.0", "2.0.0", "1.0.0"]],
] as const)(
  "versions that are left out, or would be, are counted: %s",
  async (mode, field, verdict, listed) => {
    await scene.publishArchive("partly", "1.0.0", "2.0.0", "3.0.0");
    const match = "registry.terraform.io/acme/partly/aws";
    const rule = { match, action: "deny", versions: ">= 2.0.0" };
    const mirror = await startUnder({ mode, rules: [rule] });
    const path = `${moduleBase}/partly/aws/versions`;
    for (let time = 0; time < 2; time++)
      expect(await awaitLineOf(mirror, await mirror.get(path))).toMatchObject({
        [field]: { denied: 2 },
      });
    expect(await versionsOf(mirror, "partly")).toEqual(listed);
    const detail: unknown = expect.stringMatching(
      /^2 denied; .*3\.0\.0.*2\.0\.0/,
    );
    expect(
      await awaitAudit(mirror, ({ event }) => event === "left-out"),
    ).toMatchObject([{ module: match, verdict, detail }]);
    const why = (await mirror.get(`/why/${match}`)).body.toString();
    expect(why.includes("leaves out, denied: 3.0.0")).toBe(mode === "enforce");
  },
);

it("what only clients can fetch is passed through, logged and counted", async () => {
  const locations = [
    "oci://example.com/module",
    "s3::https://s3.amazonaws.com/bucket/m\u00f3dulo.zip",
    "https://example.com/module.zip?archive=false",
    "https://example.com/m.zip?checksum=file:https://e.com/sums",
  ];
  for (const [index, location] of locations.entries()) {
    // A letter of a header is a byte.
    const place = Buffer.from(location).toString("latin1");
    origin.publish(`acme/foreign${index}/aws`, "1.0.0", place);
    const { status, headers } = await locate(mirror, `foreign${index}`);
    expect([status, headers["x-terraform-get"]]).toEqual([204, place]);
    const line = await awaitLine(mirror, ({ module }) =>
      String(module).includes(`/foreign${index}/`),
    );
    expect(line.getter).toContain(location.slice(0, 2));
  }
  const series = "provender_modules_passed_through_total";
  expect(await readMetric(mirror, series)).toBe(locations.length);
});
