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
import { TrustStore } from "../../../src/mirror/trust/trust-store.ts";
import { addCandidate, type Candidate } from "../../../src/trust/candidates.ts";
import { parsePolicy } from "../../../src/trust/policy.ts";
import { emptyNamespace } from "../../../src/trust/state.ts";
import { makeLayout, openRecords } from "../../store/stores.ts";

const hostname = "registry.terraform.io" as Hostname;
const namespace = "acme";
const sha256sums = "0123456789abcdef".repeat(4);
const nothing = { keys: [], contents: [] };
const trust = { ...emptyNamespace, decisions: nothing };
const rulesOf = (changes: Partial<AdmissionRules> = {}): AdmissionRules => ({
  ...{ offline: false, newKeys: "accept-first", pins: [] },
  policy: parsePolicy({ default: "allow", minimumAge: 0, rules: [] }),
  ...changes,
});
const candidate = (changes: Partial<Candidate> = {}): Candidate => ({
  ...{ version: "1.1.0", sha256sums, fingerprint: "S" },
  ...{ reason: "unknown", since: "2026-01-01T00:00:00.000Z" },
  ...changes,
});

const pin = (fingerprint: string) => {
  const pattern = parseProviderPattern("*/acme/net");
  return rulesOf({ pins: [{ pattern, fingerprints: [fingerprint] }] });
};
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
  const own = { type: "net", list: [candidate(changes)], dropped: 0 };
  const known = { namespace: { hostname, namespace }, trust };
  const [pending] = listPending({ ...known, candidates: [own] }, rules);
  expect(pending).toMatchObject({ version: "1.1.0", sha256sums });
  expect([pending?.command, pending?.setting]).toEqual(
    said === command ? [command, undefined] : [undefined, said],
  );
});

it("the keys of the configuration exclude no module", () => {
  const own = { type: "net/aws", list: [candidate()], dropped: 0 };
  const known = { namespace: { hostname, namespace }, trust };
  const rules = rulesOf({ newKeys: "refuse" });
  expect(listPending({ ...known, candidates: [own] }, rules)).toMatchObject([
    { setting: undefined, command: command.replace("net@", "net/aws@") },
  ]);
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
    const name = { hostname, namespace: one };
    await store.decide(name, ({ keys }) => ({ keys, contents: [] }));
    await store.changeCandidates({ ...name, type: "net" }, (all) => ({
      ...addCandidate(all, candidate()),
      dropped: 3,
    }));
  }
  // Well formed, and of no provider.
  for (const [host, type, version] of [
    ["not_a_host", "net", "1.1.0"],
    ["forged.example", "a_b", "1.1.0"],
    ["forged.example:1", "net", "none"],
  ] as const) {
    const body = { list: [candidate({ version })], dropped: 0 };
    await records.swap(["namespaces", host, "acme"], 0, trust);
    await records.swap(["candidates", host, "acme", type], 0, body);
  }
  await records.swap(["namespaces", hostname, "broken"], 0, {});
  const watched = watchPending(store, () => rulesOf());
  const { pending, dropped, unreadable } = await watched();
  const listed = pending.map(({ provider }) => provider.namespace);
  expect(listed).toEqual(["acme", "other"]);
  expect(dropped).toBe(6);
  expect(unreadable.map(({ message }) => message).toSorted()).toEqual(
    [`"a_b"`, `"none"`, `"not_a_host"`, "broken"]
      .map((text) => expect.stringContaining(text) as unknown)
      .toSorted(),
  );
});
