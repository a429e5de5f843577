import { afterEach, expect, it } from "vitest";
import {
  close,
  html,
  redirect,
  status,
  type Fault,
} from "../../fakes/faults.ts";
import { digestOf } from "../../fakes/archive.ts";
import { startRegistry } from "../../fakes/registry.ts";
import { sha256Of } from "../../fakes/release.ts";
import { originsOf } from "../../origins.ts";
import { startMirror } from "../../running-mirror.ts";
import { outcomeOf, requestsFor } from "../../scenes/provider-requests.ts";
import { startOrigin } from "../../scenes/world.ts";

const platforms = ["linux_amd64", "darwin_arm64"];

const { authority, registry } = await startOrigin();
const files = await startRegistry({ authority });
const mirror = await startMirror({
  config: originsOf(authority, registry, { allowPrivateAddresses: true }),
});

afterEach(() => {
  registry.heal();
  files.heal();
});

let names = 0;

/** Publishes a release that clients already know; its archive lies on a file server. */
async function describeRelease() {
  const type = `placed${(names += 1)}`;
  const release = await registry.publish(
    { type, version: "1.0.0", platforms, size: 3_000 },
    files,
  );
  const ask = requestsFor(mirror, type);
  expect(await ask.outcome("1.0.0")).toBe("200");
  registry.requests.clear();
  files.requests.clear();
  const expectWhole = async () =>
    expect(digestOf((await ask.archive("1.0.0")).body)).toBe(sha256Of(release));
  return { release, expectWhole, archive: () => ask.archive("1.0.0") };
}

const asked = () =>
  [...registry.requests, ...files.requests].map(({ kind }) => kind);

it("an archive whose place came with its release is fetched without asking the registry again", async () => {
  const { expectWhole } = await describeRelease();
  await expectWhole();
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
    const { release, expectWhole } = await describeRelease();
    files.script("archive", fault);
    registry.offer(release);
    await expectWhole();
    expect(files.requests.count("archive")).toBeGreaterThan(0);
    const kinds = [...registry.requests].map(({ kind }) => kind);
    expect(kinds).toEqual(["package", "archive"]);
  },
);

it("it is asked for once where the registry says the same again, and not at all where that offers something else", async () => {
  files.script("archive", status(404));
  const same = await describeRelease();
  expect(outcomeOf(await same.archive())).toBe("502 origin-status");
  expect(asked()).toEqual(["package", "archive"]);
  const other = await describeRelease();
  await registry.republish(other.release);
  expect(outcomeOf(await other.archive())).toBe("451 checksum-conflict");
  expect(asked()).toEqual(["package", "archive"]);
});
