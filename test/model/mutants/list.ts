/** One fault of the trust core, planted by hand. */
export interface Mutant {
  /** File in `src/trust`. */
  readonly file: string;
  /** Rule that no longer holds. */
  readonly loses: string;
  /** Text that is in the file once. */
  readonly search: string;
  readonly replacement: string;
}

/** Texts and replacements in one file, by the rule that no longer holds. */
function plant(
  file: string,
  faults: Readonly<Record<string, readonly [string, string]>>,
): readonly Mutant[] {
  return Object.entries(faults).map(([loses, [search, replacement]]) => ({
    ...{ file, loses, search, replacement },
  }));
}

export const mutants: readonly Mutant[] = [
  ...plant("key-verdict.ts", {
    "a revoked key counts for nothing": [
      `if (findKeyDecision(namespace.decisions, "revoked", name, signedBy))
    return refuse("revoked");`,
      "",
    ],
    "pins that are configured are the only keys": [
      "if (rules.pins !== undefined)",
      "if (rules.pins?.size === 0)",
    ],
    "newKeys: refuse takes no key": [
      `if (rules.newKeys === "refuse") return refuse("not-pinned");`,
      "",
    ],
    "the key of the provider's first contact counts": [
      "contact?.key === fingerprint ||",
      "",
    ],
    "the namespace's first key counts for all its providers": [
      "namespace.firstKey?.fingerprint === fingerprint ||",
      "",
    ],
    "a first signer counts for its own provider alone": [
      "(key) => key.type === name.type && key.fingerprint === fingerprint",
      "(key) => key.fingerprint === fingerprint",
    ],
    "an approved key counts": [
      `if (findKeyDecision(namespace.decisions, "approved", name, signedBy))`,
      `if (findKeyDecision(namespace.decisions, "approved", name, undefined))`,
    ],
    "a signer is no witness of platforms that it added": [
      "witnesses.some((one) => one.content.get(platform) === sha256)",
      "platform !== sha256",
    ],
    "a revoked key is no witness of the digests that it pinned": [
      "pinned.sha256sums) &&\n      judgeKey(question, one).accepted",
      "pinned.sha256sums)",
    ],
    "another signer of pinned digests is reported": [
      `accept("same-digests", { alarms: true })`,
      `accept("same-digests")`,
    ],
    "an old date excuses only versions of first contact": [
      "contact.versions.has(name.version) &&",
      "",
    ],
    "only an old date excuses": [
      "signedAt.getTime() <= contact.at.getTime() + clockGrace &&",
      "",
    ],
    "an old key that first contact did not see is reported": [
      `accept("existed", { alarms: !contact.published.has(signedBy) })`,
      `accept("existed")`,
    ],
    "only a provider without a signer has a first signer": [
      `contact.key === undefined &&
    !namespace`,
      "!namespace",
    ],
    "a provider has one first signer": [
      `contact.key === undefined &&
    !namespace.providerKeys.some(({ type }) => type === name.type)`,
      "contact.key === undefined",
    ],
    "a first signer is reported, also after a write that failed": [
      `if (isFirstSigner(question, signedBy))
    return accept("first-key", { alarms: true });`,
      "",
    ],
    "nothing unsigned follows what was signed, for a release": [
      "pinned?.signedBy !== undefined || ",
      "",
    ],
    "nothing unsigned follows what was signed, for a provider": [
      "contact.key === undefined && (isPinned || isFree(question))",
      "true",
    ],
    "keys that are added take nothing away that was pinned unsigned": [
      "(isPinned || isFree(question))",
      "isFree(question)",
    ],
    "a version of an unsigned first contact is served unsigned": [
      `if (contact.versions.has(name.version))
    return`,
      `if (contact.versions.size === 0)
    return`,
    ],
    "newKeys: accept alone takes an unknown key": [
      `rules.newKeys === "accept"`,
      `rules.newKeys !== "refuse"`,
    ],
    "a new key that is taken is reported": [
      `accept("new", { alarms: true })`,
      `accept("new")`,
    ],
  }),
  ...plant("settle.ts", {
    "only an acceptable signer pins": [
      `one.isGood &&
      judgeKey(question, one).accepted &&
      (!enforcesAge`,
      `one.isGood &&
      (!enforcesAge`,
    ],
    "only evidence that holds pins": [
      `one.isGood &&
      judgeKey(question, one).accepted &&
      (!enforcesAge`,
      `judgeKey(question, one).accepted &&
      (!enforcesAge`,
    ],
    "what is pinned stays pinned": [
      "if (release.pinned !== undefined) return undefined;",
      "",
    ],
    "only an acceptable signer adds platforms": [
      `isInAgreement({ ...pinned, content }, one) &&
      judgeKey(question, one).accepted`,
      "isInAgreement({ ...pinned, content }, one)",
    ],

    "people hear of each verdict": [
      "events.push(event);",
      `events.push({ kind: "healed", evidence: one });`,
    ],
    "the first signer becomes the provider's own": [
      `notedBy(event) === "first-key"`,
      `notedBy(event) === "not-pinned"`,
    ],
  }),
  ...plant("standing.ts", {
    "only an acceptable signer is served": [
      "isInAgreement(pinned, one) && isAccepted(one)",
      "isInAgreement(pinned, one)",
    ],
    "an approved content does not outweigh a revoked key": [
      `if (findKeyDecision(namespace.decisions, "revoked", name, signedBy))
    return false;`,
      "",
    ],
    "an approved content does not outweigh pins": [
      "return signedBy !== undefined && rules.pins.has(signedBy);",
      "return signedBy !== undefined;",
    ],
    "an approved content is served": [
      "if (content === undefined) continue;",
      "if (content === undefined || content.size > 0) continue;",
    ],
  }),
  ...plant("content.ts", {
    "contents agree where both name the same digests": [
      "known === undefined || known === sha256",
      "known === undefined || known !== undefined",
    ],
  }),
  ...plant("decisions.ts", {
    "a decision on a provider is about that provider": [
      "(key.type === null || key.type === release.type) &&",
      "",
    ],
    "a decision on a release is about that release": [
      `&&
      (key.version === null || key.version === release.version)`,
      "",
    ],
    "a later decision replaces an earlier one": [
      "? { keys: [...keys, decision], contents }",
      "? { keys: [...decisions.keys, decision], contents }",
    ],
    "an approval is about one release": [
      "contents.filter((one) => isSameRelease(one, release))",
      "contents.filter((one) => one.type === release.type)",
    ],
    "a decision that is taken back is gone": [
      "const isOther = (one: Subject) => !isSame(one, subject);",
      "const isOther = (one: Subject) => one !== subject;",
    ],
  }),
  ...plant("first-contact.ts", {
    "a later first contact teaches its own provider alone": [
      "namespace: firstKey ? namespace :",
      "namespace: isDecided ? namespace :",
    ],
    "a first signer that is known stays": [
      "return namespace.providerKeys.some((key) => key.type === type)",
      "return namespace.providerKeys.length > 9",
    ],
  }),
  ...plant("candidates.ts", {
    "candidates of a release are few": [
      "const mostOfRelease = 8;",
      "const mostOfRelease = 80;",
    ],
    "what is decided needs no decision": [
      "if (decided.some((one) => one.sha256sums === sha256sums)) return false;",
      "",
    ],
  }),
];
