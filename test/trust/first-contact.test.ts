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

describe("first contact", () => {
  it("gives a namespace its key when it is the very first one", () => {
    const { namespace: after, alarms } = noteContact(
      emptyNamespace,
      "aws",
      of(K),
    );
    expect(after.firstKey).toEqual({ fingerprint: K, type: "aws" });
    expect(alarms).toBe(false);
  });

  it("gives it none for ever when the newest release is unsigned", () => {
    const { namespace: after } = noteContact(
      emptyNamespace,
      "aws",
      of(undefined),
    );
    expect(after.firstKey).toEqual({ fingerprint: undefined, type: "aws" });
    const { namespace: later } = noteContact(after, "gcp", of(E));
    expect(later).toBe(after);
  });

  it("teaches a known namespace nothing, with an alarm for another key", () => {
    const known = namespace();
    expect(noteContact(known, "gcp", of(K))).toEqual({
      ...{ namespace: known, alarms: false },
    });
    expect(noteContact(known, "gcp", of(E))).toEqual({
      ...{ namespace: known, alarms: true },
    });
    expect(noteContact(known, "gcp", of(undefined)).alarms).toBe(true);
  });

  it("gives no key to a namespace whose keys an operator named before", () => {
    const known = { ...emptyNamespace, ...approving(K, { type: null }) };
    const { namespace: after, alarms } = noteContact(known, "aws", of(E));
    expect(after.firstKey).toEqual({ fingerprint: undefined, type: "aws" });
    expect(alarms).toBe(true);
    expect(noteContact(known, "aws", of(K)).alarms).toBe(false);
  });

  it("gives one where operators only revoked keys", () => {
    const decisions = { keys: [keyDecision(E, "revoked")], contents: [] };
    const known = { ...emptyNamespace, decisions };
    const { namespace: after } = noteContact(known, "aws", of(K));
    expect(after.firstKey?.fingerprint).toBe(K);
  });

  it("raises no alarm for a key that is approved for the provider", () => {
    const known = namespace(approving(E, { type: "gcp" }));
    expect(noteContact(known, "gcp", of(E)).alarms).toBe(false);
  });
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
