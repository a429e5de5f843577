import { expect, it } from "vitest";
import { ModuleTrustRecords } from "../../../src/mirror/modules/records.ts";
import { ReleaseRecords } from "../../../src/mirror/releases/records.ts";
import { readNamedArchives } from "../../../src/mirror/upkeep/unnamed-records.ts";
import { address } from "../../scenes/believed-releases.ts";
import { digestOf, judgeFor, knownOf } from "../../scenes/release-sketches.ts";
import { makeLayout, openRecords } from "../../store/stores.ts";

const now = new Date("2026-05-01T00:00:00Z");
const { hostname, namespace, type } = address.provider;

/** A release, and beside it what a person left there who set something aside. */
async function prepare(aside: readonly (readonly string[])[]) {
  const records = openRecords(await makeLayout());
  const releases = new ReleaseRecords(records, {
    judge: judgeFor("K"),
    policyOf: () => ({ signatures: "required", profile: "terraform" }),
    clock: { now: () => now, monotonic: () => 0 },
  });
  const value = await knownOf({ by: "K", content: "linux=a" });
  await releases.write(address, { value, confirmedAt: now }, undefined);
  for (const key of aside) await records.create(key, {}, Object);
  return { records, releases };
}

const rest = ["releases", "1.0.0"];
const place = ["providers", hostname, namespace, type, "releases"];

it.each([
  ["of a version", [...place, "1.0.0.old"]],
  ["of a type", ["providers", hostname, namespace, "aws.old", ...rest]],
  ["of a namespace", ["providers", hostname, "acme.old", type, ...rest]],
  ["of a hostname", ["providers", "not_a_host", namespace, type, ...rest]],
])(
  "a quarantined record with the impossible name %s hides no name and no provider",
  async (_what, key) => {
    const parts = await prepare([key]);
    const { names } = await readNamedArchives(parts);
    expect([...names.keys()]).toEqual([digestOf("a")]);
    expect(await parts.releases.listProviders()).toEqual([address.provider]);
  },
);

it("what is set aside of a module hides no other", async () => {
  const folder = (name: string) =>
    ["modules", hostname, "acme", name, "aws", "archives", "1.0.0"] as const;
  const { records } = await prepare([folder("net"), folder("net.old")]);
  const modules = await new ModuleTrustRecords(records).listModules();
  expect(modules.map(({ name }) => name)).toEqual(["net"]);
});
