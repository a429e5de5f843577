import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { all, chunked, onlyFor, slow, type Fault } from "../../fakes/faults.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { makeRelease, type Release } from "../../fakes/release.ts";
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";
import { contentOnly, putIntoTree } from "../../scenes/mirror-tree.ts";
import { eventually, requestsFor } from "../../scenes/provider-requests.ts";

const slowHost = "slow.example.com";
const otherHost = "other.example.com";
const places = 8;
/** Faster than the least rate, and more than a test's worth. */
const rate = 80_000;
const size = 4 * 1024 * 1024;

let far: Registry;
let other: Registry;
let caFile: string;
let types = 0;
let mirror: RunningMirror;

beforeAll(async () => {
  const authority = await createAuthority();
  far = await startRegistry({ authority });
  other = await startRegistry({ authority });
  caFile = join(scratch("ca"), "ca.pem");
  writeFileSync(caFile, authority.caPem);
});

afterEach(() => {
  far.heal();
  far.requests.clear();
});

afterAll(() => Promise.all([far.stop(), other.stop()]));

function start(): Promise<RunningMirror> {
  const originAt = ({ url }: Registry) => ({
    networkMirror: `${url}tree/`,
    signatures: "when-published",
    ca: caFile,
  });
  const origins = { [slowHost]: originAt(far), [otherHost]: originAt(other) };
  return startMirror({ config: { origins } });
}

/** A release in the tree of an origin that tells the h1 alone. */
async function put(
  origin: Registry,
  hostname: string,
  bytes: number,
): Promise<Release> {
  types += 1;
  const type = `learnt${types}`;
  const release = await makeRelease({
    type,
    version: "1.0.0",
    size: bytes,
    platforms: ["linux_amd64"],
  });
  putIntoTree(origin, hostname, release, contentOnly);
  return release;
}

describe("archives of an origin whose digests have to be learnt", () => {
  it.each<[string, Fault]>([
    ["come slowly", slow(rate)],
    ["come slowly and in pieces", all(slow(rate), chunked)],
    [
      "come slowly and without a length",
      all(slow(rate), (reply) => ({ ...reply, framing: "close" })),
    ],
  ])("delay no other client's when they %s", async (_, fault) => {
    far.script("other", onlyFor(/\.zip$/, fault));
    mirror = await start();
    try {
      const slowOnes = await Promise.all(
        Array.from({ length: places + 2 }, () => put(far, slowHost, size)),
      );
      for (const { type } of slowOnes)
        void requestsFor(mirror, type, "acme", slowHost)
          .archive("1.0.0")
          .catch(() => undefined);
      const begun = async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return far.requests.list().filter(({ path }) => path.endsWith(".zip"));
      };
      await eventually(begun, ({ length }) => length === places);
      const release = await put(other, otherHost, 1_000);
      const answer = await requestsFor(
        mirror,
        release.type,
        "acme",
        otherHost,
      ).archive("1.0.0");
      const { bytes: expected } = release.archive("linux_amd64");
      expect(answer.body.equals(expected)).toBe(true);
      expect(await begun()).toHaveLength(places);
    } finally {
      await mirror.kill();
    }
  });
});
