import { expect, it } from "vitest";
import { findKnownKey, judgeKey } from "../../src/trust/key-verdict.ts";
import {
  question,
  contact,
  content,
  day,
  E,
  evidence,
  K,
  K2,
  keyDecision,
  later,
  namespace,
  pinned,
  unsigned,
} from "./releases.ts";
import type { ReleaseQuestion } from "../../src/trust/standing.ts";
import type { Evidence } from "../../src/trust/state.ts";

const byE = { signedBy: E };
const existing = { name: { type: "aws", version: "1.0.0" } };
const decide = (...keys: ReturnType<typeof keyDecision>[]) => ({
  namespace: namespace({ decisions: { keys, contents: [] } }),
});
const unsignedContact = {
  contact: contact({ key: undefined, published: new Set() }),
  namespace: namespace({ firstKey: { fingerprint: undefined, type: "aws" } }),
};
const releaseOf = (text: string, { published = [K], signedBy = K } = {}) => ({
  release: {
    pinned: { ...pinned(text), signedBy },
    evidence: [evidence({ content: content(text), signedBy })],
    published: new Set(published),
  },
});

const knowsE = {
  rules: { newKeys: "accept-first", pins: undefined, knownKey: E },
} as const;
const pinning = (...keys: readonly string[]) => ({
  rules: { newKeys: "accept-first", pins: new Set(keys) } as const,
});
/** Keys that became providers' own, as `TYPE VERSION KEY` by the first release that each signed. */
const own = (...keys: readonly string[]) => ({
  namespace: namespace({
    providerKeys: keys.map((key) => {
      const [type = "", version = "", letter = ""] = key.split(" ");
      return { type, version, fingerprint: letter.repeat(40) };
    }),
  }),
});
/** The same after a first contact without keys. */
const ownAfter = (...keys: readonly string[]) => ({
  ...unsignedContact,
  namespace: { ...own(...keys).namespace, firstKey: undefined },
});
const pinnedBy = (...known: readonly Evidence[]) => ({
  release: {
    pinned: pinned("linux=a"),
    evidence: known,
    published: new Set([K, K2, E]),
  },
});

const pinnedUnsigned = {
  release: {
    ...pinnedBy().release,
    pinned: { ...pinned("linux=a"), signedBy: undefined },
  },
};

const both = content("linux=a darwin=b");
/** Pinned by the document over `linux=a`; the other platform came later. */
const widenedBy = (later: Evidence) => {
  const { release } = pinnedBy(evidence(), later);
  const widened = { ...pinned("linux=a"), content: both };
  return { release: { ...release, pinned: widened } };
};

type Row = [
  what: string,
  verdict: string,
  evidence: Evidence,
  question?: Partial<ReleaseQuestion>,
];

