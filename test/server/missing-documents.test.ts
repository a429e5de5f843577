import { afterEach, expect, it } from "vitest";
import { onlyFor, status, type Fault } from "../fakes/faults.ts";
import type { RequestKind } from "../fakes/request-log.ts";
import { createSigner } from "../fakes/signing.ts";
import { startMirror, type RunningMirror } from "../running-mirror.ts";
import {
  eventually,
  listedIn,
  requestsFor,
  runCommand,
} from "../scenes/provider-requests.ts";
import { startOrigin } from "../scenes/world.ts";

const host = "registry.terraform.io";

const { registry, config: origins } = await startOrigin();
const signer = await createSigner({ name: "Known" });
const config = { ...origins, freshness: { versions: "500ms" } };
afterEach(() => registry.heal());

const start = (changes: object = {}, directory?: string) =>
  startMirror({
    ...{ config: { ...config, ...changes }, limits: { absence: 500 } },
    ...(directory && { directory }),
  });

/** A provider that lists 1.0.0, 1.1.0 and 2.0.0, of which the last has this fault. */
async function publish(
  type: string,
  faults: Partial<Record<RequestKind, Fault>> = {},
) {
  for (const version of ["1.0.0", "1.1.0", "2.0.0"])
    await registry.publish({ type, version, signer, size: 2_000 });
  for (const [kind, fault] of Object.entries(faults))
    registry.script(kind as RequestKind, onlyFor(/2\.0\.0/, fault));
}

const prefetch = (mirror: RunningMirror, spec: string) =>
  runCommand(mirror, "prefetch", "--platform", "linux_amd64", `acme/${spec}`);

it.each<[string, Partial<Record<RequestKind, Fault>>]>([
  ["package", { package: status(404) }],
  ["checksums", { checksums: status(410) }],
  ["signature", { signature: status(404) }],
])(
  "a listed release whose registry has no %s of it is shown to no client until it has",
  async (type, faults) => {
    await publish(type, faults);
    const mirror = await start();
    const ask = requestsFor(mirror, type);
    expect(await ask.listed()).toEqual(["1.0.0", "1.1.0"]);
    expect(await ask.outcome("2.0.0")).toBe("404 not-found");
    const facade = `/v1/providers/${host}/acme/${type}/versions`;
    const versions = await mirror.get(facade);
    expect(listedIn(versions)).toEqual(["1.0.0", "1.1.0"]);
    expect(versions.json()).toMatchObject({
      warnings: [
        "This mirror leaves out, held back: 2.0.0 (its registry lists it and does not have its documents)",
      ],
    });
    const why = await runCommand(mirror, "explain", `acme/${type}@2.0.0`);
    expect(why.stdout).toMatch(/lists it without having its documents .*Z: /);
    expect(await prefetch(mirror, type)).toMatchObject({ status: 0 });
    registry.heal();
    await eventually(
      () => ask.listed(),
      (listed) => listed.includes("2.0.0"),
    );
    expect(await ask.outcome("2.0.0")).toBe("200");
    // What was prefetched is the newest that could be had.
    await mirror.stop();
    const offline = await start({ offline: true }, mirror.directory);
    expect(await requestsFor(offline, type).listed()).toEqual(["1.1.0"]);
  },
);

it("a version that came out this minute is found by whoever asks in person, and listed from then on", async () => {
  const mirror = await start({ freshness: { versions: "1h" } });
  const type = "minute-old";
  await publish(type);
  const ask = requestsFor(mirror, type);
  const before = ["1.0.0", "1.1.0", "2.0.0"];
  expect(await ask.listed()).toEqual(before);
  // Somebody asked before it was there, which is remembered for a while.
  expect(await ask.outcome("2.1.0")).toBe("404 not-found");
  await registry.publish({ type, version: "2.1.0", signer });
  expect(await ask.listed()).toEqual(before);
  const explained = await eventually(
    () => runCommand(mirror, "explain", `acme/${type}@2.1.0`),
    (run) => run.status === 0,
    20_000,
  );
  expect(explained.stdout).toContain("Clients get it");
  expect(await ask.listed()).toEqual([...before, "2.1.0"]);

  await registry.publish({ type, version: "2.2.0", signer });
  const fetched = await eventually(
    () => prefetch(mirror, `${type}@> 2.1`),
    (run) => run.status === 0,
    20_000,
  );
  expect(fetched.stderr).toContain("1 fetched");
});
