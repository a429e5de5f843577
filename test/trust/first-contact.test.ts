import { expect, it } from "vitest";
import {
  learnProviderKey,
  noteContact,
} from "../../src/trust/first-contact.ts";
import { emptyNamespace as empty } from "../../src/trust/state.ts";
import { E, K, keyDecision, namespace } from "./releases.ts";

const deciding = (...key: Parameters<typeof keyDecision>) => ({
  decisions: { keys: [keyDecision(...key)], contents: [] },
});
const named = { ...empty, ...deciding(K, "approved", { type: null }) };
const revoking = { ...empty, ...deciding(E, "revoked") };
const known = namespace();
const decided = namespace(deciding(E, "approved", { type: "gcp" }));

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
  const noted = noteContact(before, type, { key, newest: "1.0.0" });
  const fingerprint = learnt === "" ? undefined : learnt;
  expect(noted.namespace.firstKey).toEqual({ fingerprint, type: "aws" });
  expect(noted.alarms).toBe(alarms);
  const next = noteContact(noted.namespace, "gcp", { key: E, newest: "1.0.0" });
  expect(next.namespace).toBe(noted.namespace);
  if (before.firstKey) expect(noted.namespace).toBe(before);
});

it("a provider's own key is learnt once", () => {
  const aws = { type: "aws", version: "1.0.0" };
  const after = learnProviderKey(empty, aws, K);
  expect(after.providerKeys).toEqual([{ ...aws, fingerprint: K }]);
  expect(learnProviderKey(after, { ...aws, version: "2.0.0" }, E)).toBe(after);
  const gcp = { ...aws, type: "gcp" };
  expect(learnProviderKey(after, gcp, E).providerKeys).toHaveLength(2);
});
