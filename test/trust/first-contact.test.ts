import { describe, expect, it } from "vitest";
import {
  learnProviderKey,
  noteContact,
} from "../../src/trust/first-contact.ts";
import { emptyNamespace } from "../../src/trust/state.ts";
import { E, K, keyDecision, namespace } from "./releases.ts";

const of = (key: string | undefined) => ({ key, newest: "1.0.0" });
const approving = (fingerprint: string, scope = {}) => ({
  decisions: {
    keys: [keyDecision(fingerprint, "approved", scope)],
    contents: [],
  },
});

const empty = emptyNamespace;
const named = { ...empty, ...approving(K, { type: null }) };
const decisions = { keys: [keyDecision(E, "revoked")], contents: [] };
const revoking = { ...empty, decisions };
const known = namespace();
const decided = namespace(approving(E, { type: "gcp" }));

/** The namespace, the key that signed the newest release, the first key from then on, and whether there is an alarm. */
it.each([
  ["gives a namespace its key", empty, K, K, false],
  ["gives it none for ever by an unsigned one", empty, undefined, "", false],
  ["teaches a known one nothing", known, K, K, false],
  ["teaches it nothing, with an alarm for another key", known, E, K, true],
  ["teaches it nothing, with an alarm for none", known, undefined, K, true],
  ["gives no key where an operator named keys before", named, E, "", true],
  ["gives none there, without an alarm for those", named, K, "", false],
  ["gives one where operators only revoked keys", revoking, K, K, false],
  ["has no alarm for a key that is approved for it", decided, E, K, false],
])("first contact %s", (_, before, key, learnt, alarms) => {
  const type = before.firstKey === undefined ? "aws" : "gcp";
  const noted = noteContact(before, type, of(key));
  const fingerprint = learnt === "" ? undefined : learnt;
  expect(noted.namespace.firstKey).toEqual({ fingerprint, type: "aws" });
  expect(noted.alarms).toBe(alarms);
  if (before.firstKey) expect(noted.namespace).toBe(before);
  else
    expect(noteContact(noted.namespace, "gcp", of(E)).namespace).toBe(
      noted.namespace,
    );
});

describe("a provider's own key", () => {
  it("is learnt once", () => {
    const aws = { type: "aws", version: "1.0.0" };
    const after = learnProviderKey(emptyNamespace, aws, K);
    expect(after.providerKeys).toEqual([{ ...aws, fingerprint: K }]);
    expect(learnProviderKey(after, { ...aws, version: "2.0.0" }, E)).toBe(
      after,
    );
    const gcp = { ...aws, type: "gcp" };
    expect(learnProviderKey(after, gcp, E).providerKeys).toHaveLength(2);
  });
});