/** Rule 4 of docs/trust.md, in its order; `!` where an alarm is raised. */
// prettier-ignore
const rows: readonly Row[] = [
  ["a key that an operator revoked", "no: revoked", evidence(), decide(keyDecision(K, "revoked"))],
  ["a key that is revoked for the namespace and approved for the provider", "no: revoked", evidence(), decide(keyDecision(K, "revoked", { type: null }), keyDecision(K, "approved"))],
  ["a key that is revoked for another provider", "known", evidence(), decide(keyDecision(K, "revoked", { type: "other" }))],
  ["a key that is revoked for another version", "known", evidence(), decide(keyDecision(K, "revoked", { version: "3.0.0" }))],
  ["a pinned key that is revoked", "no: revoked", evidence(), { ...decide(keyDecision(K, "revoked")), ...pinning(K) }],
  ["a key that the configuration names", "configured", evidence(byE), pinning(E)],
  ["a known key beside those that the configuration names", "no: not-pinned", evidence(), pinning(E)],
  ["an approved key beside those that the configuration names", "no: not-pinned", evidence(byE), { ...decide(keyDecision(E, "approved")), rules: { newKeys: "accept", pins: new Set([K]) } }],
  ["no signature where the configuration names keys", "no: not-pinned", unsigned({ exemption: "signatures-off" }), pinning(K)],
  ["any key where only named ones are taken", "no: not-pinned", evidence(), { rules: { newKeys: "refuse", pins: undefined } }],
  ["a key that is approved for the provider", "approved", evidence(byE), decide(keyDecision(E, "approved"))],
  ["a key that is approved for the namespace", "approved", evidence(byE), decide(keyDecision(E, "approved", { type: null }))],
  ["a key that is approved for this release", "approved", evidence(byE), decide(keyDecision(E, "approved", { version: "2.0.0" }))],
  ["a key that is approved for another release", "no: unknown", evidence(byE), decide(keyDecision(E, "approved", { version: "2.0.1" }))],
  ["the key that the program knows for the namespace", "known", evidence(byE), knowsE],
  ["the key that the program knows, after a first contact without keys", "known", evidence(byE), { ...knowsE, ...unsignedContact }],
  ["a key that the program knows, revoked", "no: revoked", evidence(byE), { ...knowsE, ...decide(keyDecision(E, "revoked")) }],
  ["the key of first contact where the program knows another", "no: unknown", evidence(), knowsE],
  ["the key of first contact where the program knows another, for a release that existed then", "no: unknown", evidence(), { ...knowsE, ...existing }],
  ["a provider's own key where the program knows another", "no: unknown", evidence(), { ...knowsE, ...own("aws 2.0.0 K") }],
  ["the first signer after an unsigned contact where the program knows another", "no: unknown", evidence(), { ...knowsE, ...unsignedContact }],
  ["an approved key where the program knows another", "approved", evidence(), { ...knowsE, ...decide(keyDecision(K, "approved")) }],
  ["a key that the configuration names where the program knows another", "configured", evidence(), { rules: { newKeys: "accept-first", pins: new Set([K]), knownKey: E } }],
  ["any other key where new ones are accepted and the program knows one", "new!", evidence(), { rules: { newKeys: "accept", pins: undefined, knownKey: E } }],
  ["no signature where the program knows a key", "no: unknown", unsigned(), { ...knowsE, ...existing, ...unsignedContact }],
  ["no signature where the program knows a key and signatures are off", "signatures-off", unsigned({ exemption: "signatures-off" }), knowsE],
  ["the key of the provider's first contact", "known", evidence({ signedBy: K2 }), { contact: contact({ key: K2 }) }],
  ["the first key of the namespace", "known", evidence(), { contact: contact({ key: K2 }) }],
  ["a key that became the provider's own", "known", evidence(byE), ownAfter("aws 1.0.0 E")],
  ["a key that became the provider's own by this release", "first-key!", evidence(byE), ownAfter("aws 2.0.0 E")],
  ["a key that became another provider's own", "no: unknown", evidence(byE), own("gcp 1.0.0 E")],
  ["another key over the pinned digests, while the registry publishes it", "same-digests!", evidence(byE), releaseOf("linux=a", { published: [K, E] })],
  ["another key over fewer of the pinned digests", "same-digests!", evidence(byE), releaseOf("linux=a darwin=b", { published: [E] })],
  ["another key over the pinned digests, which the registry does not publish", "no: unknown", evidence(byE), releaseOf("linux=a")],
  ["another key over the pinned digests and one more", "no: unknown", evidence({ ...byE, content: content("linux=a darwin=b") }), releaseOf("linux=a", { published: [E] })],
  ["another key over other digests", "no: unknown", evidence({ ...byE, content: content("linux=c") }), releaseOf("linux=a", { published: [E] })],
  ["another key over nothing", "no: unknown", evidence({ ...byE, content: content("") }), releaseOf("linux=a", { published: [E] })],
  ["another key over the pinned digests, whose own key an operator revoked", "no: unknown", evidence(byE), { ...releaseOf("linux=a", { published: [E] }), ...decide(keyDecision(K, "revoked")) }],
  ["another key over the pinned digests, where only other checksums of the pinned key are left", "no: unknown", evidence(byE), pinnedBy(evidence({ content: content("linux=b") }))],
  ["another key over other digests, which the pinned key signed, too", "no: unknown", evidence({ ...byE, content: content("linux=b") }), pinnedBy(evidence(), evidence({ content: content("linux=b") }))],
  ["another key over the pinned digests and a platform of other checksums of the pinned key", "no: unknown", evidence({ ...byE, content: both }), pinnedBy(evidence(), evidence({ content: content("linux=c darwin=b") }))],
  ["another key over the pinned digests, whose own key is revoked while a known one signed the same checksums", "no: unknown", evidence(byE), { ...decide(keyDecision(K, "revoked")), contact: contact({ key: K2 }), ...pinnedBy(evidence(), evidence({ signedBy: K2 })) }],
  ["another key over a platform that the pinned key added", "same-digests!", evidence({ ...byE, content: both }), widenedBy(evidence({ content: both }))],
  ["another key over a platform that the pinned key added, whose signature was taken back", "no: unknown", evidence({ ...byE, content: both }), widenedBy(evidence({ content: both, isGood: false }))],
  ["another key over the pinned digests, whose signature was taken back", "same-digests!", evidence(byE), pinnedBy(evidence({ isGood: false }))],
  ["an old key over a version that existed", "existed!", evidence(byE), existing],
  ["an old key that was published at first contact", "existed", evidence(byE), { ...existing, contact: contact({ published: new Set([K, E]) }) }],
  ["a key over a version that existed, dated a moment after", "existed!", evidence({ ...byE, signedAt: later(day) }), existing],
  ["a key over a version that existed, dated more than a day after", "no: unknown", evidence({ ...byE, signedAt: later(day + 1) }), existing],
  ["a key over a version that existed, without a date", "no: unknown", evidence({ ...byE, signedAt: undefined }), existing],
  ["a back-dated key over a version that came later", "no: unknown", evidence(byE)],
  ["the old key of a pinned version again", "existed!", evidence({ ...byE, content: content("linux=a darwin=b") }), { ...existing, ...releaseOf("linux=a", { signedBy: E }) }],
  ["a back-dated key over a version that is pinned under another", "no: unknown", evidence({ ...byE, content: content("linux=a darwin=b") }), { ...existing, ...releaseOf("linux=a") }],
  ["the first signer after an unsigned first contact", "first-key!", evidence(byE), unsignedContact],
  ["the second signer after an unsigned first contact", "no: unknown", evidence(byE), ownAfter("aws 1.0.0 2")],
  ["the second signer, of whom only another release or provider became the first", "no: unknown", evidence(byE), ownAfter("gcp 2.0.0 E", "aws 2.0.0 2")],
  ["an unknown key where all are taken", "new!", evidence(byE), { rules: { newKeys: "accept", pins: undefined } }],
  ["an unknown key", "no: unknown", evidence(byE)],
  ["no signature where signatures are off", "signatures-off", unsigned({ exemption: "signatures-off" })],
  ["no signature over a version that existed, of a signed provider", "unsigned!", unsigned(), existing],
  ["no signature over a version that existed, of an unsigned provider", "unsigned", unsigned(), { ...existing, ...unsignedContact }],
  ["no signature over a later version of an unsigned provider", "unsigned", unsigned(), unsignedContact],
  ["no signature over a later version of a signed provider", "no: unknown", unsigned()],
  ["no signature over a later version, where all keys are taken", "no: unknown", unsigned(), { rules: { newKeys: "accept", pins: undefined } }],
  ["no signature once the provider has a key of its own", "no: unknown", unsigned(), { ...unsignedContact, ...own("aws 1.0.0 K") }],
  ["no signature over what was pinned before the provider had a key of its own", "unsigned", unsigned(), { ...unsignedContact, ...own("aws 1.0.0 K"), ...pinnedUnsigned }],
  ["no signature over one archive more than was pinned then", "no: unknown", unsigned({ content: both }), { ...unsignedContact, ...own("aws 1.0.0 K"), ...pinnedUnsigned }],
  ["no signature where another provider has a key of its own", "unsigned", unsigned(), { ...unsignedContact, ...own("gcp 1.0.0 K") }],
  ["no signature over a version that is pinned as signed", "no: unknown", unsigned(), { ...existing, ...releaseOf("linux=a") }],
];

it.each<Row>(rows)(
  "the key of a release is %s: %s",
  (_, expected, offered, asked) => {
    const verdict = judgeKey(question(asked), offered);
    const alarm = verdict.accepted && verdict.alarms ? "!" : "";
    const said = verdict.accepted ? verdict.because : `no: ${verdict.because}`;
    expect(`${said}${alarm}`).toBe(expected);
  },
);

it("the program knows the keys of HashiCorp and OpenTofu, on their registries alone", () => {
  const hashicorp = "C874011F0AB405110D02105534365D9472D7468F";
  const opentofu = "E3E6E43D84CB852EADB0051D0C0AF313E5FD9F80";
  const known = [
    "registry.terraform.io",
    "registry.opentofu.org",
    "example.com",
  ].map((host) =>
    ["hashicorp", "opentofu", "acme"].map((namespace) =>
      findKnownKey({ hostname: host, namespace }),
    ),
  );
  expect(known).toEqual([
    [hashicorp, undefined, undefined],
    [opentofu, opentofu, undefined],
    [undefined, undefined, undefined],
  ]);
});
