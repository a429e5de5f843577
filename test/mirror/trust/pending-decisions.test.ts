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
const sha256sums = "0123456789abcdef".repeat(4);
const trust = emptyNamespace;
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
const refuse = rulesOf({ newKeys: "refuse" });
const replaced = { reason: "other-content" } as const;
const excluded = { reason: "not-pinned" } as const;
const unsigned = { fingerprint: undefined };
const other = "other content than the pinned checksums";
const otherOfModule = "other content than the pinned one";
const command = `provender trust approve ${hostname}/acme/net@1.1.0 0123456789abcdef`;
const ofModule = command.replace("net@", "net/aws@");

it.each([
  ["takes its content", {}, rulesOf(), command, "key S, not known"],
  ["works for a pinned key", replaced, pin("S"), command, `key S, ${other}`],
  ["waits for pins", excluded, pin("K"), "trust.keys", "key S, not pinned"],
  ["waits for them unsigned", unsigned, pin("S"), "trust.keys", "unsigned"],
  ["waits for newKeys", {}, refuse, "trust.newKeys", "key S, not known"],
  ["of a module waits for none", {}, refuse, ofModule, otherOfModule],
])("the command of a candidate %s", (_, changes, rules, said, words) => {
  const type = said === ofModule ? "net/aws" : "net";
  const candidates = [{ ...candidate(changes), type }];
  const namespace = { hostname, namespace: "acme" };
  const [pending] = listPending({ namespace, trust, candidates }, rules);
  expect(pending).toMatchObject({ version: "1.1.0", sha256sums });
  expect(pending?.command ?? pending?.setting).toBe(said);
  expect(pending && explainPending(pending)).toBe(words);
});

it("of every namespace are listed beside those that cannot be read", async () => {
  const records = openRecords(await makeLayout());
  const store = new TrustStore(records, new ProviderChanges(records));
  for (const one of ["acme", "other"]) {
    const name = { hostname, namespace: one };
    await store.decide(name, ({ keys }) => ({ keys, contents: [] }));
    await store.changeCandidates({ ...name, type: "net" }, (all) =>
      addCandidate(all, candidate()),
    );
  }
  // Well formed, and of no provider.
  for (const [host, type, version] of [
    ["not_a_host", "net", "1.1.0"],
    ["forged.example", "a_b", "1.1.0"],
    ["forged.example:1", "net", "none"],
  ] as const) {
    const body = { list: [candidate({ version })] };
    await records.swap(["namespaces", host, "acme"], 0, trust);
    await records.swap(["candidates", host, "acme", type], 0, body);
  }
  await records.swap(["namespaces", hostname, "broken"], 0, {});
  const watched = watchPending(store, () => rulesOf());
  const { pending, unreadable } = await watched();
  const listed = pending.map(({ provider }) => provider.namespace);
  expect(listed).toEqual(["acme", "other"]);
  expect(unreadable.map(({ message }) => message).toSorted()).toEqual(
    [`"a_b"`, `"none"`, `"not_a_host"`, "broken"]
      .map((text) => expect.stringContaining(text) as unknown)
      .toSorted(),
  );
});
