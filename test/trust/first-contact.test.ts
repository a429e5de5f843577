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
const firstKey = (fingerprint: string | undefined) => ({
  ...{ fingerprint, type: "aws" },
});
const revoking = {
  decisions: { keys: [keyDecision(E, "revoked")], contents: [] },
};
const named = { ...empty, ...approving(K, { type: null }) };

it.each([
  ["gives a namespace its key", empty, "aws", K, firstKey(K), false],
  [
    "gives it none for ever when the newest release is unsigned",
    empty,
    "aws",
    undefined,
    firstKey(undefined),
    false,
  ],
  ["teaches a known one nothing", namespace(), "gcp", K, firstKey(K), false],
  ["with an alarm for another", namespace(), "gcp", E, firstKey(K), true],
  ["and for none", namespace(), "gcp", undefined, firstKey(K), true],
  [
    "gives no key where an operator named keys before",
    named,
    "aws",
    E,
    firstKey(undefined),
    true,
  ],
  ["without an alarm for those", named, "aws", K, firstKey(undefined), false],
  [
    "gives one where operators only revoked keys",
    { ...empty, ...revoking },
    "aws",
    K,
    firstKey(K),
    false,
  ],
  [
    "raises no alarm for a key that is approved for the provider",
    namespace(approving(E, { type: "gcp" })),
    "gcp",
    E,
    firstKey(K),
    false,
  ],
] as const)("first contact %s", (_, known, type, key, learnt, alarms) => {
  const noted = noteContact(known, type, of(key));
  expect(noted.namespace.firstKey).toEqual(learnt);
  expect(noted.alarms).toBe(alarms);
  if (known.firstKey) expect(noted.namespace).toBe(known);
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
