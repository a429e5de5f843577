import type { RecordKey } from "../../../src/store/records/record-tables.ts";
import { ProviderChanges } from "../../../src/mirror/cache/provider-changes.ts";
import { expect, it } from "vitest";
import type { Hostname } from "../../../src/address/hostname.ts";
import { parseProviderPattern } from "../../../src/address/policy-pattern.ts";
import type { AdmissionRules } from "../../../src/mirror/trust/admission-rules.ts";
import {
  explainPending,
  listPending,
  watchPending,
} from "../../../src/mirror/trust/pending-decisions.ts";
import {
  readNamespace,
  TrustStore,
} from "../../../src/mirror/trust/trust-store.ts";
import { addCandidate, type Candidate } from "../../../src/trust/candidates.ts";
import { parsePolicy } from "../../../src/trust/policy.ts";
import { makeLayout, openRecords } from "../../store/stores.ts";

const hostname = "registry.terraform.io" as Hostname;
const namespace = "acme";
const since = "2026-01-01T00:00:00.000Z";
const sha256sums = "0123456789abcdef".repeat(4);
const trust = {
  ...{ firstKey: null, providerKeys: [] },
  decisions: { keys: [], contents: [] },
};
const rulesOf = (changes: Partial<AdmissionRules> = {}): AdmissionRules => ({
  ...{ offline: false, newKeys: "accept-first", pins: [] },
  policy: parsePolicy({ default: "allow", minimumAge: 0, rules: [] }),
  ...changes,
});
const candidate = (changes: Partial<Candidate> = {}): Candidate => ({
  ...{ version: "1.1.0", sha256sums, fingerprint: "S" },
  ...{ reason: "unknown", since },
  ...changes,
});

function list(changes: Partial<Candidate>, rules = rulesOf()) {
  const own = { type: "net", list: [candidate(changes)], dropped: 0 };
  const read = {
    namespace: { hostname, namespace },
    trust: readNamespace(trust),
    candidates: [own],
  };
  return listPending(read, rules);
}

const pin = (fingerprint: string) =>
  rulesOf({
    pins: [
      {
        pattern: parseProviderPattern("*/acme/net"),
        fingerprints: [fingerprint],
      },
    ],
  });
const command = `provender trust approve ${hostname}/acme/net@1.1.0 0123456789abcdef`;

const unsigned = { fingerprint: undefined };
it.each([
  ["takes exactly its content", {}, rulesOf(), command],
  ["is possible under a pinned key", {}, pin("S"), command],
  ["waits for the pins", {}, pin("K"), "trust.keys"],
  ["waits for them where no key signed", unsigned, pin("S"), "trust.keys"],
  [
    "waits for the configuration that takes pinned keys alone",
    {},
    rulesOf({ newKeys: "refuse" }),
    "trust.newKeys",
  ],
])("the command of a candidate %s", (_, changes, rules, said) => {
  const [pending] = list(changes, rules);
  expect(pending).toMatchObject({ version: "1.1.0", sha256sums });
  expect([pending?.command, pending?.setting]).toEqual(
    said === command ? [command, undefined] : [undefined, said],
  );
});

it.each([
  [{}, "key S, not known"],
  [{ fingerprint: undefined }, "unsigned"],
  [
    { reason: "other-content" },
    "key S, other content than the pinned checksums",
  ],
  [{ reason: "not-pinned" }, "key S, not pinned"],
] as const)("a candidate is explained: %j", (changes, words) => {
  const provider = { hostname, namespace: "acme", type: "net" };
  expect(explainPending({ ...candidate(changes), provider })).toBe(words);
});

it("of every namespace are listed beside those that cannot be read", async () => {
  const records = openRecords(await makeLayout());
  const store = new TrustStore(records, new ProviderChanges(records));
  for (const one of ["acme", "other"]) {
    await store.decide({ hostname, namespace: one }, ({ keys }) => ({
      ...{ keys, contents: [] },
    }));
    await store.changeCandidates(
      { hostname, namespace: one, type: "net" },
      (all) => ({ ...addCandidate(all, candidate()), dropped: 3 }),
    );
  }
  const create = (key: RecordKey, body: object) => records.swap(key, 0, body);
  // Well sealed, and of no provider.
  const forged: readonly (readonly [readonly string[], Candidate])[] = [
    [["not_a_host", "acme", "net"], candidate()],
    [["forged.example", "acme", "a_b"], candidate()],
    [["forged.example:1", "acme", "net"], candidate({ version: "none" })],
  ];
  for (const [[host = "", ...rest], one] of forged) {
    await create(["namespaces", host, "acme"], trust);
    const body = { list: [one], dropped: 0 };
    await create(["candidates", host, ...rest], body);
  }
  await create(["namespaces", hostname, "broken"], {});
  const { pending, dropped, unreadable } = await watchPending(store, () =>
    rulesOf(),
  )();
  expect(pending.map(({ provider }) => provider.namespace)).toEqual([
    "acme",
    "other",
  ]);
  expect(dropped).toBe(6);
  expect(unreadable.map(({ message }) => message).toSorted()).toEqual(
    [`"a_b"`, `"none"`, `"not_a_host"`, "broken"]
      .map((text) => expect.stringContaining(text) as unknown)
      .toSorted(),
  );
});
