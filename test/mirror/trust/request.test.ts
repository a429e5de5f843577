import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AdmissionRules } from "../../../src/mirror/trust/admission-rules.ts";
import type { RecordKey, StoreLayout } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import type { ReadBody } from "../../../src/store/records/record-store.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import {
  startTimedMirror,
  type TimedMirror,
} from "../../scenes/timed-mirror.ts";
import { TestClock } from "../cache/metadata.ts";

/** Clock on which every cached answer is stale at the next look. */
class HastyClock extends TestClock {
  override monotonic(): number {
    this.pass(600);
    return super.monotonic();
  }
}

/** Counts reads since the last count. */
class Counts {
  readonly ledger: string[] = [];
  policy = 0;

  take(): { readonly ledger: string; readonly policy: number } {
    const { policy } = this;
    const ledger = this.ledger.splice(0).join(" ");
    this.policy = 0;
    return { ledger, policy };
  }

  records(layout: StoreLayout): DiskRecords {
    const { ledger } = this;
    return new (class extends DiskRecords {
      override read<T>(
        key: RecordKey,
        readBody: ReadBody<T>,
      ): Promise<T | undefined> {
        if (key[0] === "trust") ledger.push(String(key[1]));
        return super.read(key, readBody);
      }
    })(layout);
  }

  rules(rules: AdmissionRules): AdmissionRules {
    const { policy } = rules;
    const read = () => {
      this.policy++;
      return policy;
    };
    return {
      ...rules,
      get policy() {
        return read();
      },
    };
  }
}

const once = "namespaces marks contacts";

let config: Readonly<Record<string, unknown>>;
let registry: Registry;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  config = originsOf(authority, registry);
  for (const version of ["1.0.0", "1.1.0", "1.2.0", "1.3.0"])
    await registry.publish({ version, size: 3_000 });
});

afterAll(() => registry.stop());

async function start(clock: TestClock) {
  const counts = new Counts();
  const mirror = await startTimedMirror(config, {}, undefined, (layout) => ({
    clock,
    records: counts.records(layout),
    count: (rules) => counts.rules(rules),
  }));
  return { mirror, counts };
}

/** Counts the reads of one request of each kind. */
async function countAll(mirror: TimedMirror, counts: Counts) {
  const ask = async (request: () => Promise<{ readonly status: number }>) => {
    expect((await request()).status).toBe(200);
    return counts.take();
  };
  return {
    "VERSION.json, at first contact": await ask(() =>
      mirror.version("widget", "1.0.0"),
    ),
    "VERSION.json, cold": await ask(() => mirror.version("widget", "1.1.0")),
    "VERSION.json, warm": await ask(() => mirror.version("widget", "1.1.0")),
    "archive, cold": await ask(() => mirror.archive("widget", "1.1.0")),
    "archive, warm": await ask(() => mirror.archive("widget", "1.1.0")),
    "archive of an unknown release": await ask(() =>
      mirror.archive("widget", "1.2.0"),
    ),
    "index.json, first": await ask(() => mirror.index("widget")),
    "index.json, warm": await ask(() => mirror.index("widget")),
  };
}

describe("a request", () => {
  it("reads the records of trust once and decides by the rules once, for any number of look-ups", async () => {
    const { mirror, counts } = await start(new TestClock());
    // At first contact the rules also decide of the release that teaches the key.
    // Before the first write of a namespace, its mark is read again.
    const first = { ledger: `${once} marks`, policy: 2 };
    const known = { ledger: "", policy: 1 };
    expect(await countAll(mirror, counts)).toEqual({
      "VERSION.json, at first contact": first,
      "VERSION.json, cold": known,
      "VERSION.json, warm": known,
      "archive, cold": known,
      "archive, warm": known,
      "archive of an unknown release": known,
      // One for the provider, and one for each version.
      "index.json, first": { ledger: "", policy: 5 },
      "index.json, warm": known,
    });
    await mirror.close();
  });

  it("reads no record of trust again, however late: no other process writes it", async () => {
    const { mirror, counts } = await start(new HastyClock());
    const [first, ...others] = Object.values(await countAll(mirror, counts));
    expect(first?.ledger).toContain("namespaces");
    expect(others.map(({ ledger }) => ledger)).toEqual(others.map(() => ""));
    await mirror.close();
  });
});
