import { afterEach, beforeEach, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import * as faults from "../../fakes/faults.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { outcomeOf, requestsFor } from "../../scenes/provider-requests.ts";

const pause = { headers: { "Retry-After": "300" } };

let registry: Registry;
let mirror: RunningMirror;
beforeEach(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  for (const [namespace, type] of [
    ["evil", "x"],
    ["evil", "y"],
    ["acme", "known"],
    ["acme", "cold"],
  ] as const)
    await registry.publish({ namespace, type, version: "1.0.0" });
  mirror = await startMirror({ config: originsOf(authority, registry) });
});
afterEach(async () => {
  await mirror.stop();
  await registry.stop();
});

it.each([
  ["checksums", 429],
  ["checksums", 503],
  ["package", 429],
] as const)(
  "a publisher whose %s answer %i with Retry-After takes no other one of the host along",
  async (kind, status) => {
    const known = requestsFor(mirror, "known");
    expect(outcomeOf(await known.version("1.0.0"))).toBe("200");
    const busy = faults.status(status, pause);
    registry.script(kind, faults.onlyFor(/\/evil\//, busy));
    for (const type of ["x", "y"]) {
      const evil = requestsFor(mirror, type, "evil");
      expect(outcomeOf(await evil.version("1.0.0"))).toBe("503 origin-busy");
    }
    const cold = requestsFor(mirror, "cold");
    expect(outcomeOf(await cold.version("1.0.0"))).toBe("200");
    expect(outcomeOf(await known.archive("1.0.0"))).toBe("200");
    const asked = registry.requests.list(kind);
    expect(asked.filter(({ path }) => path.includes("/evil/"))).toHaveLength(1);
  },
);
