import { afterAll, beforeAll, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { filledWith } from "../../scenes/large-documents.ts";
import { canSeeProcesses, peakOf } from "../../scenes/processes.ts";
import { outcomeOf, requestsFor } from "../../scenes/provider-requests.ts";

const atOnce = 60;

let registry: Registry;
let mirror: RunningMirror;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  mirror = await startMirror({ config: originsOf(authority, registry) });
});

afterAll(async () => {
  await mirror.stop();
  await registry.stop();
});

it.skipIf(!canSeeProcesses).each([
  ["texts", '"a"'],
  ["objects", "{}"],
  ["numbers", "1.5"],
])(
  "sixty documents of 8 MiB at once, full of %s, leave the daemon below a gibibyte",
  { timeout: 120_000 },
  async (name, item) => {
    const document = filledWith(item, '{"versions":[', "]}");
    const asked = Array.from({ length: atOnce }, (_, n) => {
      const type = `${name}${n}`;
      registry.serve(`/v1/providers/acme/${type}/versions`, document);
      return requestsFor(mirror, type).index();
    });
    const outcomes = (await Promise.all(asked)).map(outcomeOf);
    const peak = peakOf(mirror.process.pid ?? 0) / 2 ** 20;
    console.info(name, `${peak.toFixed(0)} MiB`, [...new Set(outcomes)]);
    for (const outcome of outcomes) expect(outcome).toMatch(/^50[234] /);
    expect((await mirror.get("/healthz")).status).toBe(200);
    expect(peak).toBeLessThan(1_024);
  },
);
