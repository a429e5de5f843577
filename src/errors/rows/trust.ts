import {
  approveAfterCheck,
  formatApproval,
  formatKeyDecision,
  nameProvider,
  nameRelease,
} from "../release.ts";
import { row, type Facts, type Guidance } from "../row.ts";

/** Why the trust policy does not take a signing key, or a release without one. */
const refusals = {
  revoked: { key: "was revoked", unsigned: "a key is revoked" },
  "not-pinned": {
    key: "is not pinned",
    unsigned: "the configuration takes pinned keys alone",
  },
  unknown: {
    key: "is not known for this provider",
    unsigned: "keys are known for this provider",
  },
} as const;

const keyFacts = ["release", "fingerprint", "because", "sha256sums"] as const;

/** Policy, keys and the decisions of operators. */
export const trustErrors = {
  "policy-denied": row(["provider", "version", "rule", "guidance"], {
    status: 451,
    phrase: "Denied by {rule} of this mirror",
    sentence: ({ provider, version, rule, guidance }) =>
      `${provider}${version === undefined ? "" : ` ${version}`} is denied by "${rule}" of this mirror${quote(guidance)}`,
    remedy: ({ provider, version, guidance }) =>
      `use another ${version === undefined ? kindOf(provider) : "version"}, or ${askFor(guidance)}`,
  }),
  "too-young": row(
    ["provider", "version", "rule", "availableAt", "isUndated", "guidance"],
    {
      status: 451,
      phrase: ({ rule, availableAt, isUndated }) =>
        `Held back by ${rule} of this mirror ${formatWait(availableAt)}${isUndated ? " (policy.undated is hold)" : ""}`,
      sentence: ({
        provider,
        version,
        rule,
        availableAt,
        isUndated,
        guidance,
      }) =>
        `${provider} ${version} is held back by "${rule}" of this mirror ${formatWait(availableAt)}${isUndated ? ` (nothing says when it was published, and "policy.undated" is hold)` : ""}${quote(guidance)}`,
      remedy: ({ guidance }) => `use an older version, or ${askFor(guidance)}`,
    },
  ),
  /** How many versions are left out for what reason, and each of them as far as a few lines can. */
  "nothing-admitted": row(["provider", "counts", "reasons"], {
    status: 451,
    phrase: "This mirror leaves out every version ({counts})",
    sentence:
      "Every version of {provider} is denied or held back by this mirror ({counts})",
    remedy:
      'ask the mirror\'s operator, who finds the reasons in its audit log and with "provender trust list"',
  }),
  /** The fingerprint is "none" for an unsigned release. */
  "key-refused": row(keyFacts, {
    status: 451,
    phrase: ({ fingerprint, because }) =>
      `Held back by this mirror, ${fingerprint === "none" ? "it is not signed" : `its signing key ${fingerprint} ${refusals[because].key}`}`,
    sentence: ({ release, fingerprint, because }) =>
      `${nameRelease(release)} is held back because ${fingerprint === "none" ? `it is not signed (${refusals[because].unsigned})` : `its signing key ${fingerprint} ${refusals[because].key}`}`,
    remedy: (facts) =>
      `check with the publisher, then as the mirror's operator ${decideOnKey(facts)}`,
  }),
  /** Other content than the pinned checksums. */
  "release-conflict": row(["release", "offered"], {
    status: 451,
    phrase: "Refused, its registry offers other content than was seen first",
    sentence: ({ release, offered }) =>
      `${nameRelease(release)} is offered with other content (SHA256SUMS ${offered}) than its pinned checksums`,
    remedy: ({ release, offered }) => approveAfterCheck(release, offered),
  }),
  /** A decision that names no content, or would have no effect. */
  "trust-decision": row(["subject", "problem", "remedy"], {
    sentence: "{subject} {problem}",
    remedy: "{remedy}",
  }),
};

/** A module's address has four parts. */
function kindOf(address: string): string {
  return address.split("/").length > 3 ? "module" : "provider";
}

function quote({ because }: Guidance): string {
  return because === undefined ? "" : ` (${because})`;
}

function askFor({ contact = "the mirror's operator" }: Guidance): string {
  return `ask ${contact} to allow it`;
}

function formatWait(availableAt: Date | undefined): string {
  return availableAt === undefined
    ? "because its age is not known"
    : `until ${availableAt.toISOString()}`;
}

function decideOnKey(facts: Facts<typeof keyFacts>): string {
  const { release, fingerprint, because, sha256sums } = facts;
  const { hostname, namespace } = release.provider;
  const approve = (scope: string) =>
    `"${formatKeyDecision("approve", fingerprint, scope)}"`;
  if (because === "not-pinned") return `change "trust.keys"`;
  if (because === "revoked")
    return `run ${approve(`${hostname}/${namespace}`)}`;
  const content = `run "${formatApproval(release, sha256sums)}" for this content`;
  return fingerprint === "none"
    ? content
    : `${content}, or ${approve(nameProvider(release))} for the key`;
}
