import { afterAll, afterEach, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import {
  close,
  html,
  redirect,
  status,
  type Fault,
} from "../../fakes/faults.ts";
import { startRegistry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { startTimedMirror } from "../../scenes/timed-mirror.ts";

const platforms = ["linux_amd64", "darwin_arm64"];

const authority = await createAuthority();
const registry = await startRegistry({ authority });
const files = await startRegistry({ authority });
const mirror = await startTimedMirror(
  originsOf(authority, registry, { allowPrivateAddresses: true }),
);

afterEach(() => {
  registry.heal();
  files.heal();
});

afterAll(() => mirror.close());

let names = 0;

/** Publishes a release that clients already know; its archive lies on a file server. */
async function describeRelease() {
  const type = `placed${(names += 1)}`;
  const version = "1.0.0";
  const release = await registry.publish(
    { type, version, platforms, size: 3_000 },
    files,
  );
  expect((await mirror.version(type, version)).status).toBe(200);
  registry.requests.clear();
  files.requests.clear();
  return { type, release, sha256: release.archive("linux_amd64").sha256 };
}

const asked = () =>
  [...registry.requests, ...files.requests].map(({ kind }) => kind);

it("an archive whose place came with its release is fetched without asking the registry again", async () => {
  const { type, sha256 } = await describeRelease();
  const answer = await mirror.archive(type, "1.0.0");
  expect(answer).toMatchObject({ outcome: "fetched", value: sha256 });
  expect(asked()).toEqual(["archive"]);
});

it.each<readonly [string, Fault]>([
  ["its signed URL expired", status(403)],
  ["it is gone from there", status(404)],
  ["its host answers with a page", html],
  ["its host closes the connection", close],
  ["it leads to where the mirror does not go", redirect("http://192.0.2.1/")],
])(
  "it is asked for where the registry says that it is now, when %s",
  async (_, fault) => {
    const { type, release, sha256 } = await describeRelease();
    files.script("archive", fault);
    registry.offer(release);
    const answer = await mirror.archive(type, "1.0.0");
    expect(answer).toMatchObject({ status: 200, value: sha256 });
    expect(files.requests.count("archive")).toBeGreaterThan(0);
    const kinds = [...registry.requests].map(({ kind }) => kind);
    expect(kinds).toEqual(["package", "archive"]);
  },
);

it("it is asked for once where the registry says the same again", async () => {
  const { type } = await describeRelease();
  files.script("archive", status(404));
  expect((await mirror.archive(type, "1.0.0")).status).toBe(502);
  expect(asked()).toEqual(["package", "archive"]);
});

it("it is not asked for there once the registry offers something else", async () => {
  const { type, release } = await describeRelease();
  await registry.republish(release);
  mirror.clock.pass(600_000);
  expect(await mirror.archive(type, "1.0.0")).toMatchObject({
    status: 451,
    code: "checksum-conflict",
  });
  expect(files.requests.count("archive")).toBe(0);
});
