import { expect, it } from "vitest";
import { onlyFor, slow, status as statusOf } from "../../fakes/faults.ts";
import { eventually, requestsFor } from "../../scenes/provider-requests.ts";
import { startWorld } from "../../scenes/world.ts";

const offered = ["linux_amd64", "darwin_arm64", "windows_amd64"];
const folder = "providers/registry.terraform.io/acme/widget/";

const { registry, mirror } = await startWorld({
  platforms: ["linux_amd64", "darwin_arm64", "plan9_386"],
});
for (const version of ["1.0.0", "1.1.0"])
  await registry.publish({ version, platforms: offered });

/** Platforms of a version that have an `h1:`, which comes after the `zh:`: clients check the first hash that they know. */
async function hashed(version = "1.0.0"): Promise<readonly string[]> {
  const answer = await mirror.get(`${folder}${version}.json`);
  const { archives } = answer.json() as {
    archives: Record<string, { hashes: readonly string[] }>;
  };
  for (const { hashes } of Object.values(archives))
    expect(hashes[0]).toMatch(/^zh:/);
  return Object.entries(archives)
    .filter(([, { hashes }]) => hashes.some((hash) => hash.startsWith("h1:")))
    .map(([name]) => name);
}

it("fetches and hashes the configured platforms of a version that is asked for, and of no other", async () => {
  await mirror.get(`${folder}index.json`);
  expect(registry.requests.count("archive")).toBe(0);
  const names = await eventually(
    () => hashed(),
    ({ length }) => length >= 2,
  );
  expect(names).toEqual(["darwin_arm64", "linux_amd64"]);
  expect(registry.requests.count("archive")).toBe(2);
  await hashed();
  expect(registry.requests.count("archive")).toBe(2);
});

it("says which platform its registry has not", async () => {
  const platform = "windows_amd64";
  const type = "without";
  await registry.publish({ type, version: "1.0.0", platforms: offered });
  registry.script("package", onlyFor(/windows\/amd64$/, statusOf(404)));
  const ask = requestsFor(mirror, type);
  const answer = await ask.archive("1.0.0", { platform });
  registry.heal();
  expect(answer.status).toBe(404);
  expect(answer.reason).toContain("The origin registry says");
  expect(answer.body.toString()).toContain(
    `acme/${type} 1.0.0 for ${platform} does not exist`,
  );
});

it("fetches for other namespaces while all that one of them has comes slowly", async () => {
  registry.script("archive", onlyFor(/slow/, slow(80_000)));
  for (const n of [1, 2, 3, 4]) {
    const one = { namespace: "slow", type: `slow${n}`, version: "1.0.0" };
    await registry.publish({ ...one, platforms: offered, size: 3_000_000 });
    await requestsFor(mirror, one.type, one.namespace).version("1.0.0");
  }
  await registry.requests.reach("archive", 4);
  await mirror.get(`${folder}1.1.0.json`);
  const names = await eventually(
    () => hashed("1.1.0"),
    ({ length }) => length >= 2,
  );
  expect(names).toEqual(["darwin_arm64", "linux_amd64"]);
});
