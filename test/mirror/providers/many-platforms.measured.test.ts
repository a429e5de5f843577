import { expect, it } from "vitest";
import { body } from "../../fakes/faults.ts";
import { measureHealth } from "../../scenes/health-client.ts";
import { outcomeOf, requestsFor } from "../../scenes/provider-requests.ts";
import { startWorld } from "../../scenes/world.ts";

const { registry, mirror } = await startWorld();
for (const [version, count] of [
  ["1.0.0", 256],
  ["2.0.0", 257],
] as const)
  await registry.publish({
    type: "wide",
    version,
    size: 1_000,
    platforms: Array.from({ length: count }, (_, n) => `linux_arch${n}`),
  });
await registry.publish({ type: "listed", version: "1.0.0", size: 1_000 });

it("refuses a release with more platforms than anybody has", async () => {
  const answer = await requestsFor(mirror, "wide").version("2.0.0");
  expect(outcomeOf(answer)).toBe("451 checksums-malformed");
});

it("refuses lists whose versions name more platforms than anybody has", async () => {
  const platforms = Array.from({ length: 8_000 }, (_, n) => ({
    os: "linux",
    arch: `arch${n}`,
  }));
  const versions = Array.from({ length: 50 }, (_, n) => ({
    version: `1.0.${n}`,
    platforms: platforms.slice(n),
  }));
  registry.script("versions", body(JSON.stringify({ versions })));
  const index = await requestsFor(mirror, "listed").index();
  expect(outcomeOf(index)).toBe("502 origin-answer");
  registry.heal();
});

it("answers /healthz within 100 ms while four clients ask for the widest release", async () => {
  const ask = requestsFor(mirror, "wide");
  expect(await ask.outcome("1.0.0")).toBe("200");
  const until = performance.now() + 4_000;
  const { times } = await measureHealth(mirror, () =>
    Promise.all(
      Array.from({ length: 4 }, async () => {
        while (performance.now() < until) await ask.version("1.0.0");
      }),
    ),
  );
  console.info("/healthz", times);
  expect(times.p99).toBeLessThan(100);
});
