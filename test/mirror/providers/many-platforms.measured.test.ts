import { afterAll, beforeAll, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { outcomeOf, requestsFor } from "../../scenes/provider-requests.ts";

let registry: Registry;
let mirror: RunningMirror;
beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
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
  mirror = await startMirror({ config: originsOf(authority, registry) });
});
afterAll(async () => {
  await mirror.stop();
  await registry.stop();
});

it("refuses a release with more platforms than anybody has", async () => {
  const answer = await requestsFor(mirror, "wide").version("2.0.0");
  expect(outcomeOf(answer)).toBe("451 checksums-malformed");
});

it("answers /healthz within 100 ms while four clients ask for the widest release", async () => {
  const ask = requestsFor(mirror, "wide");
  expect((await ask.version("1.0.0")).status).toBe(200);
  const until = performance.now() + 3_000;
  const clients = Array.from({ length: 4 }, async () => {
    while (performance.now() < until) await ask.version("1.0.0");
  });
  const times: number[] = [];
  while (performance.now() < until) {
    const start = performance.now();
    await mirror.get("/healthz");
    times.push(performance.now() - start);
  }
  await Promise.all(clients);
  times.sort((a, b) => a - b);
  const p99 = times[Math.floor(times.length * 0.99)] ?? 0;
  console.info(`/healthz p99 ${p99.toFixed(0)} ms of ${times.length}`);
  expect(p99).toBeLessThan(100);
});
