import { afterEach, expect, it } from "vitest";
import { delayed, type Fault, hang, onlyFor } from "../../fakes/faults.ts";
import type { RequestKind } from "../../fakes/request-log.ts";
import { outcomeOf, requestsFor } from "../../scenes/provider-requests.ts";
import { startWorld } from "../../scenes/world.ts";

const { registry, mirror } = await startWorld();
afterEach(() => registry.heal());

/** Faults by the kind of an answer. */
type Slow = Readonly<Partial<Record<RequestKind, Fault>>>;
const late = delayed(2_600);

it.each<[string, Readonly<Record<string, Slow>>]>([
  [
    "any document hangs",
    {
      ...{ list: { versions: hang }, found: { package: hang } },
      ...{ sums: { checksums: hang }, signed: { signature: hang } },
      zip: { archive: hang },
    },
  ],
  [
    "every document is a little late",
    { late: { versions: late, package: late, checksums: late } },
  ],
  [
    "the documents are late and the archive hangs",
    { later: { checksums: delayed(5_000), archive: hang } },
  ],
])(
  "with the default limits, an archive is answered within 8 s while %s",
  async (_, providers) => {
    for (const [type, slow] of Object.entries(providers)) {
      await registry.publish({ type, version: "1.0.0", size: 300_000 });
      for (const [kind, fault] of Object.entries(slow))
        registry.script(
          kind as RequestKind,
          onlyFor(new RegExp(`/acme/${type}/`), fault),
        );
    }
    const start = performance.now();
    const asked = Object.keys(providers).map((type) =>
      requestsFor(mirror, type).archive("1.0.0"),
    );
    for (const answer of await Promise.all(asked))
      expect(outcomeOf(answer)).toBe("504 origin-timeout");
    expect(performance.now() - start).toBeLessThan(8_000);
  },
);
